import { validationFailed, type Fault } from '@laddercast/domain';
import type { HistoryRange } from '@laddercast/queries';
import { timeRangeOf, type TimeRangeParameters } from './time-range.js';

const LIMIT_DEFAULT = 50;
/** A stretch begins at some Unix ms. */
const CURSOR = /^-?\d{1,15}$/;

/** @throws VALIDATION_FAILED */
export function historyRangeOf({ limit = LIMIT_DEFAULT, cursor, ...times }: TimeRangeParameters): HistoryRange {
  const faults: Fault[] = [];
  const { fromMs, toMs } = timeRangeOf(times, faults);
  if (fromMs !== null && toMs !== null && fromMs > toMs) {
    faults.push({ pointer: '?from', message: 'must not be after to' });
  }
  if (cursor !== undefined && !CURSOR.test(cursor)) {
    faults.push({ pointer: '?cursor', message: 'is not a cursor of this list' });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return { fromMs, toMs, limit, cursor: cursor ?? null };
}
