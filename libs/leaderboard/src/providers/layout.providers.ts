import { RebuildBoardHandler } from '@laddercast/commands';
import { BoardCatalog, BoardLayouts, PostgresDatabase, PostgresLeases } from '@laddercast/ledger';
import {
  CommittedPositions,
  LayoutBuilder,
  LayoutGrowth,
  LayoutRemover,
  LayoutSchedule,
  ProjectionStore,
  RankProjection,
  type LayoutNews,
} from '@laddercast/projections';
import { Logger, type Provider } from '@nestjs/common';

/** What becomes of generations of lists, in every process. */
export const layoutProviders: Provider[] = [BoardLayouts];

export const layoutApiProviders: Provider[] = [RebuildBoardHandler];

/** @param holder names this process among the holders of leases */
export const layoutProjectorProviders = (holder: string): Provider[] => [
  {
    provide: LayoutSchedule,
    inject: [
      PostgresDatabase,
      BoardCatalog,
      BoardLayouts,
      RankProjection,
      ProjectionStore,
      CommittedPositions,
      PostgresLeases,
    ],
    useFactory: (
      database: PostgresDatabase,
      boards: BoardCatalog,
      layouts: BoardLayouts,
      projection: RankProjection,
      store: ProjectionStore,
      committed: CommittedPositions,
      leases: PostgresLeases,
    ) => {
      const log = new Logger('layouts');
      const onFailure = (error: unknown): void => log.warn(`A board's lists wait: ${(error as Error).message}`);
      const onNews = (news: LayoutNews): void =>
        log.log({ msg: `board ${news.board}, generation ${news.generation}: ${news.step}`, ...news });
      const parts = { database, boards, layouts, projection };
      const builder = new LayoutBuilder({ ...parts, committed }, { onNews, onFailure });
      const remover = new LayoutRemover(parts, { onFailure });
      const onNoRoom = (board: string, memoryUse: number): void =>
        log.warn({ msg: 'A board waits for memory of Redis to have its lists made anew, larger.', board, memoryUse });
      const growth = new LayoutGrowth({ ...parts, store }, { onNoRoom });
      return new LayoutSchedule(builder, remover, growth, leases, { holder, onFailure });
    },
  },
];
