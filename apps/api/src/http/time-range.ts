import { parseTimestamp } from '@laddercast/commands';
import { WINDOW_ID_LENGTH_MAX, type Fault } from '@laddercast/domain';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { PageParameters } from './parameters.js';

export const NOT_A_TIME = 'must be an RFC 3339 time such as 2026-11-20T18:00:00.000Z';

/** Query parameters of what happened in a window: from a time on, and before another. */
export class TimeRangeParameters extends PageParameters {
  /** A full id, or the name of a running window. */
  @IsOptional()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  window?: string;

  /** RFC 3339. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  from?: string;

  /** RFC 3339. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  to?: string;
}

/**
 * Both ends in Unix ms; null where there is none.
 * @param faults gets what is no time
 */
export function timeRangeOf(
  { from, to }: TimeRangeParameters,
  faults: Fault[],
): { fromMs: number | null; toMs: number | null } {
  const timeOf = (pointer: string, text: string | undefined): number | null => {
    if (text === undefined) return null;
    const ms = parseTimestamp(text);
    if (ms === null) faults.push({ pointer, message: NOT_A_TIME });
    return ms;
  };
  return { fromMs: timeOf('?from', from), toMs: timeOf('?to', to) };
}
