import type { RatingPool } from '@laddercast/domain';
import type { Pool, WatchedChange, WatchedRating } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { shownRating } from '@laddercast/queries';
import type { LiveChannel, LiveSubscription } from '../connection/live-subscription.js';
import { RatingMessage, type Sight } from '../protocol/client-messages.js';
import { SharedFrame } from '../protocol/shared-frame.js';

/** The most games that a watch is told of one by one; of more its readers get a snapshot. */
export const GAMES_TOLD_MAX = 100;

export type RatingSubscription = LiveSubscription<RatingMessage>;

/** The frame of a game that a player's rating was changed by. */
export const gameFrame = ({ position, gameId, before, after }: WatchedChange, nowMs: number): SharedFrame =>
  new SharedFrame('rating', {
    ...{ seq: position, gameId, before, after },
    ...{ delta: after - before, asOf: toTimestamp(nowMs) },
  });

/** What is watched, and for whom. */
interface Watched {
  /** The same for those who may see the same. */
  key: string;
  poolUid: number;
  playerId: string;
  /** Of its readers. */
  sight: Sight;
  /** In whose name it is watched: who asked first. */
  party: string | null;
}

/** No position is as large. */
const NO_CHANGES = Number.MAX_SAFE_INTEGER;

/** A watched rating, for all of this process's subscribers who may see the same of it. */
export class RatingWatch implements LiveChannel {
  readonly subscribers = new Set<RatingSubscription>();
  /** Joins that wait for a reading. */
  joining = 0;
  private state: { read: WatchedRating; pool: Pool; rating: RatingPool } | null = null;
  private toldPosition = 0;
  private frame: SharedFrame | null = null;

  constructor(
    readonly of: Watched,
    private readonly onLeave: (watch: RatingWatch) => void,
  ) {}

  /** Up to where the readers were told; null before the first reading. */
  get position(): number | null {
    return this.state && this.toldPosition;
  }

  get seq(): number {
    return this.toldPosition;
  }

  /** Changes above this position are to be read. */
  get readFrom(): number {
    return this.isSeen ? this.toldPosition : NO_CHANGES;
  }

  /** The rating as a reader sees it, who goes on from its `seq`. */
  snapshot(): SharedFrame {
    this.frame ??= this.newSnapshot();
    return this.frame;
  }

  /**
   * Takes a new reading, of what came after {@link position}, and tells the games in it; a snapshot where they do not
   * lead from the last rating to this one: too many, a player who is listed no more or again, a refund, or ratings that
   * were computed again.
   */
  advance(read: WatchedRating, pool: Pool, ratingPool: RatingPool): void {
    const before = this.state;
    const from = this.toldPosition;
    const wasSeen = this.isSeen;
    this.state = { read, pool, rating: ratingPool };
    this.frame = null;
    this.toldPosition = this.isSeen ? (read.rating?.position ?? 0) : 0;
    if (before === null || (!wasSeen && !this.isSeen)) return;
    const games = read.changes.filter(({ position }) => position > from && position <= this.toldPosition);
    const isLedTo = leadTo(games, before.read.rating?.state.rating, read.rating?.state.rating);
    const isWhole = games.length <= GAMES_TOLD_MAX && (games.at(-1)?.position ?? from) === this.toldPosition;
    if (wasSeen !== this.isSeen || !isWhole || !isLedTo) {
      const frame = this.snapshot();
      for (const subscription of this.subscribers) subscription.sendSnapshot(frame);
      return;
    }
    for (const game of games) {
      const frame = gameFrame(game, read.nowMs);
      for (const subscription of this.subscribers) subscription.sendDelta(frame);
    }
  }

  leave(subscription: RatingSubscription): void {
    this.subscribers.delete(subscription);
    this.onLeave(this);
  }

  private get isSeen(): boolean {
    if (this.state === null) return false;
    const { isListed, isWithheld } = this.state.read;
    const { sight } = this.of;
    return sight === 'all' || (!isWithheld && (isListed || sight === 'unlisted'));
  }

  private newSnapshot(): SharedFrame {
    const { read, pool, rating: ratingPool } = this.state!;
    const { toldPosition: seq } = this;
    const asOf = toTimestamp(read.nowMs);
    if (!this.isSeen || read.rating === null) return new SharedFrame('snapshot', { seq, asOf, rating: null });
    const about = { pool: pool.id, playerId: this.of.playerId, pending: 0 };
    const shown = shownRating(ratingPool, about, read.rating, read.nowMs);
    const { rating, deviation, conservative, games, wins, draws, losses, provisional, rankable } = shown;
    return new SharedFrame('snapshot', {
      ...{ seq, asOf },
      rating: { rating, deviation, conservative, games, wins, draws, losses, provisional, rankable },
    });
  }
}

/** Whether games lead from a rating (undefined: of a newcomer) to another, and nothing came between them. */
function leadTo(games: readonly WatchedChange[], from: number | undefined, to: number | undefined): boolean {
  let rating = from;
  for (const { before, after } of games) {
    if (rating !== undefined && before !== rating) return false;
    rating = after;
  }
  return rating === to;
}

/** For /asyncapi.json. */
export const ratingChannel = {
  message: RatingMessage,
  description: "A player's rating in a pool: a snapshot, then a message `rating` for each rated game",
};
