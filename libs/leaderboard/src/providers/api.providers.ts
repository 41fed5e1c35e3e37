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
import { BoardCatalog, Ledger, PostgresDatabase, ScopeCatalog } from '@laddercast/ledger';
import { AnsweredVersions, SnapshotStore } from '@laddercast/projections';
import {
  EntriesPlaces,
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
  Ledger,
  {
    provide: ScoreSubmitter,
    inject: [BoardCatalog, Ledger, ExtensionRegistry],
    useFactory: (boards: BoardCatalog, ledger: Ledger, registry: ExtensionRegistry) =>
      new ScoreSubmitter(boards, ledger, () => registry.checks),
  },
  SubmissionRanks,
  { provide: AnsweredVersions, useFactory: () => new AnsweredVersions() },
  {
    provide: SnapshotCache,
    inject: [SnapshotStore],
    useFactory: (store: SnapshotStore) => new SnapshotCache(store),
  },
  ListReader,
  EntriesPlaces,
  StablePages,
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
