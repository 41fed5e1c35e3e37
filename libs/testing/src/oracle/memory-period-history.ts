import {
  foldPeriod,
  newcomer,
  type PeriodChange,
  type PeriodHistory,
  type PeriodRecomputation,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
  type RatingState,
} from '@laddercast/domain';

/** The games of a closed period, and its number. */
interface Period {
  period: number;
  games: readonly PoolGame[];
}

/** What a fold of all periods made of each player in each of them, by `<period> <player>`. */
export function changesOfPeriods(pool: RatingPool, periods: readonly Period[]): Map<string, PeriodChange> {
  const players = new Map<string, PlayerRating>();
  const changes = new Map<string, PeriodChange>();
  for (const { period, games } of periods) {
    const folded = foldPeriod(pool, players, games, { period, position: games.at(-1)?.position ?? 0 });
    for (const [id, player] of folded.players) players.set(id, player);
    for (const change of folded.changes) changes.set(`${period} ${change.playerId}`, change);
  }
  return changes;
}

/** The closed periods of a pool with what they did, in memory: as folds stored them, and as recomputes changed them. */
export class MemoryPeriodHistory implements PeriodHistory {
  readonly changes: Map<string, PeriodChange>;

  constructor(
    private readonly pool: RatingPool,
    public periods: readonly Period[],
  ) {
    this.changes = changesOfPeriods(pool, periods);
  }

  /** Writes what a recompute came to, and the games as they are now. */
  apply({ periods }: Pick<PeriodRecomputation, 'periods'>, games: readonly Period[]): void {
    this.periods = games;
    for (const { playerId, period, after } of periods) {
      if (after === null) this.changes.delete(`${period} ${playerId}`);
      else this.changes.set(`${period} ${playerId}`, after);
    }
  }

  async gamesOf(period: number, playerIds: ReadonlySet<string>): Promise<readonly PoolGame[]> {
    const { games } = this.periods.find((one) => one.period === period)!;
    return games.filter(({ players }) => players.some(({ playerId }) => playerIds.has(playerId)));
  }

  async changeOf(playerId: string, period: number): Promise<PeriodChange | null> {
    return this.changes.get(`${period} ${playerId}`) ?? null;
  }

  async nextPeriod(playerId: string, period: number): Promise<number | null> {
    const names = ({ games }: Period): boolean =>
      games.some(({ players }) => players.some((player) => player.playerId === playerId));
    return this.periods.find((one) => one.period > period && names(one))?.period ?? null;
  }

  async stateAtStart(playerId: string, period: number): Promise<RatingState> {
    for (const one of this.periods.toReversed()) {
      const change = one.period < period ? this.changes.get(`${one.period} ${playerId}`) : undefined;
      if (change) return change.after;
    }
    return newcomer(this.pool).state;
  }
}
