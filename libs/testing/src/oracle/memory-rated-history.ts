import {
  foldGames,
  newcomer,
  type PoolGame,
  type RatedGame,
  type RatedHistory,
  type RatingPool,
  type RatingState,
  type Recomputation,
} from '@laddercast/domain';

/** The games of a pool with what they did, in memory: as a fold stored them, and as recomputes changed them. */
export class MemoryRatedHistory implements RatedHistory {
  private rated: RatedGame[];

  constructor(
    private readonly pool: RatingPool,
    games: readonly PoolGame[],
  ) {
    this.rated = [...foldGames(pool, new Map(), games).games];
  }

  /** All games that are not void, in the order of their positions. */
  get games(): readonly RatedGame[] {
    return this.rated;
  }

  /** The states after all games. */
  get states(): Map<string, RatingState> {
    return new Map(this.rated.flatMap(({ changes }) => changes.map(({ playerId, after }) => [playerId, after])));
  }

  /** Writes what a recompute came to. */
  apply({ games }: Pick<Recomputation, 'games'>): void {
    const outcomes = new Map(games.map(({ before, after }) => [before.game.position, after]));
    this.rated = this.rated.flatMap((known) => {
      const outcome = outcomes.get(known.game.position);
      return outcome === undefined ? [known] : outcome === null ? [] : [outcome];
    });
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
    for (const { game, changes } of this.rated.toReversed()) {
      if (game.position >= position) continue;
      const change = changes.find((one) => one.playerId === playerId);
      if (change) return change.after;
    }
    return newcomer(this.pool).state;
  }
}
