import 'reflect-metadata';
import { BOARD_RULES_MAX, JUMP_RUNS_MAX, RULE_NAME_PATTERN } from '@laddercast/domain';
import { ArrayMaxSize, ArrayUnique, IsArray, IsInt, IsNumber, IsOptional, Matches, Max, Min } from 'class-validator';
import { InSchema } from './body-rules.js';
import { IsPart } from './definition-body.js';

export class JumpDto {
  @IsOptional()
  @IsNumber()
  @Min(2)
  @Max(1000)
  @InSchema({ description: 'By how many units a run must be better than the median of the runs before it.' })
  factor?: number;
  @IsOptional()
  @IsInt()
  @Min(3)
  @Max(JUMP_RUNS_MAX)
  @InSchema({ description: 'With fewer counted runs before it nothing is flagged.' })
  runsMin?: number;
}

export class RateDto {
  @IsOptional()
  @IsInt()
  @Min(2)
  @Max(10_000)
  @InSchema({ description: 'How many runs of a player within `seconds` raise no flag; the next one does.' })
  runs?: number;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3600)
  seconds?: number;
}

export class ClusterDto {
  @IsOptional()
  @IsInt()
  @Min(3)
  @Max(1000)
  @InSchema({ description: 'Of how many different players equal runs within `minutes` raise a flag.' })
  players?: number;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1440)
  minutes?: number;
}

/** The option `integrity` of a board. */
export class IntegrityDto {
  @IsPart(() => JumpDto)
  @InSchema({ description: 'Flags a run that is far better than the runs of its player before it. Not on sum boards.' })
  jump?: JumpDto | null;
  @IsPart(() => RateDto)
  @InSchema({ description: 'Flags a player whose runs come too fast.' })
  rate?: RateDto | null;
  @IsPart(() => ClusterDto)
  @InSchema({ description: 'Flags the same score and columns of many players.' })
  cluster?: ClusterDto | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(BOARD_RULES_MAX)
  @ArrayUnique()
  @Matches(new RegExp(RULE_NAME_PATTERN), {
    each: true,
    message: 'must be names of rules: 1-32 lower-case letters, digits or "-"',
  })
  @InSchema({ description: "Names of the teams' own rules." })
  rules?: string[];
  @IsOptional()
  @IsNumber()
  @InSchema({ description: 'A run with a better score than this is held until a moderator decides.' })
  holdAbove?: number | null;
}
