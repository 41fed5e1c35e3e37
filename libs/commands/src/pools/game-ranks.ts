import type { Board, EntryState, RankMovement, StoredWindow } from '@laddercast/domain';
import type { Identity } from '@laddercast/identity';
import {
  BoardCatalog,
  fedEntries,
  openWindowsAt,
  PostgresDatabase,
  WindowCatalog,
  type FedEntryKey,
  type GameWrite,
  type StoredFedEntry,
} from '@laddercast/ledger';
import { inParts, monotonicMs, sleep } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { RANKS_AT_ONCE, SubmissionRanks, type RankedWrite } from '../scores/submission-ranks.js';
import type { RatedPlayerAnswer } from './pool-commands.js';

const LOOK_EVERY_MS = 20;

/** Where a pool's ratings are ranked. */
interface RankedList {
  board: Board;
  window: StoredWindow;
}

/** What a game changed of a player, and where that is ranked. */
interface PlayerOfGame {
  player: RatedPlayerAnswer;
  list: RankedList;
  gamePosition: number;
  isReplayed: boolean;
}

/** A game that is rated. */
export interface RankedGame {
  write: GameWrite;
  position: number;
  isReplayed: boolean;
  players: readonly RatedPlayerAnswer[];
}

/** The lists of games, and their players' entries, as they were before the games. */
export interface StandingBefore {
  readonly lists: ReadonlyMap<GameWrite, RankedList>;
  readonly entries: ReadonlyMap<string, EntryState | null>;
}

const NOTHING: StandingBefore = { lists: new Map(), entries: new Map() };

const keyOf = ({ windowUid, playerId }: FedEntryKey): string => `${windowUid}/${playerId}`;

/**
 * The ranks of players before and after a game, on the first board by id that shows the ratings of its pool, in its first
 * window that holds the game and takes entries.
 */
@Injectable()
export class GameRanks {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly database: PostgresDatabase,
    private readonly ranks: SubmissionRanks,
  ) {}

  /** To be asked before the games are recorded; what cannot be read now is left out. */
  async before(writes: readonly GameWrite[]): Promise<StandingBefore> {
    try {
      const lists = await this.listsOf(writes);
      const keys = [...lists].flatMap(([write, { window }]) => keysOf(write, window));
      if (keys.length === 0) return NOTHING;
      const found = await fedEntries(this.database, keys);
      return { lists, entries: new Map(found.map(({ entry }, index) => [keyOf(keys[index]!), entry])) };
    } catch {
      // The games are recorded all the same.
      return NOTHING;
    }
  }

  /**
   * The rank of each player of each game; null where it has none, or none can be said in time.
   * @param untilMs how long to wait until the board shows the games (monotonic ms)
   */
  async after(
    games: readonly RankedGame[],
    before: StandingBefore,
    untilMs: number,
    identity: Identity,
  ): Promise<Map<RatedPlayerAnswer, RankMovement | null>> {
    const asked = games.flatMap((game) => playersOf(game, before));
    const ranks = new Map<RatedPlayerAnswer, RankMovement | null>();
    if (asked.length === 0) return ranks;
    const entries = await this.fedEntriesOf(asked, untilMs).catch(() => []);
    const seen = new Set<string>();
    const moved = asked.flatMap((one, index): [RatedPlayerAnswer, RankedWrite][] => {
      const key = keyOf({ windowUid: one.list.window.uid, playerId: one.player.playerId });
      const entryBefore = seen.has(key) ? undefined : before.entries.get(key);
      seen.add(key);
      const write = rankedWrite(one, entries[index], entryBefore);
      return write ? [[one.player, write]] : [];
    });
    // All of them first: a rank counts the other players of the game.
    await inParts(moved, RANKS_AT_ONCE, ([, write]) => this.ranks.untilShown(write, untilMs));
    await inParts(moved, RANKS_AT_ONCE, async ([player, write]) => {
      ranks.set(player, await this.ranks.movementOf(write, untilMs, identity, 'game'));
    });
    return ranks;
  }

  /** The entries once all are fed from where the games are rated, or as they are when the time is over. */
  private async fedEntriesOf(asked: readonly PlayerOfGame[], untilMs: number): Promise<StoredFedEntry[]> {
    const keys = asked.map(({ player, list }) => ({ windowUid: list.window.uid, playerId: player.playerId }));
    for (;;) {
      const entries = await fedEntries(this.database, keys);
      const isFed = entries.every(({ feedPosition }, index) => feedPosition >= asked[index]!.gamePosition);
      if (isFed || monotonicMs() >= untilMs) return entries;
      await sleep(LOOK_EVERY_MS);
    }
  }

  private async listsOf(writes: readonly GameWrite[]): Promise<Map<GameWrite, RankedList>> {
    const pools = new Set(writes.map(({ poolId }) => poolId));
    const fed = this.boards.those(({ feed }) => feed?.value === 'rating' && pools.has(feed.pool));
    const lists = new Map<GameWrite, RankedList>();
    const nowMs = this.boards.clock.nowMs();
    for (const write of writes) {
      const board = fed.find(({ feed }) => feed!.pool === write.poolId);
      // Not later than now: what is of the future is refused, or becomes now, and no window is made for it.
      const atMs = Math.min(write.playedAtMs ?? nowMs, nowMs);
      const [window] = board ? await openWindowsAt(board, atMs, nowMs, this.windows) : [];
      if (board && window) lists.set(write, { board, window });
    }
    return lists;
  }
}

/**
 * A player's step on its list; null where it has no entry of this game.
 * @param entryBefore null: there was none; undefined: an earlier game of the same request came between
 */
function rankedWrite(
  { player, list: { board, window }, gamePosition, isReplayed }: PlayerOfGame,
  fed: StoredFedEntry | undefined,
  entryBefore: EntryState | null | undefined,
): RankedWrite | null {
  if (!fed?.entry || fed.feedPosition < gamePosition) return null;
  const { entry } = fed;
  const movement = {
    after: { ...entry, score: player.after },
    // Other games of the player may have come between: the rating is the one before this game.
    before: entryBefore === null ? null : { ...(entryBefore ?? entry), score: player.before },
  };
  const receipt = { windowUid: window.uid, answer: { version: entry.version }, movement: isReplayed ? null : movement };
  return { board, write: { playerId: player.playerId }, receipt };
}

const keysOf = ({ players }: GameWrite, { uid }: StoredWindow): FedEntryKey[] =>
  players.map(({ playerId }) => ({ windowUid: uid, playerId }));

function playersOf({ write, position, isReplayed, players }: RankedGame, { lists }: StandingBefore): PlayerOfGame[] {
  const list = lists.get(write);
  return list ? players.map((player) => ({ player, list, gamePosition: position, isReplayed })) : [];
}
