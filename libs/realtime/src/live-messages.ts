import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
  validateSync,
  type ValidationError,
} from 'class-validator';
import {
  escapePointer,
  faultOfOpaqueId,
  LadderError,
  NAMED_ID_PATTERN,
  PUSH_TOP_MAX,
  validationFailed,
} from '@laddercast/domain';

export const SUBSCRIPTION_ID_LENGTH_MAX = 64;
export const AROUND_MAX = 25;
const AROUND_DEFAULT = 5;
const TOP_DEFAULT = 10;
const TOKEN_LENGTH_MAX = 8192;
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

/** What clients may send, by `type`; each is a handler of the gateway. */
export const CLIENT_MESSAGES = ['subscribe', 'resume', 'unsubscribe', 'authenticate'] as const;

const CHANNELS = ['top', 'player'] as const;
/** Channels of the contract that are still to come. */
const CHANNELS_TO_COME = ['range', 'friends', 'guilds'];
const SCOPE_PATTERN = /^[a-z][a-z0-9-]*(:.{1,128})?$/;

function IsOpaqueId(): PropertyDecorator {
  return ValidateBy({
    name: 'isOpaqueId',
    validator: {
      validate: (value) => typeof value === 'string' && faultOfOpaqueId(value) === null,
      defaultMessage: (args) =>
        `playerId ${typeof args?.value === 'string' ? faultOfOpaqueId(args.value) : 'must be a string'}`,
    },
  });
}

class IdentifiedMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(SUBSCRIPTION_ID_LENGTH_MAX)
  id!: string;
}

class ChannelMessage extends IdentifiedMessage {
  @Matches(new RegExp(NAMED_ID_PATTERN), { message: 'board must be the id of a board' })
  board!: string;

  @IsOptional()
  @IsString()
  @MaxLength(64)
  window?: string;

  @IsOptional()
  @IsIn(['global'])
  scope?: 'global';

  @IsIn(CHANNELS)
  channel!: (typeof CHANNELS)[number];
}

class TopMessage extends ChannelMessage {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(PUSH_TOP_MAX)
  limit?: number;
}

class PlayerMessage extends ChannelMessage {
  @IsOpaqueId()
  playerId!: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(AROUND_MAX)
  around?: number;
}

class TopResumeMessage extends TopMessage {
  @IsInt()
  @Min(0)
  @Max(SEQ_MAX)
  seq!: number;
}

class PlayerResumeMessage extends PlayerMessage {
  @IsInt()
  @Min(0)
  @Max(SEQ_MAX)
  seq!: number;
}

class AuthenticateMessage {
  @IsString()
  type!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(TOKEN_LENGTH_MAX)
  token!: string;
}

/** What a subscription asks for, with defaults filled in. */
export type SubscribeRequest = {
  board: string;
  /** As the client wrote it: `daily` means whatever day is running when it is looked up. */
  window: string | undefined;
} & ({ channel: 'top'; limit: number | null } | { channel: 'player'; playerId: string; around: number });

/** A message with what the adapter found wrong with it, for the handler that answers such. */
export interface RefusedMessage {
  id: string | undefined;
  error: LadderError;
}

/** A frame of a client as the Nest adapter wants it: `event` names the handler. */
export type ParsedFrame =
  | { event: (typeof CLIENT_MESSAGES)[number]; data: Record<string, unknown> }
  | { event: 'refused'; data: RefusedMessage };

/** Reads a frame; whatever is wrong with it becomes a `refused` message, so that each frame is answered. */
export function parseFrame(frame: Buffer | ArrayBuffer | Buffer[] | string, bytesMax: number): ParsedFrame {
  const text =
    Buffer.isBuffer(frame) || typeof frame === 'string' ? frame : Buffer.concat([frame].flat().map(toBuffer));
  if (Buffer.byteLength(text) > bytesMax) {
    return refused(undefined, new LadderError('PAYLOAD_TOO_LARGE', `A message may have at most ${bytesMax} bytes.`));
  }
  let message: unknown;
  try {
    message = JSON.parse(text.toString());
  } catch {
    return refused(undefined, new LadderError('MALFORMED_JSON', 'A message must be one JSON object in a text frame.'));
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refused(undefined, validationFailed([{ pointer: '', message: 'must be an object' }]));
  }
  const data = message as Record<string, unknown>;
  const event = CLIENT_MESSAGES.find((known) => known === data.type);
  if (event) return { event, data };
  const fault = { pointer: '/type', message: `must be one of ${CLIENT_MESSAGES.join(', ')}` };
  return refused(idOf(data), validationFailed([fault]));
}

