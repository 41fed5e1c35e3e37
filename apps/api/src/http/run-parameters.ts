import { REASON_LENGTH_MAX } from '@laddercast/commands';
import { RUN_STATES, type RunState } from '@laddercast/domain';
import { IsIn, IsOptional, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { CLEAN_TEXT, IsFilter } from './parameters.js';
import { TimeRangeParameters } from './time-range.js';

/** Query parameters of the runs of one player: each filter must hold. */
export class PlayerRunsParameters extends TimeRangeParameters {
  @IsOptional()
  @IsIn(RUN_STATES)
  state?: RunState;

  @IsFilter(128)
  sourceId?: string;
}

/** Query parameters of the runs of a board. */
export class RunsParameters extends PlayerRunsParameters {
  @IsOptional()
  @IsString()
  @MaxLength(128)
  player?: string;
}

/** Whose run it is, on boards where players submit: ids are theirs there. */
export class RunOwnerParameters {
  @IsOptional()
  @IsString()
  @MaxLength(128)
  player?: string;
}

/** Query parameters of an act on a run. */
export class RunActParameters extends RunOwnerParameters {
  @IsString()
  @MinLength(1)
  @MaxLength(REASON_LENGTH_MAX)
  @Matches(CLEAN_TEXT, { message: 'must be text without control characters' })
  reason!: string;
}
