import type { Announcement, Announcements } from '@laddercast/projections';
import { Following } from '../publishing/following.js';
import type { LiveFeeds } from './live-feeds.js';
import { RateLimitedLog } from '../rate-limited-log.js';
import type { SnapshotTick } from '../publishing/snapshot-tick.js';

/** Changes of names that come at once are read anew once; what is shown is that much older. */
const GATHER_FOR_MS = 100;

/** Whose names changed; null: anybody's may have. */
interface Changed {
  players: Set<string> | null;
  guilds: Set<string> | null;
}

/** What is announced to all processes, for the lists that this gateway follows: new names, and windows that closed. */
export class LiveNews {
  private readonly following: Following;
  private changed = nothingChanged();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    announcements: Announcements,
    private readonly feeds: LiveFeeds,
    private readonly tick: SnapshotTick,
  ) {
    const follow = () => announcements.onAnnounced((announcement) => this.hear(announcement));
    this.following = new Following('Announcements', follow, new RateLimitedLog(LiveNews.name));
  }

  start(): void {
    this.following.start();
  }

  async stop(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.following.stop();
  }

  private hear(announcement: Announcement | null): void {
    if (announcement === null) {
      for (const isGuild of [false, true]) this.tick.forget(null, isGuild);
      this.changed = { players: null, guilds: null };
      void this.feeds.lookForClosed();
    } else if (announcement.kind === 'window-closed') {
      return this.feeds.windowClosed(announcement.windowUid);
    } else {
      this.tick.forget(announcement.ids, announcement.isGuild);
      const changed = announcement.isGuild ? this.changed.guilds : this.changed.players;
      for (const id of announcement.ids) changed?.add(id);
    }
    this.timer ??= setTimeout(() => this.readAnew(), GATHER_FOR_MS);
  }

  private readAnew(): void {
    this.timer = null;
    const { players, guilds } = this.changed;
    this.changed = nothingChanged();
    for (const feed of this.feeds.all()) void feed.playersChanged(feed.isOfGuilds ? guilds : players);
  }
}

const nothingChanged = (): Changed => ({ players: new Set(), guilds: new Set() });
