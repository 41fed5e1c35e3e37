import { applyRun, withoutNegativeZero, type BoardDefinition, type EntryState, type Run } from '@laddercast/domain';

/** What a player scored in one UTC hour (hours since 1970): a rolling window is made of its last hours. */
export interface RollingHourRow {
  windowUid: number;
  playerId: string;
  hour: number;
  state: EntryState;
}

export type RollingHourKey = Pick<RollingHourRow, 'windowUid' | 'playerId' | 'hour'>;

export const hourKeyOf = (row: RollingHourKey): string => `${row.windowUid}/${row.hour}/${row.playerId}`;

/** An hour with one more run. The board's limits are for the window's total, which the entry watches. */
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
    return hour === null ? increment : addUp(hour, increment);
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
      ? rest.reduce(addUp, first)
      : rest.reduce((best, hour) => {
          const run: Run = { ...hour, submissionId: '', playerId: '' };
          return applyRun(definition, best, run, version).entry;
        }, first);
  return { ...entry, version };
}

function addUp(total: EntryState, increment: EntryState): EntryState {
  // As a run of 0 leaves an entry.
  if (increment.score === 0) return total;
  return {
    ...total,
    score: withoutNegativeZero(total.score + increment.score),
    achievedAtMs: Math.max(total.achievedAtMs, increment.achievedAtMs),
    metadata: increment.metadata ?? total.metadata,
  };
}
