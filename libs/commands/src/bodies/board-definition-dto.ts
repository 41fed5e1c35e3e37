import 'reflect-metadata';
import {
  COLUMNS_MAX,
  ENTRIES_PER_PLAYER,
  ENTRIES_PER_PLAYER_MAX,
  NAMED_ID_PATTERN,
  PUSH_TOP_MAX,
  RANK_STYLES,
  SHARDS_MAX,
  SUBMISSION_OPERATORS,
  TIEBREAKS,
  type ColumnBounds,
  type GivenBoard,
  type GuildAggregate,
  type RankStyle,
  type ScopeSpec,
  type SortOrder,
  type SubmissionOperator,
  type WindowSpec,
} from '@laddercast/domain';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { InSchema, IsBoundsByName } from './body-rules.js';
import { IsByColumn, IsPart } from './definition-body.js';
import { IntegrityDto } from './integrity-dto.js';
import { SCOPES_MAX, WINDOWS_MAX } from './window-options.js';

const DAY_SECONDS = 86_400;
const ENTRIES_MAX = 100_000_000;
const ATTEMPTS_MAX = 1_000_000;

export class SortColumnDto {
  @Matches(/^[a-zA-Z][a-zA-Z0-9_]{0,31}$/, { message: 'must be 1-32 letters, digits or "_", beginning with a letter' })
  name!: string;
  @IsIn(['asc', 'desc'])
  order!: SortOrder;
}

