import { Injectable, Logger, Optional } from '@nestjs/common';
import { Announcements, type Announcement } from './announcements.js';
import { RedisConnection } from './redis-connection.js';
import { ANNOUNCEMENTS_CHANNEL } from './redis-keys.js';
import { RedisSubscription } from './redis-subscription.js';

/** The most ids of one message: some 70 kB of the longest. */
const IDS_PER_MESSAGE_MAX = 500;

/** Announcements by PUBLISH: whoever is connected hears them, and whoever was not hears that something may be missed. */
@Injectable()
export class RedisAnnouncements extends Announcements {
  private readonly subscription: RedisSubscription<Announcement | null>;

  /** @param onError told of failures of the subscription's own connection, which repairs itself, and of listeners */
  constructor(
    private readonly redis: RedisConnection,
    @Optional() onError: (error: Error) => void = warn,
  ) {
    super();
    const channel = ANNOUNCEMENTS_CHANNEL;
    this.subscription = new RedisSubscription(redis, { channel, read: announcementOf, whenMissed: null, onError });
  }

  async announce(announcement: Announcement): Promise<void> {
    for (const message of messagesOf(announcement)) {
      await this.redis.command('PUBLISH', this.subscription.channel, JSON.stringify(message));
    }
  }

  onAnnounced(listener: (announcement: Announcement | null) => void): () => void {
    return this.subscription.add(listener);
  }
}

const KINDS: readonly string[] = ['players', 'ratings', 'window-closed', 'standings-revised'];

function messagesOf(announcement: Announcement): Announcement[] {
  if (announcement.kind === 'window-closed' || announcement.kind === 'standings-revised') return [announcement];
  const messages: Announcement[] = [];
  for (let at = 0; at < announcement.ids.length; at += IDS_PER_MESSAGE_MAX) {
    messages.push({ ...announcement, ids: announcement.ids.slice(at, at + IDS_PER_MESSAGE_MAX) });
  }
  return messages;
}

/** Undefined for what only a later release can read. @throws on what no release says */
function announcementOf(message: string): Announcement | undefined {
  const { kind, ids, isGuild, ofSanctions, poolUid, boardUid, windowUid } = JSON.parse(message) as Record<
    string,
    unknown
  >;
  if (kind === 'players' && Array.isArray(ids) && typeof isGuild === 'boolean') {
    return { kind, ids, isGuild, ...(ofSanctions === true && { ofSanctions }) };
  }
  if (kind === 'ratings' && Array.isArray(ids) && Number.isInteger(poolUid)) {
    return { kind, ids, poolUid: poolUid as number };
  }
  const isOfWindow = kind === 'window-closed' || kind === 'standings-revised';
  if (isOfWindow && Number.isInteger(boardUid) && Number.isInteger(windowUid)) {
    return { kind, boardUid: boardUid as number, windowUid: windowUid as number };
  }
  if (typeof kind === 'string' && !KINDS.includes(kind)) return undefined;
  throw new Error(`No announcement: ${message.slice(0, 200)}`);
}

const log = new Logger('redis');
const warn = (error: Error): void => log.warn(`Announcements: ${error.message}`);
