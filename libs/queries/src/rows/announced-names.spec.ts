import { Announcements, type Announcement } from '@laddercast/projections';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AnnouncedNames } from './announced-names.js';
import { EntryDetails } from './entry-details.js';

/** Announcements within this test; fails to subscribe as often as it is told. */
class MemoryAnnouncements extends Announcements {
  failures = 0;
  private readonly listeners = new Set<(announcement: Announcement | null) => void>();

  get heardBy(): number {
    return this.listeners.size;
  }

  announce(announcement: Announcement | null): Promise<void> {
    for (const listener of this.listeners) listener(announcement);
    return Promise.resolve();
  }

  onAnnounced(listener: (announcement: Announcement | null) => void): Promise<() => Promise<void>> {
    if (this.failures > 0) {
      this.failures -= 1;
      return Promise.reject(new Error('away'));
    }
    this.listeners.add(listener);
    return Promise.resolve(() => Promise.resolve(void this.listeners.delete(listener)));
  }
}

class RememberedDetails extends EntryDetails {
  readonly forgotten: [readonly string[] | null, boolean][] = [];

  override forget(ids: readonly string[] | null, isGuild: boolean): void {
    this.forgotten.push([ids, isGuild]);
  }
}

const ALL: [null, boolean][] = [
  [null, false],
  [null, true],
];

describe('names of others', () => {
  let announcements: MemoryAnnouncements;
  let details: RememberedDetails;
  let names: AnnouncedNames;

  beforeEach(() => {
    announcements = new MemoryAnnouncements();
    details = new RememberedDetails({ query: () => Promise.resolve([]) }, () => null);
    names = new AnnouncedNames(announcements, details);
  });
  afterEach(() => names.stop());

  it('are forgotten when they are announced, and all of them when something may have been missed', async () => {
    names.start();
    await delay(1);
    expect(details.forgotten.splice(0)).toEqual(ALL);
    await announcements.announce({ kind: 'players', ids: ['ada', 'bob'], isGuild: false });
    await announcements.announce({ kind: 'players', ids: ['red'], isGuild: true });
    await announcements.announce({ kind: 'window-closed', boardUid: 1, windowUid: 2 });
    expect(details.forgotten.splice(0)).toEqual([
      [['ada', 'bob'], false],
      [['red'], true],
    ]);
    await announcements.announce(null);
    expect(details.forgotten).toEqual(ALL);
  });

  it('are followed as soon as that can be done, until they are not wanted any more', async () => {
    announcements.failures = 1;
    names.start();
    await delay(1);
    expect(announcements.heardBy).toBe(0);
    await expect.poll(() => announcements.heardBy, { timeout: 3000 }).toBe(1);
    await names.stop();
    expect(announcements.heardBy).toBe(0);
  });
});
