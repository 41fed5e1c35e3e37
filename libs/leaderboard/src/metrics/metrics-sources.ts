import { Ledger, PostgresDatabase } from '@laddercast/ledger';
import { metrics, sleep } from '@laddercast/platform';
import { RedisConnection, SketchCache } from '@laddercast/projections';
import { LeasedTickSlots, LiveStats, RankDeltaPublisher } from '@laddercast/realtime';
import type { INestApplicationContext } from '@nestjs/common';
import { collectDefaultMetrics } from 'prom-client';
import { partsOf } from '../parts.js';
import type { Role } from '../roles.js';
import type { MetricsSource } from './metrics-collection.js';

const ANSWER_WITHIN_MS = 900;

/** What a process with these roles says of itself. To be called once in a process. */
export function sourcesOfProcess(app: INestApplicationContext, roles: readonly Role[]): MetricsSource[] {
  const part = partsOf(app);
  collectDefaultMetrics();
  for (const role of roles) metrics.process.set({ role }, 1);
  return [
    // Before the other sources ask for connections.
    poolSource(part(PostgresDatabase)),
    storeSource('postgresql', async () => (await part(PostgresDatabase).query('SELECT 1')).length > 0),
    storeSource('redis', () => part(RedisConnection).answers()),
    ...(roles.includes('api') || roles.includes('projector') ? [laneSource(part(Ledger))] : []),
    ...(roles.includes('projector') ? [tickSource(part(RankDeltaPublisher), part(LeasedTickSlots))] : []),
    ...(roles.includes('gateway') ? [liveSource(part(LiveStats))] : []),
    ...(roles.includes('api') || roles.includes('gateway') ? [sketchSource(part(SketchCache))] : []),
  ];
}

/** Says 0 when there is no answer in time, and asks a store that hangs but once. */
function storeSource(store: string, asks: () => Promise<boolean>): MetricsSource {
  let asking: Promise<boolean> | null = null;
  return {
    name: store,
    read: async () => {
      asking ??= asks()
        .catch(() => false)
        .finally(() => (asking = null));
      const over = new AbortController();
      const answered = await Promise.race([asking, sleep(ANSWER_WITHIN_MS, over.signal).then(() => false)]);
      over.abort();
      metrics.storeUp.set({ store }, answered ? 1 : 0);
    },
  };
}

const poolSource = (database: PostgresDatabase): MetricsSource => ({
  name: 'pool',
  everyMs: 0,
  read: () => {
    const { busy, idle, waiting } = database.pool();
    metrics.postgresConnections.set({ state: 'busy' }, busy);
    metrics.postgresConnections.set({ state: 'idle' }, idle);
    metrics.postgresWaiting.set(waiting);
    metrics.databaseAway.set(database.reach.awaySince === null ? 0 : 1);
  },
});

const laneSource = (ledger: Ledger): MetricsSource => ({
  name: 'lanes',
  everyMs: 0,
  read: () => {
    for (const { lane, waiting } of ledger.waitingByLane()) metrics.laneWaiting.set({ lane }, waiting);
  },
});

function tickSource(publisher: RankDeltaPublisher, slots: LeasedTickSlots): MetricsSource {
  const growth = growthOf();
  return {
    name: 'ticks',
    everyMs: 0,
    read: () => {
      const { lists, advanced, unconfirmedSeconds } = publisher.stats();
      metrics.tickedLists.set(lists);
      metrics.snapshotAgeSeconds.set(unconfirmedSeconds);
      metrics.snapshotsPublished.inc(growth('advanced', advanced));
      metrics.leasesHeld.set({ lease: 'rank-ticks' }, slots.heldCount());
    },
  };
}

function liveSource(stats: LiveStats): MetricsSource {
  const growth = growthOf();
  return {
    name: 'sockets',
    everyMs: 0,
    read: () => {
      metrics.sockets.set(stats.sockets);
      metrics.subscriptions.set(stats.subscriptions);
      metrics.shadowSockets.set(stats.shadowSockets);
      metrics.framesSent.inc(growth('frames', stats.framesSent));
      metrics.deltasDropped.inc(growth('dropped', stats.dropped));
      metrics.readersResynchronised.inc(growth('resynchronised', stats.resynchronised));
      metrics.socketsTerminated.inc(growth('terminated', stats.terminated));
    },
  };
}

const sketchSource = (sketches: SketchCache): MetricsSource => ({
  name: 'sketches',
  everyMs: 0,
  read: () => metrics.sketchAgeSeconds.set(sketches.oldestSeconds()),
});

/** By how much each of some counts has grown since it was asked for the last time. */
function growthOf(): (name: string, count: number) => number {
  const before = new Map<string, number>();
  return (name, count) => {
    const grown = count - (before.get(name) ?? 0);
    before.set(name, count);
    return Math.max(0, grown);
  };
}
