import { InSchema } from '@laddercast/commands';
import { IsInt, Max, Min } from 'class-validator';
import { validated, type ChannelMessage, type RatingMessage, type WatchMessage } from '../protocol/client-messages.js';
import type { ChannelKind } from './channel-kind.js';
import { friendsChannel } from './friends-channel.js';
import { guildsChannel } from './guilds-channel.js';
import { playerChannel } from './player-channel.js';
import { rangeChannel } from './range-channel.js';
import { ratingChannel } from './rating-channel.js';
import { topChannel } from './top-channel.js';

/** Every channel of lists by its name. A new one is a file beside this one, and a row here. */
export const CHANNELS: Readonly<Record<string, ChannelKind>> = {
  top: topChannel,
  player: playerChannel,
  range: rangeChannel,
  friends: friendsChannel,
  guilds: guildsChannel,
};

type SubscribeMessage = ChannelMessage | RatingMessage;
type ResumeMessage = SubscribeMessage & { seq: number };

/** What clients send for each channel, and what the channel shows. */
export const WATCHES: Readonly<Record<string, { message: new () => SubscribeMessage; description: string }>> = {
  ...CHANNELS,
  rating: ratingChannel,
};

const NAMES = Object.keys(WATCHES);
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

function resumeOf(message: new () => WatchMessage): new () => ResumeMessage {
  abstract class Resume extends message {
    @IsInt()
    @Min(0)
    @Max(SEQ_MAX)
    @InSchema({ description: 'Grows with every change, with gaps, and never repeats' })
    seq!: number;
  }
  return Resume as unknown as new () => ResumeMessage;
}

const SUBSCRIBES = new Map(NAMES.map((name) => [name, WATCHES[name]!.message]));
const RESUMES = new Map([...SUBSCRIBES].map(([name, message]) => [name, resumeOf(message)]));

/** The classes of requests for a channel, by the type of the message and the channel. */
export const CHANNEL_MESSAGES = { subscribe: SUBSCRIBES, resume: RESUMES } as const;

/** @throws VALIDATION_FAILED with every fault */
export const readSubscribe = (data: Record<string, unknown>): SubscribeMessage => readChannel(SUBSCRIBES, data);

/** @throws VALIDATION_FAILED with every fault */
export const readResume = (data: Record<string, unknown>): ResumeMessage => readChannel(RESUMES, data);

function readChannel<T extends object>(messages: ReadonlyMap<string, new () => T>, data: Record<string, unknown>): T {
  const known = messages.get(data['channel'] as string);
  if (known) return validated(known, data);
  // Any class reports the faults of the fields that all classes share.
  const fault = { pointer: '/channel', message: `must be one of the following values: ${NAMES.join(', ')}` };
  return validated(messages.get(NAMES[0]!)!, data, [fault]);
}
