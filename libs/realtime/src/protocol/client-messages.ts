import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { CHECKED, faultFinderOf, faultsUnseen, InSchema, MayBeAbsent, Passes } from '@laddercast/commands';
import {
  escapePointer,
  faultOfOpaqueId,
  faultOfScope,
  NAMED_ID_PATTERN,
  PUSH_TOP_MAX,
  RANK_STYLES,
  validationFailed,
  type Fault,
  type RankStyle,
} from '@laddercast/domain';

export const SUBSCRIPTION_ID_LENGTH_MAX = 64;
const AROUND_MAX = 25;
/** The longest range. */
const RANGE_MAX = 100;
const OFFSET_MAX = 1_000_000_000;
const CHANNELS = ['top', 'player', 'range', 'friends', 'guilds'] as const;
const AROUND_DEFAULT = 5;
const LIMIT_DEFAULT = 10;
const TOKEN_LENGTH_MAX = 8192;
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

/** What a channel shows, with defaults filled in; a `limit` of null is the default of the board. */
export type ChannelRequest =
  | { channel: 'top' | 'guilds'; limit: number | null }
  | { channel: 'player'; playerId: string; around: number }
  | { channel: 'range'; offset: number; limit: number }
  | { channel: 'friends'; playerId: string };

/** What a subscription asks for, with defaults filled in. */
export type SubscribeRequest = {
  board: string;
  /** As the client wrote it: `daily` means whatever day is running when it is looked up. */
  window: string | undefined;
  /** undefined: everybody. */
  scope: string | undefined;
  /** undefined: the board's own. */
  rankStyle: RankStyle | undefined;
} & ChannelRequest;

class IdentifiedMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(SUBSCRIPTION_ID_LENGTH_MAX)
  @InSchema({ description: "The subscription's id, unique on its socket" })
  id!: string;
}

const IsPlayerId = (): PropertyDecorator =>
  Passes(faultOfOpaqueId, { minLength: 1, description: '1-128 bytes of UTF-8' });

abstract class ChannelMessage extends IdentifiedMessage {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'board must be the id of a board' })
  board!: string;

  @MayBeAbsent()
  @IsString()
  @MaxLength(64)
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

  @IsIn(CHANNELS)
  channel!: (typeof CHANNELS)[number];

  /** What the message asks of its channel. */
  abstract asked(): ChannelRequest;
}

class TopMessage extends ChannelMessage {
  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(PUSH_TOP_MAX)
  @InSchema({ description: 'Rounded up to 10, 25, 50 or 100' })
  limit?: number;

  override asked(): ChannelRequest {
    return { channel: 'top', limit: this.limit ?? null };
  }
}

class GuildsMessage extends TopMessage {
  @MayBeAbsent()
  @IsIn(['global'], { message: 'scope must be global: guilds are ranked over all players' })
  @InSchema({ description: 'Guilds are ranked over all players' })
  override scope?: string;

  override asked(): ChannelRequest {
    return { channel: 'guilds', limit: this.limit ?? null };
  }
}

class PlayerMessage extends ChannelMessage {
  @IsPlayerId()
  playerId!: string;

  @MayBeAbsent()
  @IsInt()
  @Min(0)
  @Max(AROUND_MAX)
  around: number = AROUND_DEFAULT;

  override asked(): ChannelRequest {
    return { channel: 'player', playerId: this.playerId, around: this.around };
  }
}

class FriendsMessage extends ChannelMessage {
  @IsPlayerId()
  playerId!: string;

  override asked(): ChannelRequest {
    return { channel: 'friends', playerId: this.playerId };
  }
}

class RangeMessage extends ChannelMessage {
  @IsInt()
  @Min(0)
  @Max(OFFSET_MAX)
  @InSchema({ description: 'The first row is that of rank offset + 1' })
  offset!: number;

  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(RANGE_MAX)
  @InSchema({ description: 'Not rounded' })
  limit: number = LIMIT_DEFAULT;

  override asked(): ChannelRequest {
    return { channel: 'range', offset: this.offset, limit: this.limit };
  }
}

class AuthenticateMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(TOKEN_LENGTH_MAX)
  token!: string;
}

type ChannelMessageClass = new () => ChannelMessage;

const SUBSCRIBES: Record<ChannelRequest['channel'], ChannelMessageClass> = {
  top: TopMessage,
  player: PlayerMessage,
  range: RangeMessage,
  friends: FriendsMessage,
  guilds: GuildsMessage,
};

type ResumeMessage = ChannelMessage & { seq: number };

function resumeOf(channel: ChannelMessageClass): new () => ResumeMessage {
  abstract class Resume extends channel {
    @IsInt()
    @Min(0)
    @Max(SEQ_MAX)
    @InSchema({ description: 'Grows with every change, with gaps, and never repeats' })
    seq!: number;
  }
  return Resume as unknown as new () => ResumeMessage;
}

const RESUMES = Object.fromEntries(
  Object.entries(SUBSCRIBES).map(([channel, message]) => [channel, resumeOf(message)]),
) as Record<ChannelRequest['channel'], new () => ResumeMessage>;

/** The class of each message of clients; of what asks for a channel, one for each channel. */
export const CLIENT_MESSAGES = {
  subscribe: SUBSCRIBES,
  resume: RESUMES,
  unsubscribe: IdentifiedMessage,
  authenticate: AuthenticateMessage,
};

/** An unknown channel is told by the check of that field. */
const channelOf = ({ channel }: Record<string, unknown>): ChannelRequest['channel'] =>
  CHANNELS.find((known) => known === channel) ?? 'top';

/** @throws VALIDATION_FAILED with every fault */
export function readSubscribe(data: Record<string, unknown>): { id: string; request: SubscribeRequest } {
  const message = validated(SUBSCRIBES[channelOf(data)], data);
  return { id: message.id, request: requestOf(message) };
}

/** @throws VALIDATION_FAILED with every fault */
export function readResume(data: Record<string, unknown>): { id: string; request: SubscribeRequest; seq: number } {
  const message = validated(RESUMES[channelOf(data)], data);
  return { id: message.id, request: requestOf(message), seq: message.seq };
}

/** @throws VALIDATION_FAILED */
export const readUnsubscribe = (data: Record<string, unknown>): string => validated(IdentifiedMessage, data).id;

/** @throws VALIDATION_FAILED */
export const readAuthenticate = (data: Record<string, unknown>): string => validated(AuthenticateMessage, data).token;

function requestOf(message: ChannelMessage): SubscribeRequest {
  const { board, window, scope, rankStyle } = message;
  return { board, window, scope: scope === 'global' ? undefined : scope, rankStyle, ...message.asked() };
}

/** The rows that a top subscription shows: as asked, or ten, or what the board pushes if that is less. */
export function topLimitOf(limit: number | null, pushTop: number): number {
  if (limit !== null && limit > pushTop) {
    const message = `must be at most ${pushTop}, what this board pushes (push.top)`;
    throw validationFailed([{ pointer: '/limit', message }]);
  }
  return limit ?? Math.min(LIMIT_DEFAULT, pushTop);
}

function validated<T extends object>(type: new () => T, data: Record<string, unknown>): T {
  const unseen = faultsUnseen(data);
  if (unseen.length > 0) throw validationFailed(unseen);
  const message = plainToInstance(type, data);
  const errors = validateSync(message, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw validationFailed(errors.map(faultOf));
  return message;
}

function faultOf({ target, property, value, constraints = {} }: ValidationError): Fault {
  const pointer = `/${escapePointer(property)}`;
  const [fault] = (CHECKED in constraints && faultFinderOf(target!, property)?.(value)) || [];
  if (fault) return { pointer, message: fault.message };
  if ('whitelistValidation' in constraints) return { pointer, message: 'is not a field of this message' };
  const text = Object.values(constraints)[0] ?? 'is not valid';
  return { pointer, message: text.startsWith(`${property} `) ? text.slice(property.length + 1) : text };
}
