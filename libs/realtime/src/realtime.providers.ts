import type { Provider } from '@nestjs/common';
import { Authenticator } from '@laddercast/commands';
import { RankProjection, SnapshotStore } from '@laddercast/projections';
import { EntryDetails, ListResolver } from '@laddercast/queries';
import { LiveFeeds } from './live-feeds.js';
import { LiveOptions } from './live-options.js';
import { LiveStats } from './live-stats.js';
import { LiveSubscriptions } from './live-subscriptions.js';
import { RankDeltaPublisher } from './rank-delta.publisher.js';
import { RankGateway } from './rank.gateway.js';
import { SnapshotTick } from './snapshot-tick.js';
import { TickSlots } from './tick-slots.js';
import { WatchBudget } from './watched-players.js';

const snapshotTick: Provider = {
  provide: SnapshotTick,
  inject: [RankProjection, SnapshotStore, EntryDetails],
  useFactory: (projection: RankProjection, store: SnapshotStore, details: EntryDetails) =>
    new SnapshotTick(projection, store, details),
};

/** What a process that ticks lists provides; {@link TickSlots} comes from outside. Call `start()` and `stop()` on the publisher. */
export const publisherProviders: Provider[] = [
  snapshotTick,
  {
    provide: RankDeltaPublisher,
    inject: [SnapshotStore, ListResolver, SnapshotTick, TickSlots],
    useFactory: (store: SnapshotStore, resolver: ListResolver, tick: SnapshotTick, slots: TickSlots) =>
      new RankDeltaPublisher(store, resolver, tick, slots),
  },
];

/** What a process that serves `/v1/live` provides; {@link LiveOptions} and the catalogues come from outside. */
export const gatewayProviders: Provider[] = [
  snapshotTick,
  LiveStats,
  {
    provide: LiveFeeds,
    inject: [SnapshotStore, RankProjection, EntryDetails, SnapshotTick, LiveOptions],
    useFactory: (
      store: SnapshotStore,
      projection: RankProjection,
      details: EntryDetails,
      tick: SnapshotTick,
      options: LiveOptions,
    ) => {
      const budget = new WatchBudget(options.watchedPlayersMax);
      return new LiveFeeds({ store, projection, details, tick, budget }, options.pollEveryMs);
    },
  },
  {
    provide: LiveSubscriptions,
    inject: [LiveFeeds, ListResolver, Authenticator, LiveOptions, LiveStats],
    useFactory: (
      feeds: LiveFeeds,
      resolver: ListResolver,
      authenticator: Authenticator,
      options: LiveOptions,
      stats: LiveStats,
    ) => new LiveSubscriptions(feeds, resolver, authenticator, options, stats),
  },
  RankGateway,
];
