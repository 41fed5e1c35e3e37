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
import {
  BoardCatalog,
  Lanes,
  Ledger,
  LedgerClock,
  MetadataBoards,
  PostgresDatabase,
  ScopeCatalog,
  WindowCatalog,
} from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { AnsweredVersions, RankProjection, SketchCache, SnapshotStore } from '@laddercast/projections';
import {
  EntriesPlaces,
  EntryDetails,
  ExportRows,
  ExportWindowHandler,
  GetEntriesAroundHandler,
  GetEntriesHandler,
  GetHistoryHandler,
  GetPercentilesHandler,
  GetPlayerHandler,
  GetRankOfScoreHandler,
  ProposeBoundariesHandler,
  GetStandingsHandler,
  GetWindowsHandler,
  ListReader,
  ListResolver,
  LookupPlayersHandler,
  OpenEntriesHandler,
  ReadCursorHandler,
  SnapshotCache,
  StablePages,
} from '@laddercast/queries';
import type { Provider } from '@nestjs/common';
import { circleHandlers } from './circle.providers.js';
import { ExtensionRegistry } from '../extension-registry.js';
import { layoutApiProviders } from './layout.providers.js';
import { peopleApiProviders } from './people.providers.js';
import { recoveryApiProviders } from './recovery.providers.js';
import { windowApiProviders } from './window.providers.js';
import { scoreIntakeProvider } from './score-intake.providers.js';

/** What a process with the role `api` adds: the ledger's lanes, and the handlers of commands and queries. */
export const apiProviders: Provider[] = [
  {
    provide: Ledger,
    inject: [PostgresDatabase, WindowCatalog, ScopeCatalog, Lanes, Environment],
    useFactory: (
      database: PostgresDatabase,
      windows: WindowCatalog,
      scopes: ScopeCatalog,
      lanes: Lanes,
      environment: Environment,
    ) =>
      new Ledger(database, { windows, scopes, metadata: new MetadataBoards(database) }, lanes, {
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
    inject: [RankProjection, WindowCatalog, SketchCache, AnsweredVersions, LedgerClock],
    useFactory: (
      projection: RankProjection,
      windows: WindowCatalog,
      sketches: SketchCache,
      answered: AnsweredVersions,
      clock: LedgerClock,
    ) => new SubmissionRanks(projection, windows, sketches, answered, clock),
  },
  { provide: AnsweredVersions, useFactory: () => new AnsweredVersions() },
  {
    provide: SnapshotCache,
    inject: [SnapshotStore],
    useFactory: (store: SnapshotStore) => new SnapshotCache(store),
  },
  {
    provide: ListReader,
    inject: [ListResolver, EntryDetails, SnapshotCache, AnsweredVersions],
    useFactory: (resolver: ListResolver, details: EntryDetails, snapshots: SnapshotCache, answered: AnsweredVersions) =>
      new ListReader(resolver, details, snapshots, answered),
  },
  {
    provide: EntriesPlaces,
    inject: [GetPlayerHandler],
    useFactory: (players: GetPlayerHandler) => new EntriesPlaces(players),
  },
  { provide: StablePages, inject: [ListReader], useFactory: (reader: ListReader) => new StablePages(reader) },
  {
    provide: ExportRows,
    inject: [PostgresDatabase, ScopeCatalog, ExtensionRegistry],
    useFactory: (database: PostgresDatabase, scopes: ScopeCatalog, registry: ExtensionRegistry) =>
      new ExportRows(database, scopes, () => registry.enricher),
  },
  scoreIntakeProvider,
  SubmitScoreHandler,
  SubmitScoresHandler,
  PutBoardHandler,
  DeleteBoardHandler,
  ResetBoardHandler,
  OverrideEntryHandler,
  ExportWindowHandler,
  GetEntriesAroundHandler,
  GetEntriesHandler,
  GetHistoryHandler,
  GetPercentilesHandler,
  OpenEntriesHandler,
  ReadCursorHandler,
  GetPlayerHandler,
  GetRankOfScoreHandler,
  ProposeBoundariesHandler,
  GetStandingsHandler,
  GetWindowsHandler,
  LookupPlayersHandler,
  ...circleHandlers,
  ...peopleApiProviders,
  ...windowApiProviders,
  ...layoutApiProviders,
  ...recoveryApiProviders,
];
