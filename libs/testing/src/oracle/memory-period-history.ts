import {
  foldPeriod,
  newcomer,
  withPoints,
  type PeriodChange,
  type PeriodHistory,
  type PeriodRecomputation,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
  type RatingState,
  type Refund,
} from '@laddercast/domain';

/** The games of a closed period, and its number. */
interface Period {
  period: number;
  games: readonly PoolGame[];
}

/** Points that a player was given after a period. */
export type PointsAfterPeriod = Pick<Refund, 'playerId' | 'position' | 'points' | 'follows'>;

/** What periods and refunds make of a pool: of each player in each period, by `<period> <player>`. */
export function foldPeriods(
  pool: RatingPool,
  periods: readonly Period[],
  given: readonly PointsAfterPeriod[] = [],
): { changes: Map<string, PeriodChange>; refunds: Refund[]; players: Map<string, PlayerRating> } {
  const players = new Map<string, PlayerRating>();
  const changes = new Map<string, PeriodChange>();
  const refunds: Refund[] = [];
  for (const { period, games } of periods) {
    const folded = foldPeriod(pool, players, games, { period, position: games.at(-1)?.position ?? 0 });
    for (const [id, player] of folded.players) players.set(id, player);
    for (const change of folded.changes) changes.set(`${period} ${change.playerId}`, change);
    for (const one of given.filter(({ follows }) => follows === period)) {
      const player = players.get(one.playerId)!;
      const after = withPoints(player.state, one.points);
      players.set(one.playerId, { ...player, state: after });
      refunds.push({ ...one, before: player.state, after });
    }
  }
  return { changes, refunds, players };
}

/** The closed periods of a pool with what they did, in memory: as folds stored them, and as recomputes changed them. */
export class MemoryPeriodHistory implements PeriodHistory {
  readonly changes: Map<string, PeriodChange>;
  refunds: Refund[];

  constructor(
    private readonly pool: RatingPool,
    public periods: readonly Period[],
    given: readonly PointsAfterPeriod[] = [],
  ) {
    const { changes, refunds } = foldPeriods(pool, periods, given);
    this.changes = changes;
    this.refunds = refunds;
  }

  /** Writes what a recompute came to, and the games as they are now. */
  apply({ periods, refunds }: Pick<PeriodRecomputation, 'periods' | 'refunds'>, games: readonly Period[]): void {
    this.periods = games;
    for (const { playerId, period, after } of periods) {
      if (after === null) this.changes.delete(`${period} ${playerId}`);
      else this.changes.set(`${period} ${playerId}`, after);
    }
    const moved = new Map(refunds.map(({ refund, before, after }) => [refund, { ...refund, before, after }]));
    this.refunds = this.refunds.map((refund) => moved.get(refund) ?? refund);
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
      if (one.period >= period) continue;
      const refund = this.refunds.findLast((known) => known.playerId === playerId && known.follows === one.period);
      const after = refund?.after ?? this.changes.get(`${one.period} ${playerId}`)?.after;
      if (after) return after;
    }
    return newcomer(this.pool).state;
  }

  async refundsOf(playerId: string): Promise<readonly Refund[]> {
    return this.refunds.filter((refund) => refund.playerId === playerId);
  }
}
