import {
  newcomer,
  type PoolGame,
  type RatedGame,
  type RatedHistory,
  type RatingPool,
  type RatingState,
  type Recomputation,
  type Refund,
} from '@laddercast/domain';
import { foldWithRefunds, type GivenPoints } from './fold-with-refunds.js';

/** The games of a pool with what they did, in memory: as a fold stored them, and as recomputes changed them. */
export class MemoryRatedHistory implements RatedHistory {
  private rated: RatedGame[];
  private given: Refund[];

  constructor(
    private readonly pool: RatingPool,
    games: readonly PoolGame[],
    given: readonly GivenPoints[] = [],
  ) {
    const folded = foldWithRefunds(pool, games, given);
    this.rated = folded.games;
    this.given = folded.refunds;
  }

  /** All games that are not void, in the order of their positions. */
  get games(): readonly RatedGame[] {
    return this.rated;
  }

  /** In the order of their positions. */
  get refunds(): readonly Refund[] {
    return this.given;
  }

  /** The states after all games and refunds. */
  get states(): Map<string, RatingState> {
    return new Map(this.changes.map(({ playerId, after }) => [playerId, after]));
  }

  /** Writes what a recompute came to. */
  apply({ games, refunds }: Pick<Recomputation, 'games' | 'refunds'>): void {
    const outcomes = new Map(games.map(({ before, after }) => [before.game.position, after]));
    this.rated = this.rated.flatMap((known) => {
      const outcome = outcomes.get(known.game.position);
      return outcome === undefined ? [known] : outcome === null ? [] : [outcome];
    });
    const moved = new Map(refunds.map(({ refund, before, after }) => [refund, { ...refund, before, after }]));
    this.given = this.given.map((refund) => moved.get(refund) ?? refund);
  }

  async gameAt(position: number): Promise<RatedGame> {
    return this.rated.find(({ game }) => game.position === position)!;
  }

  async nextPosition(playerId: string, position: number): Promise<number | null> {
    const names = ({ game, unrated }: RatedGame): boolean =>
      unrated !== 'TOO_FEW_SIDES' && game.players.some((player) => player.playerId === playerId);
    return this.rated.find((rated) => rated.game.position > position && names(rated))?.game.position ?? null;
  }

  async stateBefore(playerId: string, position: number): Promise<RatingState> {
    const last = this.changes.findLast((change) => change.position < position && change.playerId === playerId);
    return last?.after ?? newcomer(this.pool).state;
  }

  async refundsOf(playerId: string): Promise<readonly Refund[]> {
    return this.given.filter((refund) => refund.playerId === playerId);
  }

  private get changes(): { position: number; playerId: string; after: RatingState }[] {
    const ofGames = this.rated.flatMap(({ game: { position }, changes }) =>
      changes.map((change) => ({ ...change, position })),
    );
    return [...ofGames, ...this.given].sort((a, b) => a.position - b.position);
  }
}