export class ShardingDto {
  @IsIn(['hash', 'range'])
  by!: 'hash' | 'range';
  /** With `hash`: how many shards. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(SHARDS_MAX)
  count?: number;
  /** With `range`: the scores between shards, ascending. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SHARDS_MAX - 1)
  @IsNumber({}, { each: true })
  boundaries?: number[];
}

export class LimitsDto {
  @IsOptional()
  @IsNumber()
  scoreMin?: number | null;
  @IsOptional()
  @IsNumber()
  scoreMax?: number | null;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(ENTRIES_MAX)
  @InSchema({ description: 'How many entries a running window keeps: the best; up to 5 % more between two trims.' })
  entriesMax?: number | null;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(ATTEMPTS_MAX)
  @InSchema({ description: 'How many runs of a player count in each window.' })
  attemptsMax?: number | null;
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(3650 * DAY_SECONDS)
  @InSchema({ description: 'An entry goes from the running windows when no run renews it for so long; at least 60.' })
  entryLifetimeSeconds?: number | null;
  @IsOptional()
  @IsByColumn()
  @IsBoundsByName()
  @InSchema({ description: 'By the name of a column: the least and the greatest value that a run may have there.' })
  columns?: Record<string, ColumnBounds>;
}

export class PushDto {
  @IsOptional()
  @IsInt()
  @Min(50)
  @Max(60_000)
  intervalMs?: number;
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(PUSH_TOP_MAX)
  top?: number;
}

export class FormatDto {
  @IsOptional()
  @IsIn(['number', 'time', 'currency'])
  kind?: 'number' | 'time' | 'currency';
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(10)
  decimals?: number;
  @IsOptional()
  @IsString()
  @MaxLength(32)
  unit?: string | null;
}

export class SnapshotDto {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(10_000)
  @InSchema({ description: 'How many rows of each list are kept.' })
  top?: number;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1440)
  @InSchema({ description: 'null: none is kept.' })
  keepEveryMinutes?: number | null;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3650)
  keepDays?: number;
}

export class RetentionDto {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(36_500)
  @InSchema({ description: 'null: final standings are kept for ever.' })
  standingsDays?: number | null;
}

export class HistoryDto {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1440)
  @InSchema({ description: 'One point of a player and window for each stretch of so many minutes.' })
  everyMinutes?: number;
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3650)
  @InSchema({ description: 'How long points are kept.' })
  keepDays?: number;
}

export class RunsDto {
  @IsOptional()
  @IsInt()
  @Min(7)
  @Max(3650)
  @InSchema({ description: 'How long each run is kept; on boards with a rolling window at least that long and a day.' })
  keepDays?: number;
}

export class DecayDto {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of a family of patches' })
  @InSchema({ description: 'The family of patches.' })
  family!: string;
  @IsNumber()
  @InSchema({
    description: 'What each patch that a run is behind takes: above 0, at most 1, at most four decimal places.',
  })
  perPatch!: number;
}

export class GuildAggregateDto {
  @IsOptional()
  @IsIn(['sum', 'average', 'top'])
  kind?: GuildAggregate['kind'];
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1000)
  @InSchema({ description: 'With `top`: of how many of the best.' })
  k?: number | null;
  @IsOptional()
  @IsIn(['keep', 'takeAway'])
  onLeave?: GuildAggregate['onLeave'];
}

/**
 * The body of `PUT /v1/boards/{board}`. The kinds of windows, scopes and sharding are checked by hand, since decorators
 * cannot tell them apart (`window-options.ts`); the defaults are the domain's.
 */
export class BoardDefinitionDto implements Omit<GivenBoard, 'sharding'> {
  /** Only the id of the path: answers carry it, and an answer can be put again. */
  @IsOptional()
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of the path, or absent' })
  id?: string;
  /** Only the template that the board is of, for the same reason. */
  @IsOptional()
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the template that the board is of, or absent' })
  @InSchema({ description: 'The template that the board is of: read alone, it may only be put as it is.' })
  template?: string | null;
  @IsOptional()
  @IsString()
  @MaxLength(200)
  title?: string | null;
  @IsIn(['asc', 'desc'])
  order!: SortOrder;
  @IsIn(['best', 'latest', 'sum'])
  operator!: 'best' | 'latest' | 'sum';
  @IsOptional()
  @IsIn(TIEBREAKS)
  tiebreak?: 'earliest' | 'latest' | 'none';
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(COLUMNS_MAX)
  @ArrayUnique((column: SortColumnDto | null) => column?.name)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SortColumnDto)
  columns?: SortColumnDto[];
  @IsOptional()
  @IsIn(RANK_STYLES)
  rankStyle?: RankStyle;
  @IsOptional()
  @IsBoolean()
  @InSchema({ description: 'Whether dense ranks are kept; a rankStyle of dense keeps them, too.' })
  dense?: boolean;
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(WINDOWS_MAX)
  windows?: WindowSpec[];
  @IsOptional()
  @IsString()
  @MaxLength(64)
  @InSchema({ description: 'IANA name of the zone whose days the windows follow.' })
  timeZone?: string;
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SCOPES_MAX)
  scopes?: ScopeSpec[];
  @IsPart(() => ShardingDto)
  sharding?: ShardingDto;
  @IsPart(() => LimitsDto)
  limits?: LimitsDto;
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(30 * DAY_SECONDS)
  @InSchema({ description: 'How late a submission may still enter an ended window.' })
  graceSeconds?: number;
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(3650 * DAY_SECONDS)
  @InSchema({ description: 'How long an ended window stays in Redis; its standings stay in PostgreSQL.' })
  keepEndedSeconds?: number;
  @IsPart(() => SnapshotDto)
  snapshot?: SnapshotDto;
  @IsPart(() => RetentionDto)
  retention?: RetentionDto;
  @IsPart(() => PushDto)
  push?: PushDto;
  @IsPart(() => HistoryDto)
  history?: HistoryDto | null;
  @IsOptional()
  @IsBoolean()
  @InSchema({ description: 'Whether rows say how many places a player moved since yesterday.' })
  change?: boolean;
  @IsPart(() => GuildAggregateDto)
  guildAggregate?: GuildAggregateDto;
  @IsPart(() => FormatDto)
  format?: FormatDto;
  @IsOptional()
  @IsIn(['servers', 'players'])
  submitters?: 'servers' | 'players';
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SUBMISSION_OPERATORS, { each: true })
  @InSchema({ description: 'Of sum boards: with `set` a submission may say that its score is the total from then on.' })
  submissionOperators?: SubmissionOperator[] | null;
  @IsOptional()
  @IsBoolean()
  clientTime?: boolean;
  @IsPart(() => IntegrityDto)
  @InSchema({
    description: 'What is examined after runs were accepted, and raises flags; null: nothing. Needs `runs`.',
  })
  integrity?: IntegrityDto | null;
  @IsOptional()
  @IsIn(['public', 'private'])
  visibility?: 'public' | 'private';
  @IsPart(() => RunsDto)
  @InSchema({ description: 'null: runs are not kept, and cannot be voided or held.' })
  runs?: RunsDto | null;
  @IsOptional()
  @IsIn(['player', 'run'])
  @InSchema({
    description:
      'With `run` each counted run is an entry, of a player the best `entriesPerPlayerMax`. Needs `runs` and operator `best`; ' +
      'not with rolling windows, the scope `guild`, `history`, `change` and `entryLifetimeSeconds`.',
  })
  entriesPer?: 'player' | 'run';
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(ENTRIES_PER_PLAYER_MAX)
  @InSchema({
    description: `With \`entriesPer: run\`: how many entries of a player stand in a window. Default: ${ENTRIES_PER_PLAYER}.`,
  })
  entriesPerPlayerMax?: number | null;
  @IsOptional()
  @IsIn(['moderators', 'everyone'])
  @InSchema({ description: 'Who sees the proof of a run, beside its player.' })
  proof?: 'moderators' | 'everyone';
  @IsOptional()
  @IsIn(['all', 'verified'])
  @InSchema({ description: 'With `verified` a run is held until it is verified.' })
  counts?: 'all' | 'verified';
  @IsPart(() => DecayDto)
  @InSchema({
    description:
      'How runs of older patches are taxed; null: submissions have no patch. Needs operator `best` and a `limits.scoreMin` of ' +
      '0 or more; not with rolling windows, guilds, `entriesPer: run`, `history`, `change`, `entriesMax` and `entryLifetimeSeconds`.',
  })
  decay?: DecayDto | null;
}
