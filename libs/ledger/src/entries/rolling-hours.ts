import {
  addToTotal,
  applyRun,
  LadderError,
  withoutNegativeZero,
  type BoardDefinition,
  type EntryState,
  type Run,
} from '@laddercast/domain';

/** More than a rolling window has hours; a power of two scales without rounding. */
const SCALE = 2 ** 16;

/** What a player scored in one UTC hour (hours since 1970): a rolling window is made of its last hours. */
export interface RollingHourRow {
  windowUid: number;
  playerId: string;
  hour: number;
  state: EntryState;
}

export type RollingHourKey = Pick<RollingHourRow, 'windowUid' | 'playerId' | 'hour'>;

export const hourKeyOf = (row: RollingHourKey): string => `${row.windowUid}/${row.hour}/${row.playerId}`;

/**
 * An hour with one more run. The board's limits are for the window's total, which the entry watches.
 * @throws SCORE_OUT_OF_BOUNDS when the hour leaves the finite doubles, which the total need not do
 */
export function addToHour(definition: BoardDefinition, hour: EntryState | null, run: Run, version: number): EntryState {
  if (definition.operator === 'sum') {
    const score = withoutNegativeZero(run.score);
    const increment: EntryState = {
      score,
      columns: [],
      achievedAtMs: run.achievedAtMs,
      metadata: run.metadata,
      version,
    };
    const added = hour === null ? increment : addUp(hour, increment);
    if (Number.isFinite(added.score)) return added;
    throw new LadderError('SCORE_OUT_OF_BOUNDS', 'With this increment the hour would leave the finite doubles.');
  }
  return applyRun(definition, hour, run, version).entry;
}

/**
 * The entry of a rolling window: its hours put together, the oldest first.
 * @param hours at least one
 */
export function entryOfHours(definition: BoardDefinition, hours: readonly EntryState[], version: number): EntryState {
  const [first, ...rest] = hours as [EntryState, ...EntryState[]];
  const entry =
    definition.operator === 'sum'
      ? { ...rest.reduce(addUp, first), score: sumOf(hours.map(({ score }) => score)) }
      : rest.reduce((best, hour) => {
          const run: Run = { ...hour, submissionId: '', playerId: '' };
          return applyRun(definition, best, run, version).entry;
        }, first);
  return { ...entry, version };
}

/** The sum of finite doubles, rounded at each step; one beyond the doubles is the greatest (or least) of them. */
function sumOf(scores: readonly number[]): number {
  const add = (sum: number, score: number): number => sum + score;
  const sum = scores.reduce(add, 0);
  if (Number.isFinite(sum)) return withoutNegativeZero(sum);
  // So many scaled doubles cannot overflow, and what scaling loses is negligible beside the rest of the sum.
  const most = Number.MAX_VALUE / SCALE;
  return Math.max(-most, Math.min(most, scores.map((score) => score / SCALE).reduce(add, 0))) * SCALE;
}

const addUp = (total: EntryState, increment: EntryState): EntryState => addToTotal(total, increment).entry;
