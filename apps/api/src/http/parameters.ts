import { Checked } from '@laddercast/commands';
import {
  CALENDAR_KINDS,
  CIRCLE_ENTRIES_MAX,
  CLEAN_TEXT_PATTERN,
  NAMED_ID_PATTERN,
  PATCH_ID_PATTERN,
  RANK_STYLES,
  WINDOW_ID_LENGTH_MAX,
  type RankAccuracy,
  type RankStyle,
  type WindowKind,
} from '@laddercast/domain';
import { SEVERITIES, type Severity } from '@laddercast/extension';
import {
  CURSOR_LENGTH_MAX,
  EXPORT_FORMATS,
  EXPORT_GUARDS,
  LISTED_WINDOW_STATES,
  type ExportFormat,
  type ExportGuard,
  type ListedWindowState,
} from '@laddercast/queries';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Max,
  Matches,
  MaxLength,
  Min,
} from 'class-validator';
import { Fields, type Field } from './fields-parameter.js';

const Integer = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value,
  );

/** A JSON number in a query string. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** The number that a parameter says; what is none stays as it is. */
export const decimalOf = (value: unknown): unknown =>
  typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : value;
const Decimal = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => decimalOf(value));

/** Extra columns, each by a parameter of its own: `columns.moves=31`. */
const ColumnValues = (): PropertyDecorator =>
  Checked(
    (value) => {
      const isNumbers =
        typeof value === 'object' && value !== null && Object.values(value).every((one) => Number.isFinite(one));
      return isNumbers
        ? []
        : [{ pointer: '', message: 'must be numbers, one parameter each, such as columns.moves=31' }];
    },
    {
      type: 'object',
      patternProperties: { '^columns\\.[a-zA-Z][a-zA-Z0-9_]{0,31}$': { type: 'number' } },
      additionalProperties: false,
    },
  );

/** JSON numbers, separated by commas. */
const NumberList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.split(',').map((part) => (JSON_NUMBER.test(part) ? Number(part) : part)) : value,
  );

/** How ranks are asked for. */
export const ACCURACIES: readonly RankAccuracy[] = ['exact', 'estimated'];

/** A kind and an opaque id, or the value of an attribute. */
const SCOPE_LENGTH_MAX = 200;
/** Numbers of editions are integers of PostgreSQL. */
const EDITION_MAX = 2_147_483_647;

/** Query parameters common to all reads of a list. */
export class ListParameters {
  @IsOptional()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  window?: string;

  /** `global`, `region:EU`, `guild:red`, `country:US`. */
  @IsOptional()
  @IsString()
  @MaxLength(SCOPE_LENGTH_MAX)
  scope?: string;

  /** RFC 3339: the board as it stood then, where it keeps that. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  asOf?: string;

  /** Of an ended window: the final standings of that number. */
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(EDITION_MAX)
  edition?: number;

  @IsOptional()
  @IsIn(RANK_STYLES)
  rankStyle?: RankStyle;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  minVersion?: number;
}

/** Query parameters common to all reads of rows of players. */
export class RowParameters extends ListParameters {
  @Fields()
  fields?: Field[];
}

export class EntriesParameters extends RowParameters {
  /** `replica`: of a page by offset, which may come from a replica, and says then that it is of a moment ago. */
  @IsOptional()
  @IsIn(['replica'])
  from?: 'replica';

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(500)
  limit?: number;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  offset?: number;

  @IsOptional()
  @IsString()
  @MaxLength(CURSOR_LENGTH_MAX)
  cursor?: string;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  aroundRank?: number;

  @IsOptional()
  @Decimal()
  @IsNumber()
  aroundScore?: number;

  @IsOptional()
  @IsString()
  aroundPlayer?: string;
}

const NEIGHBOURS_MAX = 100;

export class PlayerParameters extends RowParameters {
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(NEIGHBOURS_MAX)
  around?: number;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(NEIGHBOURS_MAX)
  above?: number;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(NEIGHBOURS_MAX)
  below?: number;

  @IsOptional()
  @IsIn(['last'])
  fallback?: 'last';

  /** On boards with decay: the player's runs, too. */
  @IsOptional()
  @IsIn(['1'])
  runs?: '1';

  /** `estimated`: out of the list's sketch, without neighbours. */
  @IsOptional()
  @IsIn(ACCURACIES)
  accuracy?: RankAccuracy;
}

export class ScoreParameters extends ListParameters {
  @Decimal()
  @IsNumber()
  score!: number;

  /** On boards with decay: of which patch the run is. */
  @IsOptional()
  @Matches(new RegExp(PATCH_ID_PATTERN), { message: 'must be the id of a patch' })
  patch?: string;

  @IsOptional()
  @ColumnValues()
  columns?: Record<string, number>;

  @IsOptional()
  @IsIn(ACCURACIES)
  accuracy?: RankAccuracy;
}

const PERCENTILES_MAX = 20;

/** Query parameters of percentiles; they are of ordinal ranks. */
export class PercentilesParameters {
  /** Percentiles, 0-100, separated by commas; at most 20. */
  @NumberList()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(PERCENTILES_MAX)
  @IsNumber({}, { each: true })
  @Min(0, { each: true })
  @Max(100, { each: true })
  at!: number[];

