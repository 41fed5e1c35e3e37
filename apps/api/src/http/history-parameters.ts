import { parseTimestamp } from '@laddercast/commands';
import { validationFailed, type Fault } from '@laddercast/domain';
import type { HistoryRange } from '@laddercast/queries';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { PageParameters } from './parameters.js';

const LIMIT_DEFAULT = 50;
/** A stretch begins at some Unix ms. */
const CURSOR = /^-?\d{1,15}$/;

/** Query parameters of a player's history. */
export class HistoryParameters extends PageParameters {
  @IsOptional()
  @IsString()
  @MaxLength(64)
  window?: string;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  from?: string;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  to?: string;
}

/** @throws VALIDATION_FAILED */
export function historyRangeOf({ from, to, limit = LIMIT_DEFAULT, cursor }: HistoryParameters): HistoryRange {
  const faults: Fault[] = [];
  const timeOf = (name: string, text: string | undefined): number | null => {
    const ms = text === undefined ? null : parseTimestamp(text);
    if (text !== undefined && ms === null) {
      faults.push({ pointer: `?${name}`, message: 'must be an RFC 3339 time such as 2026-11-20T18:00:00.000Z' });
    }
    return ms;
  };
  const range = { fromMs: timeOf('from', from), toMs: timeOf('to', to), limit };
  if (range.fromMs !== null && range.toMs !== null && range.fromMs > range.toMs) {
    faults.push({ pointer: '?from', message: 'must not be after to' });
  }
  if (cursor !== undefined && !CURSOR.test(cursor)) {
    faults.push({ pointer: '?cursor', message: 'is not a cursor of this list' });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return { ...range, cursor: cursor ?? null };
}
