import { IdentityModule } from '@laddercast/identity';
import { LedgerClock, LedgerModule, LedgerProjectorModule, WindowCatalog } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { ProjectionsModule, SnapshotStore } from '@laddercast/projections';
import { CircleMembers, EntryDetails, OwnWorlds, QueriesModule, RankEstimates } from '@laddercast/queries';
import { Module, type Provider } from '@nestjs/common';
import { WatchBudget } from './channels/watch-budget.js';
import { Admission } from './connection/admission.js';
import { LiveOrigins } from './connection/live-origins.js';
import { GatewayAnnouncements } from './feeds/gateway-announcements.js';
import { LiveFeeds } from './feeds/live-feeds.js';
import { RatingWatches } from './feeds/rating-watches.js';
import { SubscriptionLifecycle } from './gateway/subscription-lifecycle.js';
import { RankGateway } from './gateway/rank.gateway.js';
import { LiveOptions } from './live-options.js';
import { LiveStats } from './live-stats.js';
import { LeasedTickSlots } from './publishing/leased-tick-slots.js';
import { RankDeltaPublisher } from './publishing/rank-delta.publisher.js';
import { SketchPublisher } from './publishing/sketch.publisher.js';
import { SnapshotTick } from './publishing/snapshot-tick.js';
import { TickSlots } from './publishing/tick-slots.js';

/** What publishing and serving share: one tick of a list. */
@Module({ imports: [ProjectionsModule, QueriesModule], providers: [SnapshotTick], exports: [SnapshotTick] })
export class TickModule {}

/** What ticks lists. */
@Module({
  imports: [TickModule, LedgerProjectorModule, ProjectionsModule, QueriesModule],
  providers: [
    LeasedTickSlots,
    { provide: TickSlots, useExisting: LeasedTickSlots },
    RankDeltaPublisher,
    SketchPublisher,
  ],
  exports: [LeasedTickSlots, RankDeltaPublisher, SketchPublisher],
})
export class PublisherModule {}

const liveOptions = (environment: Environment): LiveOptions =>
  new LiveOptions({
    subscriptionsMax: environment.SOCKET_SUBSCRIPTIONS_MAX,
    socketsPerPlayerMax: environment.SOCKETS_PER_PLAYER_MAX,
    socketsPerKeyMax: environment.SOCKETS_PER_KEY_MAX,
    socketsPerAddressMax: environment.SOCKETS_PER_ADDRESS_MAX,
    subscriptionsPerPlayerMax: environment.SUBSCRIPTIONS_PER_PLAYER_MAX,
    shadowSocketsMax: environment.SHADOW_SOCKETS_MAX,
  });

/** What serves `/v1/live`; {@link LiveOptions}, {@link LiveOrigins} and what it reads from come from outside. */
export const gatewayProviders: Provider[] = [
  LiveStats,
  {
    provide: LiveFeeds,
    inject: [
      SnapshotTick,
      SnapshotStore,
      EntryDetails,
      CircleMembers,
      RankEstimates,
      OwnWorlds,
      WindowCatalog,
      LedgerClock,
      LiveOptions,
    ],
    useFactory: (
      tick: SnapshotTick,
      store: SnapshotStore,
      details: EntryDetails,
      members: CircleMembers,
      estimates: RankEstimates,
      worlds: OwnWorlds,
      windows: WindowCatalog,
      clock: LedgerClock,
      { watchedChannelsMax, watchedMembersMax, estimatedPlayersMax, pollEveryMs }: LiveOptions,
    ) => {
      const channels = new WatchBudget(watchedChannelsMax, 'players, ranges and circles');
      const circleMembers = new WatchBudget(watchedMembersMax, 'members of circles');
      const estimatedPlayers = new WatchBudget(estimatedPlayersMax, 'players');
      const budgets = { channels, circleMembers, estimatedPlayers };
      const reads = { clock, store, details, tick, members, estimates, worlds, ...budgets };
      return new LiveFeeds(reads, windows, pollEveryMs);
    },
  },
  RatingWatches,
  GatewayAnnouncements,
  SubscriptionLifecycle,
  Admission,
  RankGateway,
];

const options: Provider[] = [
  { provide: LiveOptions, inject: [Environment], useFactory: liveOptions },
  {
    provide: LiveOrigins,
    inject: [Environment],
    useFactory: ({ CORS_ORIGINS }: Environment) => new LiveOrigins(CORS_ORIGINS),
  },
];

/** The WebSocket gateway and its feeds. */
@Module({
  imports: [TickModule, IdentityModule, LedgerModule, ProjectionsModule, QueriesModule],
  providers: [...options, ...gatewayProviders],
  exports: [LiveOptions, LiveStats, LiveFeeds, SubscriptionLifecycle, GatewayAnnouncements],
})
export class GatewayModule {}
