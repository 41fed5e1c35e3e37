import {
  DeleteBoardHandler,
  OverrideEntryHandler,
  PutBoardHandler,
  ResetBoardHandler,
  ScoreSubmitter,
  SubmissionRanks,
  SubmitScoreHandler,
  SubmitScoresHandler,
} from '@laddercast/commands';
import { BoardCatalog, Lanes, Ledger, PostgresDatabase, WindowCatalog } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { RankProjection, SnapshotStore } from '@laddercast/projections';
import {
  EntryDetails,
  GetEntriesHandler,
  GetPlayerHandler,
  GetRankOfScoreHandler,
  ListReader,
  ListResolver,
  LookupPlayersHandler,
  SnapshotCache,
} from '@laddercast/queries';
import type { Provider } from '@nestjs/common';
import { ExtensionRegistry } from './extension-registry.js';

/** What a process with the role `api` adds: the ledger's lanes, and the handlers of commands and queries. */
export const apiProviders: Provider[] = [
  {
    provide: Ledger,
    inject: [PostgresDatabase, WindowCatalog, Lanes, Environment],
    useFactory: (database: PostgresDatabase, windows: WindowCatalog, lanes: Lanes, environment: Environment) =>
      new Ledger(database, windows, lanes, {
        laneQueueMax: environment.LANE_QUEUE_MAX,
        outboxEventsMax: environment.OUTBOX_EVENTS_MAX,
      }),
  },
  {
    provide: ScoreSubmitter,
    inject: [BoardCatalog, Ledger, ExtensionRegistry],
    useFactory: (boards: BoardCatalog, ledger: Ledger, registry: ExtensionRegistry) =>
      new ScoreSubmitter(boards, ledger, () => registry.checks),
  },
  {
    provide: SubmissionRanks,
    inject: [RankProjection],
    useFactory: (projection: RankProjection) => new SubmissionRanks(projection),
  },
  {
    provide: SnapshotCache,
    inject: [SnapshotStore, RankProjection],
    useFactory: (store: SnapshotStore, projection: RankProjection) => new SnapshotCache(store, projection),
  },
  {
    provide: ListReader,
    inject: [ListResolver, RankProjection, EntryDetails, SnapshotCache],
    useFactory: (resolver: ListResolver, projection: RankProjection, details: EntryDetails, snapshots: SnapshotCache) =>
      new ListReader(resolver, projection, details, snapshots),
  },
  SubmitScoreHandler,
  SubmitScoresHandler,
  PutBoardHandler,
  DeleteBoardHandler,
  ResetBoardHandler,
  OverrideEntryHandler,
  GetEntriesHandler,
  GetPlayerHandler,
  GetRankOfScoreHandler,
  LookupPlayersHandler,
];