/** The id to name in an answer; undefined when the message has none that could be a subscription's. */
export function idOf(data: Record<string, unknown>): string | undefined {
  return typeof data.id === 'string' && data.id.length <= SUBSCRIPTION_ID_LENGTH_MAX ? data.id : undefined;
}

/** @throws VALIDATION_FAILED with every fault, NOT_SUPPORTED for channels and scopes to come */
export function readSubscribe(data: Record<string, unknown>): { id: string; request: SubscribeRequest } {
  refuseWhatIsToCome(data);
  const message = data.channel === 'player' ? validated(PlayerMessage, data) : validated(TopMessage, data);
  return { id: message.id, request: requestOf(message) };
}

/** @throws VALIDATION_FAILED, NOT_SUPPORTED */
export function readResume(data: Record<string, unknown>): { id: string; request: SubscribeRequest; seq: number } {
  refuseWhatIsToCome(data);
  const message = data.channel === 'player' ? validated(PlayerResumeMessage, data) : validated(TopResumeMessage, data);
  return { id: message.id, request: requestOf(message), seq: message.seq };
}

/** @throws VALIDATION_FAILED */
export const readUnsubscribe = (data: Record<string, unknown>): string => validated(IdentifiedMessage, data).id;

/** @throws VALIDATION_FAILED */
export const readAuthenticate = (data: Record<string, unknown>): string => validated(AuthenticateMessage, data).token;

function requestOf(message: TopMessage | PlayerMessage): SubscribeRequest {
  const { board, window } = message;
  return message instanceof PlayerMessage
    ? { board, window, channel: 'player', playerId: message.playerId, around: message.around ?? AROUND_DEFAULT }
    : { board, window, channel: 'top', limit: message.limit ?? null };
}

/** The rows that a top subscription shows: as asked, or ten, or what the board pushes if that is less. */
export function topLimitOf(limit: number | null, pushTop: number): number {
  if (limit !== null && limit > pushTop) {
    const message = `must be at most ${pushTop}, what this board pushes (push.top)`;
    throw validationFailed([{ pointer: '/limit', message }]);
  }
  return limit ?? Math.min(TOP_DEFAULT, pushTop);
}

function refuseWhatIsToCome({ channel, scope }: Record<string, unknown>): void {
  if (typeof channel === 'string' && CHANNELS_TO_COME.includes(channel)) {
    throw new LadderError('NOT_SUPPORTED', `The channel "${channel}" is not built yet.`, { option: 'channel' });
  }
  if (typeof scope === 'string' && scope !== 'global' && SCOPE_PATTERN.test(scope)) {
    throw new LadderError('NOT_SUPPORTED', `The scope "${scope}" is not built yet.`, { option: 'scope' });
  }
}

function validated<T extends object>(type: new () => T, data: Record<string, unknown>): T {
  const message = plainToInstance(type, data);
  const errors = validateSync(message, { whitelist: true, forbidNonWhitelisted: true });
  if (errors.length > 0) throw validationFailed(errors.map(faultOf));
  return message;
}

function faultOf({ property, constraints = {} }: ValidationError): { pointer: string; message: string } {
  const pointer = `/${escapePointer(property)}`;
  if ('whitelistValidation' in constraints) return { pointer, message: 'is not a field of this message' };
  const text = Object.values(constraints)[0] ?? 'is not valid';
  return { pointer, message: text.startsWith(`${property} `) ? text.slice(property.length + 1) : text };
}

const refused = (id: string | undefined, error: LadderError): ParsedFrame => ({
  event: 'refused',
  data: { id, error },
});

const toBuffer = (part: Buffer | ArrayBuffer): Buffer => (Buffer.isBuffer(part) ? part : Buffer.from(part));
