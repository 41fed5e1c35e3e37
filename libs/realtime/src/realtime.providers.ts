import { LedgerClock, WindowCatalog } from '@laddercast/ledger';
import { Announcements, SnapshotStore, TraceNotes } from '@laddercast/projections';
import { CircleMembers, EntryDetails, ListResolver, RankEstimates } from '@laddercast/queries';
import type { Provider } from '@nestjs/common';
import { Admission } from './connection/admission.js';
import { LiveFeeds } from './feeds/live-feeds.js';
import { GatewayAnnouncements } from './feeds/gateway-announcements.js';
import { LiveOptions } from './live-options.js';
import { LiveStats } from './live-stats.js';
import { LiveSubscriptions } from './gateway/live-subscriptions.js';
import { RankDeltaPublisher } from './publishing/rank-delta.publisher.js';
import { RankGateway } from './gateway/rank.gateway.js';
import { SketchPublisher } from './publishing/sketch.publisher.js';
import { SnapshotTick } from './publishing/snapshot-tick.js';
import { TickSlots } from './publishing/tick-slots.js';
import { WatchBudget } from './channels/watch-budget.js';

const snapshotTick: Provider = {
  provide: SnapshotTick,
  inject: [SnapshotStore, EntryDetails, { token: TraceNotes, optional: true }],
  useFactory: (store: SnapshotStore, details: EntryDetails, notes: TraceNotes | undefined) =>
    new SnapshotTick(store, details, notes),
};

/** What a process that ticks lists provides; {@link TickSlots} comes from outside. Call `start()` and `stop()` on the publishers. */
export const publisherProviders: Provider[] = [
  snapshotTick,
  {
    provide: RankDeltaPublisher,
    inject: [SnapshotStore, ListResolver, SnapshotTick, TickSlots, Announcements],
    useFactory: (
      store: SnapshotStore,
      resolver: ListResolver,
      tick: SnapshotTick,
      slots: TickSlots,
      announcements: Announcements,
    ) => new RankDeltaPublisher(store, resolver, tick, slots, announcements),
  },
  SketchPublisher,
];

/**
 * What a process that serves `/v1/live` provides; {@link LiveOptions}, {@link LiveOrigins}, the limits and the catalogues
 * come from outside.
 */
export const gatewayProviders: Provider[] = [
  snapshotTick,
  LiveStats,
  {
    provide: LiveFeeds,
    inject: [
      SnapshotTick,
      SnapshotStore,
      EntryDetails,
      CircleMembers,
      RankEstimates,
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
      windows: WindowCatalog,
      clock: LedgerClock,
      { watchedChannelsMax, watchedMembersMax, estimatedPlayersMax, pollEveryMs }: LiveOptions,
    ) => {
      const channels = new WatchBudget(watchedChannelsMax, 'players, ranges and circles');
      const circleMembers = new WatchBudget(watchedMembersMax, 'members of circles');
      const estimatedPlayers = new WatchBudget(estimatedPlayersMax, 'players');
      const budgets = { channels, circleMembers, estimatedPlayers };
      return new LiveFeeds({ clock, store, details, tick, members, estimates, ...budgets }, windows, pollEveryMs);
    },
  },
  {
    provide: GatewayAnnouncements,
    inject: [Announcements, LiveFeeds, SnapshotTick],
    useFactory: (announcements: Announcements, feeds: LiveFeeds, tick: SnapshotTick) =>
      new GatewayAnnouncements(announcements, feeds, tick),
  },
  LiveSubscriptions,
  Admission,
  RankGateway,
];
