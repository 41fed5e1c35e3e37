import { SketchBuilder, type SketchCache } from '@laddercast/projections';
import { AllTickSlots, RankDeltaPublisher, SketchPublisher, SnapshotTick } from '@laddercast/realtime';
import { OwnWorlds, type ListNames } from '@laddercast/queries';
import { afterEach, beforeEach } from 'vitest';
import { ListWriter, TestBoards, TestFriends, TestProfiles } from './boards.js';
import { estimatesOver } from './estimates.js';
import { LiveClient } from './follower.js';
import { assertMatchesAsyncApi } from './frame-schemas.js';
import { startLiveApp, type LiveApp, type LiveSetUp } from './live-app.js';
import { MemoryAnnouncements, MemoryRankProjection, MemorySnapshotStore } from './memory-ports.js';
import { TestOwnEntries } from './own-entries.js';
import { MemorySketchStore } from './memory-sketch-store.js';

const push = { intervalMs: 20, top: 100 };

export const topRequest = (id: string, limit?: number) => ({
  type: 'subscribe',
  id,
  board: 'blitz',
  channel: 'top',
  limit,
});

/**
 * A projector's publisher and any number of gateways over ranks in memory, made anew for each test of the file that
 * creates one of these. Boards: `blitz` (public) and `club` (private). Every frame that a client got is checked against the
 * AsyncAPI document when the test ends.
 */
export class MemoryLive {
  projection = new MemoryRankProjection();
  boards = new TestBoards(this.projection);
  store = new MemorySnapshotStore();
  announcements = new MemoryAnnouncements();
  profiles = new TestProfiles(this.announcements);
  friends = new TestFriends();
  own = new TestOwnEntries();
  sketchStore = new MemorySketchStore();
  /** The most marks of a sketch. */
  marksMax = 1000;
  publisher = this.newPublisher();
  apps: LiveApp[] = [];
  private clients: LiveClient[] = [];
  private sketchPublisher: SketchPublisher | null = null;
  private sketches: SketchCache[] = [];

  constructor() {
    beforeEach(() => this.begin());
    afterEach(() => this.end());
  }

  async gateway(options: LiveSetUp = {}): Promise<LiveApp> {
    const { boards, store, announcements } = this;
    const ports = { boards, store, announcements, resolver: boards.resolver, details: this.profiles.details() };
    const { estimates, sketches } = estimatesOver(this.projection, this.sketchStore, this.marksMax);
    sketches.start();
    this.sketches.push(sketches);
    const worlds = new OwnWorlds(this.own);
    const app = await startLiveApp({ ...ports, members: this.friends.members(), estimates, worlds }, options);
    this.apps.push(app);
    return app;
  }

  async connect(...args: Parameters<typeof LiveClient.connect>): Promise<LiveClient> {
    const client = await LiveClient.connect(...args);
    this.clients.push(client);
    return client;
  }

  async writerOf(boardId: string, names: Partial<ListNames> = {}): Promise<ListWriter> {
    this.boards.useScope(names.scope ?? 'global');
    const resolved = await this.boards.resolver.resolve({ boardId, ...names });
    return ListWriter.of(this.projection, resolved);
  }

  /** Publishes sketches from now on, each of so many marks at most. */
  sketch(marksMax: number): void {
    this.marksMax = marksMax;
    const builder = new SketchBuilder(this.projection, this.sketchStore, marksMax);
    this.sketchPublisher = new SketchPublisher(this.sketchStore, builder, this.boards.resolver, new AllTickSlots());
    this.sketchPublisher.start();
  }

  private begin(): void {
    this.projection = new MemoryRankProjection();
    this.boards = new TestBoards(this.projection);
    this.boards.create('blitz', { order: 'desc', operator: 'best', push });
    this.boards.create('club', { order: 'desc', operator: 'best', visibility: 'private', push });
    this.store = new MemorySnapshotStore();
    this.sketchStore = new MemorySketchStore();
    this.marksMax = 1000;
    this.announcements = new MemoryAnnouncements();
    this.profiles = new TestProfiles(this.announcements);
    this.friends = new TestFriends();
    this.own = new TestOwnEntries();
    this.publisher = this.newPublisher();
    this.publisher.start();
    this.apps = [];
    this.clients = [];
  }

  private async end(): Promise<void> {
    for (const client of this.clients) client.socket.terminate();
    await Promise.all(this.apps.map((app) => app.close()));
    await Promise.all([this.publisher, this.sketchPublisher, ...this.sketches].map((one) => one?.stop()));
    this.sketchPublisher = null;
    this.sketches = [];
    for (const frame of this.clients.flatMap(({ frames, pings }) => [...frames, ...pings]))
      assertMatchesAsyncApi(frame);
  }

  private newPublisher(): RankDeltaPublisher {
    const tick = new SnapshotTick(this.store, this.profiles.details());
    return new RankDeltaPublisher(this.store, this.boards.resolver, tick, new AllTickSlots(), this.announcements);
  }
}
