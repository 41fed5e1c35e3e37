import { compareIds, gamesByPlayer, type PoolGame } from './game.js';
import { inTurns } from './in-turns.js';
import { ratePlayerOfPeriod, type PeriodChange } from './period.js';
import { PositionHeap } from './position-heap.js';
import type { RatingPool } from './pool.js';
import { isSameState, type RatingState } from './rating-algorithm.js';
import { recomputeTooLarge } from './recompute.js';
import { DifferingPlayers, type DifferingStates, type RecomputedRefund, type Refund } from './refund.js';

/** What is stored of the closed periods of a pool, as a recompute asks for it: all from one moment. */
export interface PeriodHistory {
  /** The games of a period that name one of these players, void ones left out. */
  gamesOf(period: number, playerIds: ReadonlySet<string>): Promise<readonly PoolGame[]>;

  /** What a period made of the player, or null where it played no game that counts. */
  changeOf(playerId: string, period: number): Promise<PeriodChange | null>;

  /** The first closed period after this one with a game that names the player, or null. */
  nextPeriod(playerId: string, period: number): Promise<number | null>;

  /** The player's state at the start of a period: after its last one before it, else a newcomer's. */
  stateAtStart(playerId: string, period: number): Promise<RatingState>;

  /** All refunds of the player, in their order. */
  refundsOf(playerId: string): Promise<readonly Refund[]>;
}

/** A game of a closed period that is another now, or void. */
export interface PeriodCorrection {
  readonly period: number;
  readonly before: PoolGame;
  readonly after: PoolGame | null;
}

/** What a period made of a player, and what it makes of it now; null: it played no game that counts. */
export interface RecomputedPeriod {
  readonly playerId: string;
  readonly period: number;
  readonly before: PeriodChange | null;
  readonly after: PeriodChange | null;
}

/** What corrections come to in a pool that rates by periods, as far as it is not what is stored. */
export interface PeriodRecomputation {
  /** By period, and of each by player. */
  readonly periods: readonly RecomputedPeriod[];
  /** How many games were looked at again, void ones included. */
  readonly gamesReached: number;
  /** Those that were given from another state than they were. */
  readonly refunds: readonly RecomputedRefund[];
  /** Whose rating is another now. */
  readonly players: ReadonlyMap<string, DifferingStates>;
}

/**
 * As `recompute`, for a pool that rates by periods: in each period those are rated again whose games were corrected, whose
 * state at its start is another, and whoever played them in it.
 * @throws RECOMPUTE_TOO_LARGE where more than `gamesMax` games are reached
 */
export async function recomputePeriods(
  pool: RatingPool,
  history: PeriodHistory,
  corrections: readonly PeriodCorrection[],
  gamesMax: number,
): Promise<PeriodRecomputation> {
  const run = new PeriodRecompute(pool, history, corrections, gamesMax);
  for (let period = run.open.take(); period !== null; period = run.open.take()) {
    await run.step(period);
  }
  const players = await run.players.end();
  return { periods: run.periods, gamesReached: run.gamesReached, refunds: run.players.refunds, players };
}

/** Goes from period to period, holding whose states differ from what is stored. */
class PeriodRecompute {
  readonly periods: RecomputedPeriod[] = [];
  readonly players: DifferingPlayers;
  readonly open: PositionHeap;
  gamesReached = 0;

  /** In which period each of `players` plays next. */
  private readonly next = new Map<string, number>();

  constructor(
    private readonly pool: RatingPool,
    private readonly history: PeriodHistory,
    private readonly corrections: readonly PeriodCorrection[],
    private readonly gamesMax: number,
  ) {
    this.open = new PositionHeap(corrections.map(({ period }) => period));
    this.players = new DifferingPlayers(history);
  }

  async step(period: number): Promise<void> {
    const corrected = this.corrections.filter((correction) => correction.period === period);
    const changed = idsOf(corrected.flatMap(({ before, after }) => (after === null ? [before] : [before, after])));
    for (const [playerId, at] of this.next) if (at === period) changed.add(playerId);
    const reached = await this.gamesOf(period, changed, corrected);
    const voided = corrected.filter(({ after }) => after === null).length;
    this.refuseMoreThanMax(reached.length + voided);
    const rated = new Set([...changed, ...idsOf(reached)]);
    // Whoever met one of the changed is computed again, and so are all games of the period that they played.
    const games = await this.gamesOf(period, rated, corrected);
    this.refuseMoreThanMax(games.length + voided);
    this.gamesReached += games.length + voided;
    const start = new Map<string, RatingState>();
    const named = new Set([...rated, ...idsOf(games)]);
    await this.players.reach(named, period);
    for (const playerId of named) {
      start.set(playerId, await this.history.stateAtStart(playerId, period));
    }
    // All of them from the same start: what comes out is written when the last one is rated.
    const stateOf = (playerId: string): RatingState => this.players.get(playerId)?.after ?? start.get(playerId)!;
    const played = gamesByPlayer(games);
    const changes: { playerId: string; after: PeriodChange | null; state: RatingState }[] = [];
    for await (const playerId of inTurns([...rated].sort(compareIds))) {
      const after = ratePlayerOfPeriod(this.pool, playerId, played.get(playerId) ?? [], period, stateOf);
      changes.push({ playerId, after, state: after?.after ?? stateOf(playerId) });
    }
    for await (const { playerId, after, state } of inTurns(changes)) {
      const before = await this.history.changeOf(playerId, period);
      await this.follow(playerId, period, before?.after ?? start.get(playerId)!, state);
      if (!isSameChange(before, after)) this.periods.push({ playerId, period, before, after });
    }
  }

  /** Before what is reached next is computed. */
  private refuseMoreThanMax(games: number): void {
    if (this.gamesReached + games > this.gamesMax) throw recomputeTooLarge(this.gamesMax);
  }

  private async follow(playerId: string, period: number, before: RatingState, after: RatingState): Promise<void> {
    this.next.delete(playerId);
    if (!this.players.put(playerId, period, before, after)) return;
    const next = await this.history.nextPeriod(playerId, period);
    if (next === null) return;
    this.next.set(playerId, next);
    this.open.add(next);
  }

  private async gamesOf(
    period: number,
    playerIds: ReadonlySet<string>,
    corrected: readonly PeriodCorrection[],
  ): Promise<PoolGame[]> {
    const stored = await this.history.gamesOf(period, playerIds);
    const replaced = new Set(corrected.map(({ before }) => before.position));
    const instead = corrected.flatMap(({ after }) =>
      after?.players.some(({ playerId }) => playerIds.has(playerId)) ? [after] : [],
    );
    return [...stored.filter(({ position }) => !replaced.has(position)), ...instead];
  }
}

const idsOf = (games: readonly PoolGame[]): Set<string> =>
  new Set(games.flatMap(({ players }) => players.map(({ playerId }) => playerId)));

function isSameChange(a: PeriodChange | null, b: PeriodChange | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.unrated === b.unrated &&
    isSameState(a.before, b.before) &&
    isSameState(a.after, b.after) &&
    a.games.length === b.games.length &&
    a.games.every(({ game, opponentId, outcome, expected, k }, at) => {
      const other = b.games[at]!;
      return (
        game.position === other.game.position &&
        opponentId === other.opponentId &&
        outcome === other.outcome &&
        Object.is(expected, other.expected) &&
        Object.is(k, other.k)
      );
    })
  );
}
