import { REASON_LENGTH_MAX } from '@laddercast/commands';
import { CLEAN_TEXT_PATTERN, RUN_STATES, type RunState } from '@laddercast/domain';
import { IsIn, IsOptional, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { PageParameters } from './parameters.js';

const CLEAN_TEXT = new RegExp(CLEAN_TEXT_PATTERN);

/** Query parameters of the runs of one player: each filter must hold. */
export class PlayerRunsParameters extends PageParameters {
  @IsOptional()
  @IsIn(RUN_STATES)
  state?: RunState;

  /** A full id, or the name of a running window. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  window?: string;

  @IsOptional()
  @IsString()
  @MaxLength(128)
  @Matches(CLEAN_TEXT, { message: 'must be text without control characters' })
  sourceId?: string;

  /** RFC 3339: accepted at that time or later. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  from?: string;

  /** RFC 3339: accepted before that time. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  to?: string;
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
