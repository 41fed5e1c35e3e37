import { withBoardDefaults, type Board, type BoardDefinition, type Layouts } from '@laddercast/domain';
import { PostgresEventLog, type LogSubscription } from '@laddercast/event-log';
import {
  AppliedSessions,
  ApplyEntriesCommand,
  ApplyEntriesHandler,
  LayoutBuilder,
  LayoutRemover,
  LedgerCommittedPositions,
  MarkLaneCommand,
  MarkLaneHandler,
  ProjectionRecovery,
  RangeSweeper,
  rankListOf,
  RedisConnection,
  RedisProjectionStore,
  RedisRankProjection,
  type CommittedPositions,
  WindowLists,
  type LayoutNews,
  type RankList,
  type RestoredLedgerCheck,
} from '@laddercast/projections';
import { ScoreSaga } from '@laddercast/sagas';
import type { CommandBus } from '@nestjs/cqrs';
import { LedgerNode, submissionOf } from './ledger-node.js';

export interface LayoutNodeOptions {
  feedMs?: number;
  keepMs?: number;
  leaseTtlMs?: number;
}

/** A ledger and a projector of one process, by hand: the log is the outbox, and nothing runs that was not asked for. */
export class LayoutNode extends LedgerNode {
  readonly redis: RedisConnection;
  readonly projection: RedisRankProjection;
  readonly committed: LedgerCommittedPositions;
  readonly store: RedisProjectionStore;
  readonly windowLists = new WindowLists(this.database);
  readonly recovery: ProjectionRecovery;
  readonly builder: LayoutBuilder;
  readonly remover: LayoutRemover;
  readonly log: PostgresEventLog;
  readonly saga: ScoreSaga;
  readonly news: LayoutNews[] = [];
  readonly failures: unknown[] = [];
  private subscription: LogSubscription | null = null;

  constructor(databaseUrl: string, redisUrl: string, options: LayoutNodeOptions = {}) {
    super(databaseUrl);
    const { database, boards, layouts, lanes } = this;
    this.redis = new RedisConnection({ url: redisUrl, commandTimeoutMs: 10_000 });
    this.projection = new RedisRankProjection(this.redis);
    this.store = new RedisProjectionStore(this.redis);
    this.committed = new LedgerCommittedPositions(database);
    const onFailure = (error: unknown): void => void this.failures.push(error);
    const onNews = (news: LayoutNews): void => void this.news.push(news);
    const { projection, committed, windowLists } = this;
    this.builder = new LayoutBuilder(database, boards, layouts, projection, committed, windowLists, {
      onNews,
      onFailure,
      lookEveryMs: 20,
    });
    this.remover = new LayoutRemover(boards, layouts, projection, windowLists, {
      onFailure,
      feedMs: options.feedMs ?? 300,
      keepMs: options.keepMs ?? 2000,
      lookEveryMs: 50,
    });
    this.recovery = this.recoveryWith({ isAhead: async () => false });
    this.log = new PostgresEventLog(database, {
      lanes,
      leaseTtlMs: options.leaseTtlMs ?? 1000,
      log: (level, message) => void (level === 'error' && this.failures.push(message)),
    });
    this.saga = this.sagaWith(this.committed);
  }

  /** What brings lanes back, where this says whether the store is ahead of the ledger. */
  recoveryWith(ledgerCheck: Pick<RestoredLedgerCheck, 'isAhead'>): ProjectionRecovery {
    const { database, projection, committed, boards } = this;
    const sweeper = new RangeSweeper(boards, this.windowLists, projection);
    return new ProjectionRecovery(database, projection, committed, boards, ledgerCheck, sweeper, this.lanes);
  }

  /** The saga over another knowledge of positions. */
  sagaWith(committed: CommittedPositions): ScoreSaga {
    const sessions = new AppliedSessions();
    const apply = new ApplyEntriesHandler(this.projection, sessions);
    const mark = new MarkLaneHandler(this.projection, sessions, committed);
    const execute = (command: ApplyEntriesCommand | MarkLaneCommand): Promise<unknown> =>
      command instanceof ApplyEntriesCommand ? apply.execute(command) : mark.execute(command);
    return new ScoreSaga({ execute } as unknown as CommandBus, this.boards, this.windows, committed, this.boards.clock);
  }

  override async start(): Promise<void> {
    await super.start();
    await this.redis.connect();
    for (const lane of this.lanes.all) await this.projection.openMark(lane);
  }

  /** Feeds the ranks from here on. */
  async follow(): Promise<void> {
    this.subscription ??= await this.log.consume('score', ['entry-changed'], (batch) => this.saga.project(batch));
  }

  async unfollow(): Promise<void> {
    await this.subscription?.stop();
    this.subscription = null;
  }

  /** Resolves once everything that is committed by now has been applied, whatever is written meanwhile. */
  async caughtUp(): Promise<void> {
    const ends = await this.database.query<{ lane: number; position: number }>(
      `SELECT lane, max(position) AS position FROM outbox WHERE topic = 'entry-changed' GROUP BY lane`,
    );
    const ofEnds = [ends.map(({ lane }) => lane), ends.map(({ position }) => position)];
    for (;;) {
      const behind = await this.database.query(
        `SELECT 1 FROM unnest($1::int[], $2::bigint[]) AS ends (lane, position)
         LEFT JOIN log_offsets o ON o.consumer_group = 'score' AND o.lane = ends.lane
         WHERE coalesce(o.position, 0) < ends.position`,
        ofEnds,
      );
      if (behind.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async put(id: string, definition: Partial<BoardDefinition>): Promise<Board> {
    const full = withBoardDefaults({ order: 'desc', operator: 'latest', ...definition } as BoardDefinition);
    const { board } = await this.registry.put(id, full);
    await this.boards.refresh();
    return board;
  }

  /** Submits a run for the board as it is now. */
  async submit(id: string, playerId: string, score: number): Promise<void> {
    for (;;) {
      try {
        await this.ledger.write(submissionOf(this.boards.byId(id)!, playerId, score));
        return;
      } catch (error) {
        if ((error as Error).constructor.name !== 'StaleBoardError') throw error;
        await this.boards.refresh();
      }
    }
  }

  async layoutsOf(id: string): Promise<Layouts> {
    await this.boards.refresh();
    return this.boards.byId(id)!.layouts;
  }

  async listOf(id: string, windowId = 'alltime', scope = 0): Promise<RankList> {
    await this.boards.refresh();
    const board = this.boards.byId(id)!;
    const window = await this.windows.find(board.uid, windowId);
    return rankListOf(board, window!.uid, scope);
  }

  /** Takes out of the store what is due, or will be. */
  async removeAll(signal = AbortSignal.timeout(20_000)): Promise<void> {
    for (const removal of await this.layouts.removals()) await this.remover.remove(removal, signal);
    await this.boards.refresh();
  }

  override async stop(): Promise<void> {
    await this.unfollow();
    await this.log.close();
    await this.redis.close();
    await super.stop();
  }
}
