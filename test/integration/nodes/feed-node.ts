import type { FeedBoardsCommand } from '@laddercast/commands';
import { withBoardDefaults, type Board, type BoardDefinition, type RatingChanged } from '@laddercast/domain';
import {
  BoardFeeder,
  BoardFiller,
  EntriesEndedFold,
  EntryEnder,
  LastFeedFold,
  LastFeeds,
  RulesChangedFold,
} from '@laddercast/ledger';
import { RatingFeedSaga } from '@laddercast/sagas';
import type { FedOracleRow } from '@laddercast/testing';
import type { CommandBus } from '@nestjs/cqrs';
import { PoolNode } from './pool-node.js';

const DAYS = 86_400;

/** The ledger of one process with pools and the boards that they feed, by hand. */
export class FeedNode extends PoolNode {
  readonly feeder = new BoardFeeder(this.database, this.boards, this.windows, this.ledger, this.algorithms);
  readonly filler = new BoardFiller(this.database, this.boards, this.feeder);
  readonly ender = new EntryEnder(this.database, this.work);
  readonly lastFeeds = new LastFeeds(this.database, this.work);
  private readonly saga = new RatingFeedSaga({
    execute: ({ poolUid, players, lastFeed }: FeedBoardsCommand) => this.feeder.feed(poolUid, players, lastFeed),
  } as CommandBus);

  constructor(url: string, outboxEventsMax?: number) {
    super(url, outboxEventsMax);
    this.folds.push(new EntriesEndedFold(), new LastFeedFold(this.algorithms), new RulesChangedFold());
  }

  async makeBoard(id: string, definition: Partial<BoardDefinition> = {}): Promise<Board> {
    const days = { graceSeconds: 5 * DAYS, keepEndedSeconds: 6 * DAYS };
    const full = withBoardDefaults({ order: 'desc', operator: 'latest', ...days, ...definition } as BoardDefinition);
    const { board } = await this.registry.put(id, full);
    await this.boards.refresh();
    return board;
  }

  /** What the log has of the pool's ratings, in the order in which it was written. */
  async ratingEvents(poolUid: number): Promise<RatingChanged[]> {
    const rows = await this.database.query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'rating-changed' AND payload::json ->> 'poolUid' = $1 ORDER BY position`,
      [String(poolUid)],
    );
    return rows.map(({ payload }) => JSON.parse(payload) as RatingChanged);
  }

  /** Delivers events to the group that feeds boards, as one batch. */
  async deliver(events: readonly RatingChanged[]): Promise<void> {
    const record = { topic: 'rating-changed' as const, lane: 0, position: 1, writtenAtMs: 0, key: '' };
    await this.saga.feed({ lane: 0, records: events.map((event) => ({ ...record, event })) });
  }

  /** Rates all that is recorded, and has it written to the boards. */
  async settle(poolUid: number): Promise<void> {
    await this.rater.rate(poolUid);
    await this.deliver(await this.ratingEvents(poolUid));
  }

  fill(): Promise<void> {
    return this.filler.run(new AbortController().signal);
  }

  async entriesOf(boardId: string): Promise<FedOracleRow[]> {
    return this.database.query<FedOracleRow>(
      `SELECT w.window_id AS window, e.player_id AS "playerId", e.score, e.columns, e.achieved_at_ms AS "achievedAtMs"
       FROM boards JOIN windows w USING (board_uid) JOIN entries e USING (window_uid)
       WHERE board_id = $1 AND NOT e.removed ORDER BY w.window_id, e.player_id`,
      [boardId],
    );
  }

  /** As `window player score`. */
  async linesOf(boardId: string): Promise<string[]> {
    const rows = await this.entriesOf(boardId);
    return rows.map(({ window, playerId, score }) => `${window} ${playerId} ${score}`);
  }
}
