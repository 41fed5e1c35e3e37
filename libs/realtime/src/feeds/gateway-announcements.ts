import { type Announcement, Announcements } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { LiveFeeds } from './live-feeds.js';
import { RatingWatches } from './rating-watches.js';
import { SnapshotTick } from '../publishing/snapshot-tick.js';

/** How long changes of names are gathered, so that they are read once; rows are that much older. */
const GATHER_FOR_MS = 100;

/** The ids whose names changed; null: any may have. */
interface Changed {
  players: Set<string> | null;
  guilds: Set<string> | null;
}

/** Brings announcements to what this gateway follows: new names, windows that closed or whose standings
 * were revised, and ratings that changed. */
@Injectable()
export class GatewayAnnouncements {
  private unfollow: (() => void) | null = null;
  private changed = nothingChanged();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly announcements: Announcements,
    private readonly feeds: LiveFeeds,
    private readonly ratings: RatingWatches,
    private readonly tick: SnapshotTick,
  ) {}

  start(): void {
    this.ratings.start();
    this.unfollow ??= this.announcements.onAnnounced((announcement) => this.hear(announcement));
  }

  stop(): void {
    this.unfollow?.();
    this.ratings.stop();
    if (this.timer) clearTimeout(this.timer);
  }

  private hear(announcement: Announcement | null): void {
    this.tick.hear(announcement);
    this.ratings.hear(announcement);
    if (announcement === null) {
      this.changed = { players: null, guilds: null };
      void this.feeds.lookForClosed();
    } else if (announcement.kind === 'window-closed') {
      return this.feeds.windowClosed(announcement.windowUid);
    } else if (announcement.kind === 'standings-revised') {
      return this.feeds.standingsRevised(announcement.windowUid);
    } else if (announcement.kind === 'ratings') {
      return;
    } else {
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
