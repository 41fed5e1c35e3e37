import { sleep } from '@laddercast/platform';
import type { Announcement, Announcements } from '@laddercast/projections';
import { Logger } from '@nestjs/common';
import type { EntryDetails } from './entry-details.js';

const SUBSCRIBE_AGAIN_MS = 1000;

/** Has this process forget names and listings as soon as it is announced that they changed. */
export class AnnouncedNames {
  private readonly log = new Logger(AnnouncedNames.name);
  private readonly stopped = new AbortController();
  private following: Promise<void> | null = null;

  constructor(
    private readonly announcements: Announcements,
    private readonly details: EntryDetails,
  ) {}

  /** Follows until {@link stop}; a store that is away is tried again every second. */
  start(): void {
    this.following ??= this.follow();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.following;
  }

  private async follow(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      try {
        const unsubscribe = await this.announcements.onAnnounced((announcement) => this.hear(announcement));
        // What was announced before may have been missed.
        this.hear(null);
        await aborted(this.stopped.signal);
        await unsubscribe().catch(() => undefined);
      } catch (error) {
        this.log.warn(`Changes of names cannot be followed yet: ${String(error)}`);
        await sleep(SUBSCRIBE_AGAIN_MS, this.stopped.signal);
      }
    }
  }

  private hear(announcement: Announcement | null): void {
    if (announcement === null) {
      this.details.forget(null, false);
      this.details.forget(null, true);
    } else if (announcement.kind === 'players') {
      this.details.forget(announcement.ids, announcement.isGuild);
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
