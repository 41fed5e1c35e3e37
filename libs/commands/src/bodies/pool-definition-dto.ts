import 'reflect-metadata';
import {
  FED_COLUMNS,
  FED_VALUES,
  NAMED_ID_PATTERN,
  PERIOD_KINDS,
  type FedColumn,
  type FedValue,
  type PeriodRules,
  type ResultRules,
} from '@laddercast/domain';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { InSchema, IsText } from './body-rules.js';
import { IsByColumn, IsPart } from './definition-body.js';

const TITLE_LENGTH_MAX = 200;
/** The most boards that a pool feeds. */
export const FED_BOARDS_MAX = 20;
const HISTORY_DAYS_MIN = 7;
const HISTORY_DAYS_MAX = 3650;
const RESULTS = ['last', 'unrated'] as const;

export class SidesDto {
  @IsOptional()
  @IsInt()
  min?: number;
  @IsOptional()
  @IsInt()
  max?: number;
  @IsOptional()
  @IsInt()
  @InSchema({ description: 'The most members of a side.' })
  teamMax?: number;
}

export class ResultsDto {
  @IsOptional()
  @IsIn(RESULTS)
  disqualified?: ResultRules['disqualified'];
  @IsOptional()
  @IsIn(RESULTS)
  absent?: ResultRules['absent'];
}

export class PeriodsDto {
  @IsOptional()
  @IsIn(PERIOD_KINDS)
  every?: PeriodRules['every'];
  @IsOptional()
  @IsString()
  @InSchema({ description: 'IANA; default: UTC.' })
  timeZone?: string;
  @IsOptional()
  @IsInt()
  @InSchema({
    description: 'So long after its end a period still takes games; then it closes, and ratings move. Default: 86400.',
  })
  graceSeconds?: number;
}

export class ProvisionalDto {
  @IsOptional()
  @IsInt()
  @InSchema({ description: 'Who has fewer games is provisional.' })
  games?: number;
  @IsOptional()
  @IsNumber()
  deviationAbove?: number;
}

export class RankableDto {
  @IsOptional()
  @IsInt()
  gamesMin?: number;
  @IsOptional()
  @IsNumber()
  deviationMax?: number;
  @IsOptional()
  @IsNumber()
  inactiveDaysMax?: number;
}

export class RatingHistoryDto {
  @IsOptional()
  @IsInt()
  @Min(HISTORY_DAYS_MIN)
  @Max(HISTORY_DAYS_MAX)
  @InSchema({
    description: 'How long changes of ratings are kept; null (default): for ever. A void of an older game is refused.',
  })
  keepDays?: number;
}

/** A board that the pool feeds. */
export class NamedBoardDto {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of a board' })
  board!: string;
  @IsIn(FED_VALUES)
  value!: FedValue;
  @IsOptional()
  @IsByColumn()
  @IsObject()
  @InSchema({ description: `What goes into which column of the board: ${FED_COLUMNS.join(', ')}.` })
  columns?: Record<string, FedColumn>;
}

/** The body of `PUT /v1/pools/{pool}`; the numbers are looked at by the rules of the algorithm and of pools, in the domain. */
export class PoolDefinitionDto {
  /** Only that of the path: answers carry it, and what is read can be put again. */
  @IsOptional()
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of the path, or absent' })
  id?: string;
  @IsOptional()
  @IsText(TITLE_LENGTH_MAX)
  title?: string;
  @IsString()
  @InSchema({
    description: 'elo, fide, glicko2, weng-lin, or another that the service knows: 422 ALGORITHM_UNKNOWN names them.',
  })
  algorithm!: string;
  @IsOptional()
  @IsObject()
  @InSchema({ description: 'Those of the algorithm; what is left out has its default.' })
  parameters?: Record<string, unknown>;
  @IsOptional()
  @IsIn(['per-game', 'per-period'])
  update?: 'per-game' | 'per-period';
  @IsPart(() => PeriodsDto)
  @InSchema({ description: 'Of the update per-period alone: when ratings move.' })
  periods?: PeriodsDto;
  @IsPart(() => SidesDto)
  sides?: SidesDto;
  @IsPart(() => ResultsDto)
  results?: ResultsDto;
  @IsPart(() => ProvisionalDto)
  provisional?: ProvisionalDto;
  @IsPart(() => RankableDto)
  rankable?: RankableDto;
  @IsPart(() => RatingHistoryDto)
  history?: RatingHistoryDto;
  @IsOptional()
  @IsIn(['recompute', 'refund', 'keep'])
  onVoid?: 'recompute' | 'refund' | 'keep';
  @IsOptional()
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of a board' })
  @InSchema({ description: 'Short for one of boards, of the value rating.' })
  board?: string;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(FED_BOARDS_MAX)
  @ValidateNested({ each: true })
  @Type(() => NamedBoardDto)
  @InSchema({ description: 'The boards that the pool feeds, instead of submissions.' })
  boards?: NamedBoardDto[];
  @IsOptional()
  @IsIn(['public', 'private'])
  visibility?: 'public' | 'private';
}
