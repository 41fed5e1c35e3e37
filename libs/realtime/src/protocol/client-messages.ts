import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsString,
  Matches,
  MaxLength,
  MinLength,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { Checked, faultsOf, faultsUnseen, InSchema, MayBeAbsent, Passes } from '@laddercast/commands';
import {
  escapePointer,
  faultOfOpaqueId,
  faultOfScope,
  NAMED_ID_PATTERN,
  RANK_STYLES,
  validationFailed,
  WINDOW_ID_LENGTH_MAX,
  type Board,
  type Fault,
  type RankStyle,
} from '@laddercast/domain';
import { holdsScope, type Identity } from '@laddercast/identity';

export const SUBSCRIPTION_ID_LENGTH_MAX = 64;
const TOKEN_LENGTH_MAX = 8192;

/** What rows of channels show only to who asks for it. */
const ROW_FIELDS = ['player'] as const;

export class IdentifiedMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(SUBSCRIPTION_ID_LENGTH_MAX)
  @InSchema({ description: "The subscription's id, unique on its socket" })
  id!: string;
}

/** A player's id in a request for a channel. */
export const IsPlayerId = (): PropertyDecorator =>
  Passes(faultOfOpaqueId, { minLength: 1, description: '1-128 bytes of UTF-8' });

/** What a client asks to follow. Each channel has a class of its own, with its own fields. */
export abstract class WatchMessage extends IdentifiedMessage {
  /** A name of the channel table: the class was found by it. */
  @Checked(() => [], { type: 'string' })
  channel!: string;
}

/** A list, and a channel of it. */
export abstract class ChannelMessage<Asked extends object = object> extends WatchMessage {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'board must be the id of a board' })
  board!: string;

  @MayBeAbsent()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  @InSchema({
    description:
      'alltime, daily, daily:2026-11-20, season:s1, rolling:24h, cron …, ended ones too; default as in reads',
  })
  window?: string;

  @MayBeAbsent()
  @Passes(faultOfScope)
  @InSchema({ description: 'global, region:EU, guild:red, country:US …' })
  scope?: string;

  @MayBeAbsent()
  @IsIn(RANK_STYLES)
  @InSchema({ description: "Default: the board's; dense only on boards that keep it" })
  rankStyle?: RankStyle;

  @MayBeAbsent()
  @IsArray()
  @ArrayMaxSize(ROW_FIELDS.length)
  @IsIn(ROW_FIELDS, { each: true })
  @InSchema({
    description: 'What rows show on request. player: the face of their player; `resume` is then answered by a snapshot',
  })
  fields?: (typeof ROW_FIELDS)[number][];

  /** Whether rows show the faces of their players. */
  showsPlayers(): boolean {
    return this.fields?.includes('player') ?? false;
  }

  /** The request's own fields, with defaults filled in. */
  abstract asked(): Asked;

  /**
   * How many of the first places are wanted, which every list has in memory; null for a channel with rows of its own.
   * @throws VALIDATION_FAILED where the board shows fewer
   */
  topLimit(_board: Board): number | null {
    return null;
  }

  /** The scope of the list; undefined: global. */
  listScope(): string | undefined {
    return this.scope === 'global' ? undefined : this.scope;
  }

  /** Whether guilds are ranked, not players. */
  isOfGuilds(): boolean {
    return false;
  }

  /** Beyond the right to read the board. @throws UNAUTHENTICATED, FORBIDDEN */
  assertMayWatch(_identity: Identity): void {}

  /** Whether the reader sees the watched player also when it is not listed. */
  seesUnlisted(_identity: Identity): boolean {
    return false;
  }
}

/** When a reader sees a player: always, unless it is banned or shadowed, or only where it is listed, too. */
export type Sight = 'all' | 'unlisted' | 'listed';

/** Asks for the rating of a player in a pool. */
export class RatingMessage extends WatchMessage {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'pool must be the id of a pool' })
  @InSchema({ description: 'A rating pool' })
  pool!: string;

  @IsPlayerId()
  playerId!: string;

  sightOf(identity: Identity): Sight {
    if (holdsScope(identity, 'moderate') || (identity.kind === 'player' && identity.playerId === this.playerId))
      return 'all';
    return holdsScope(identity, 'read') ? 'unlisted' : 'listed';
  }
}

/** The class of one channel's message. */
export type ChannelMessageClass<Asked extends object = object> = new () => ChannelMessage<Asked>;

export class AuthenticateMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(TOKEN_LENGTH_MAX)
  token!: string;
}

/** @throws VALIDATION_FAILED */
export const readUnsubscribe = (data: Record<string, unknown>): string => validated(IdentifiedMessage, data).id;

/** @throws VALIDATION_FAILED */
export const readAuthenticate = (data: Record<string, unknown>): string => validated(AuthenticateMessage, data).token;

/**
 * The message that the data is.
 * @param faults known already
 * @throws VALIDATION_FAILED with every fault
 */
export function validated<T extends object>(
  type: new () => T,
  data: Record<string, unknown>,
  faults: readonly Fault[] = [],
): T {
  const unseen = faultsUnseen(data);
  if (unseen.length > 0) throw validationFailed(unseen);
  const message = plainToInstance(type, data);
  const errors = validateSync(message, { whitelist: true, forbidNonWhitelisted: true });
  const all = [...methodFaults(type, data), ...errors.flatMap(faultsIn), ...faults];
  if (all.length > 0) throw validationFailed(all);
  return message;
}

const UNKNOWN_FIELD = 'is not a field of this message';

/** class-transformer skips fields that are named like a method, so class-validator never sees them. */
const methodFaults = (type: new () => object, data: object): Fault[] =>
  Object.keys(data)
    .filter((name) => name in type.prototype)
    .map((name) => ({ pointer: `/${escapePointer(name)}`, message: UNKNOWN_FIELD }));

const faultsIn = (error: ValidationError): Fault[] =>
  error.constraints && 'whitelistValidation' in error.constraints
    ? [{ pointer: `/${escapePointer(error.property)}`, message: UNKNOWN_FIELD }]
    : faultsOf(error, '');