  @IsOptional()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  window?: string;

  @IsOptional()
  @IsString()
  @MaxLength(SCOPE_LENGTH_MAX)
  scope?: string;

  /** RFC 3339: the board as it stood then, where it keeps that. */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  asOf?: string;

  /** Of an ended window: the final standings of that number. */
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(EDITION_MAX)
  edition?: number;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  minVersion?: number;

  /** Default: estimated. */
  @IsOptional()
  @IsIn(ACCURACIES)
  accuracy?: RankAccuracy;
}

/** Query parameters of a circle's board: a page may hold it whole. */
export class CircleParameters extends RowParameters {
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(CIRCLE_ENTRIES_MAX)
  limit?: number;

  @IsOptional()
  @Integer()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  offset?: number;
}

/** Query parameters of an export: a whole list, so there is no page. */
export class ExportParameters {
  @IsOptional()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  window?: string;

  @IsOptional()
  @IsString()
  @MaxLength(SCOPE_LENGTH_MAX)
  scope?: string;

  @IsOptional()
  @IsIn(EXPORT_FORMATS)
  format?: ExportFormat;

  /** Of CSV. */
  @IsOptional()
  @IsIn(EXPORT_GUARDS)
  guard?: ExportGuard;
}

/** The longest page of a list without ranks, and the most players of a look-up. */
export const PAGE_MAX = 500;
export const LOOKUPS_MAX = 500;
/** How many boards a page of standings has where nothing else is asked for. */
export const BOARDS_DEFAULT = 100;

export class PageParameters {
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(PAGE_MAX)
  limit?: number;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  cursor?: string;
}

/** The longest page of games, which may have hundreds of players each. */
const GAMES_PAGE_MAX = 100;

/** Query parameters of the changes of a rating. */
export class RatingHistoryParameters {
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(GAMES_PAGE_MAX)
  limit?: number;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  cursor?: string;
}

/** Query parameters of a pool's games. */
export class GamesParameters extends RatingHistoryParameters {
  @IsOptional()
  @IsString()
  player?: string;
}

export const CLEAN_TEXT = new RegExp(CLEAN_TEXT_PATTERN);

export const IsFilter = (lengthMax: number): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    IsString(),
    Matches(CLEAN_TEXT, { message: 'must be text without control characters' }),
    MaxLength(lengthMax),
  );

/** Query parameters of the audit log: each filter must hold as a whole. */
export class AuditParameters extends PageParameters {
  @IsFilter(64)
  actor?: string;

  @IsFilter(64)
  action?: string;

  @IsFilter(200)
  subject?: string;
}

const FLAG_STATES = ['open', 'decided'] as const;

/** Query parameters of flags: each filter must hold. */
export class FlagsParameters extends PageParameters {
  @IsOptional()
  @IsIn(FLAG_STATES)
  state?: (typeof FLAG_STATES)[number];

  @IsFilter(64)
  board?: string;

  @IsFilter(128)
  player?: string;

  @IsFilter(64)
  rule?: string;

  @IsOptional()
  @IsIn(SEVERITIES)
  severity?: Severity;
}

/** Query parameters of dead letters, which can be a megabyte each. */
export class DeadLettersParameters {
  @IsOptional()
  @Integer()
  @IsInt()
  @Min(1)
  @Max(100)
  limit?: number;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  cursor?: string;

  @IsOptional()
  @Matches(/^[a-z0-9][a-z0-9._-]{0,63}$/)
  group?: string;
}

/** Query parameters of a player's standings: pages are of boards. */
export class StandingsParameters extends PageParameters {
  /** Only boards of this template; without `limit` all of them. */
  @IsOptional()
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'must be the id of a template' })
  template?: string;

  @IsOptional()
  @IsIn([...CALENDAR_KINDS, 'season', 'rolling', 'cron'])
  window?: WindowKind;
}

/** `?dryRun` alone means true. */
export class DryRunParameters {
  @IsOptional()
  @IsIn(['', 'true', 'false'])
  dryRun?: '' | 'true' | 'false';
}

/** Whether nothing is to change. */
export const isDryRun = ({ dryRun }: DryRunParameters): boolean => dryRun !== undefined && dryRun !== 'false';

const YES = ['', '1', 'true'] as const;
const NO = ['0', 'false'] as const;

/** `?boards=1`: the boards of a template, too. */
export class WithBoardsParameters {
  @IsOptional()
  @IsIn([...YES, ...NO])
  boards?: (typeof YES)[number] | (typeof NO)[number];
}

export const isWithBoards = ({ boards }: WithBoardsParameters): boolean => YES.some((yes) => yes === boards);

export class WindowsParameters extends PageParameters {
  @IsOptional()
  @IsIn(LISTED_WINDOW_STATES)
  state?: ListedWindowState;
}

/** Seconds of `Prefer: wait=N` (RFC 7240), at most 10; 0 when it is absent. */
export function waitSecondsOf(prefer: string | undefined): number {
  const match = /(?:^|[,;]\s*)wait\s*=\s*"?(\d{1,6})"?/i.exec(prefer ?? '');
  return match ? Math.min(10, Number(match[1])) : 0;
}
