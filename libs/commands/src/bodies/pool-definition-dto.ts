import 'reflect-metadata';
import { NAMED_ID_PATTERN, type ResultRules } from '@laddercast/domain';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsNumber, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import { InSchema, IsText } from './body-rules.js';
import { IsPart } from './definition-body.js';

const TITLE_LENGTH_MAX = 200;
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
    description: 'elo, glicko2, weng-lin, or another that the service knows: 422 ALGORITHM_UNKNOWN names them.',
  })
  algorithm!: string;
  @IsOptional()
  @IsObject()
  @InSchema({ description: 'Those of the algorithm; what is left out has its default.' })
  parameters?: Record<string, unknown>;
  @IsOptional()
  @IsIn(['per-game', 'per-period'])
  update?: 'per-game' | 'per-period';
  @IsOptional()
  @IsObject()
  @InSchema({ description: 'Not built yet: null.' })
  periods?: object;
  @IsPart(() => SidesDto)
  sides?: SidesDto;
  @IsPart(() => ResultsDto)
  results?: ResultsDto;
  @IsPart(() => ProvisionalDto)
  provisional?: ProvisionalDto;
  @IsPart(() => RankableDto)
  rankable?: RankableDto;
  @IsOptional()
  @IsIn(['recompute', 'refund', 'keep'])
  onVoid?: 'recompute' | 'refund' | 'keep';
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(0)
  @InSchema({ description: 'Not built yet: empty.' })
  boards?: unknown[];
  @IsOptional()
  @IsIn(['public', 'private'])
  visibility?: 'public' | 'private';
}
