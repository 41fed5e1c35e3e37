import { type Announcement, Announcements } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { LiveFeeds } from './live-feeds.js';
import { SnapshotTick } from '../publishing/snapshot-tick.js';

/** How long changes of names are gathered, so that they are read once; rows are that much older. */
const GATHER_FOR_MS = 100;

/** The ids whose names changed; null: any may have. */
interface Changed {
  players: Set<string> | null;
  guilds: Set<string> | null;
}

/** Brings announcements to the lists that this gateway follows: new names, and windows that closed. */
@Injectable()
export class GatewayAnnouncements {
  private unfollow: (() => void) | null = null;
  private changed = nothingChanged();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly announcements: Announcements,
    private readonly feeds: LiveFeeds,
    private readonly tick: SnapshotTick,
  ) {}

  start(): void {
    this.unfollow ??= this.announcements.onAnnounced((announcement) => this.hear(announcement));
  }

  stop(): void {
    this.unfollow?.();
    if (this.timer) clearTimeout(this.timer);
  }

  private hear(announcement: Announcement | null): void {
    this.tick.hear(announcement);
    if (announcement === null) {
      this.changed = { players: null, guilds: null };
      void this.feeds.lookForClosed();
    } else if (announcement.kind === 'window-closed') {
      return this.feeds.windowClosed(announcement.windowUid);
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
