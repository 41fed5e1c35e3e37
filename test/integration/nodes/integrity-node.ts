import { ExamineRunsHandler, RuleExaminer, type ExamineRunsCommand } from '@laddercast/commands';
import { withBoardDefaults, type Board, type GivenBoard, type RunRecorded } from '@laddercast/domain';
import type { EventLog, LogBatch, LogSubscription } from '@laddercast/event-log';
import { NO_EXTENSIONS, type IntegrityRule } from '@laddercast/extension';
import {
  appendEvent,
  DecisionActs,
  FlagDecisions,
  Flags,
  LaneQueue,
  nextPosition,
  noteRunChange,
  RuleExaminations,
  RunExaminer,
  type DecidingAct,
  type Flag,
  type FlagDecision,
  type FlagFilter,
  type RunChange,
  type RunOfFlag,
  type SqlRunner,
} from '@laddercast/ledger';
import { IntegritySaga } from '@laddercast/sagas';
import type { CommandBus } from '@nestjs/cqrs';
import { LedgerNode } from './ledger-node.js';

export interface GivenRun {
  at?: number;
  columns?: number[];
  kind?: RunRecorded['kind'];
  held?: boolean;
  metadata?: object;
}

/** Acts on runs by hand: what is done is written down, and stands in the rows. */
export class WrittenActs extends DecisionActs {
  readonly done: string[] = [];
  /** null: they work. */
  fails: Error | null = null;

  async void(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    await this.set(transaction, 'void', run, act, 'voided = true');
  }
  async restore(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    await this.set(transaction, 'restore', run, act, 'voided = false');
  }
  async accept(transaction: SqlRunner, run: RunOfFlag, act: DecidingAct): Promise<void> {
    await this.set(transaction, 'accept', run, act, 'held = false');
  }
  async mark(transaction: SqlRunner, run: RunOfFlag, verified: boolean, act: DecidingAct): Promise<void> {
    await this.set(transaction, verified ? 'verify' : 'unverify', run, act, `verified = ${verified}`);
  }
  ban(_transaction: SqlRunner, playerId: string, { reason }: DecidingAct): Promise<void> {
    this.done.push(`ban ${playerId}: ${reason}`);
    return Promise.resolve();
  }

  private async set(
    transaction: SqlRunner,
    name: string,
    { boardId, boardUid, playerId, position, submissionId }: RunOfFlag,
    { reason }: DecidingAct,
    change: string,
  ): Promise<void> {
    await transaction.query(`UPDATE runs SET ${change} WHERE board_uid = $1 AND player_id = $2 AND position = $3`, [
      boardUid,
      playerId,
      position,
    ]);
    this.done.push(`${name} ${boardId}/${submissionId}: ${reason}`);
    if (this.fails) throw this.fails;
  }
}

/** The ledger of one process with what examines runs, by hand: nothing runs that was not asked for. */
export class IntegrityNode extends LedgerNode {
  readonly work = new LaneQueue(this.database, this.lanes, this.notifier);
  readonly flags = new Flags(this.database, this.work);
  readonly examiner = new RunExaminer(this.database, this.boards, this.flags);
  readonly examinations = new RuleExaminations(this.database);
  readonly acts = new WrittenActs();
  readonly decisions = new FlagDecisions(this.database, this.lanes, this.notifier, this.acts);
  readonly rules: IntegrityRule[] = [];
  readonly ruleExaminer = new RuleExaminer(
    { ...NO_EXTENSIONS, integrityRules: this.rules },
    this.examinations,
    this.boards,
    this.flags,
    this.database,
  );
  private readonly handler = new ExamineRunsHandler(this.database, this.boards, this.examiner, this.examinations);
  readonly saga = new IntegritySaga({
    execute: (command: ExamineRunsCommand) => this.handler.execute(command),
  } as unknown as CommandBus);
  private runs = 0;

  async put(id: string, given: Partial<GivenBoard>): Promise<Board> {
    const definition = withBoardDefaults({
      order: 'desc',
      operator: 'best',
      runs: { keepDays: 90 },
      ...given,
    } as GivenBoard);
    const { board } = await this.registry.put(id, definition);
    await this.boards.refresh();
    return board;
  }

  /** Writes an accepted run as the group commit does, in a transaction that holds the lane. */
  async write(
    transaction: SqlRunner,
    board: Board,
    playerId: string,
    score: number,
    given: GivenRun = {},
  ): Promise<RunRecorded> {
    const { at, columns = [], kind = 'run', held = false, metadata = null } = given;
    const position = await nextPosition(transaction);
    const acceptedAtMs = at ?? (await nowMs(transaction));
    const run: RunRecorded = {
      ...{
        type: 'run-recorded',
        boardUid: board.uid,
        playerId,
        position,
        submissionId: `s${(this.runs += 1)}`,
        kind,
        held,
      },
      ...{ score, columns, achievedAtMs: acceptedAtMs, acceptedAtMs, windowUids: [] },
      ...{ metadata: metadata && JSON.stringify(metadata), proof: null, verified: false, sourceId: null },
    };
    await transaction.query(
      `INSERT INTO runs (board_uid, player_id, position, submission_id, owner, kind, held, voided, score, columns, achieved_at_ms,
         accepted_at, window_uids, metadata, proof, verified, source_id, reason)
       VALUES ($1, $2, $3, $4, '', $5, $6, false, $7, $8, $9, to_timestamp($9::bigint / 1000.0), '{}', $10, null, false, null, null)`,
      [board.uid, playerId, position, run.submissionId, kind, held, score, columns, acceptedAtMs, run.metadata],
    );
    const lane = this.lanes.of(playerId);
    await appendEvent(transaction, lane, await nextPosition(transaction), playerId, run);
    return run;
  }

  /** As {@link write}, in a transaction of its own. */
  record(board: Board, playerId: string, score: number, given: GivenRun = {}): Promise<RunRecorded> {
    return this.work.holding(playerId, (transaction) => this.write(transaction, board, playerId, score, given));
  }

  /** Delivers runs to the group, each lane as one batch. */
  async deliver(...runs: RunRecorded[]): Promise<void> {
    for (const lane of this.lanes.all) {
      const ofLane = runs.filter(({ playerId }) => this.lanes.of(playerId) === lane);
      if (ofLane.length > 0) await this.saga.examine(batchOf(lane, ofLane));
    }
  }

  /** Follows the log. */
  follow(log: EventLog): Promise<LogSubscription> {
    return log.consume('integrity', ['run-recorded'], (batch) => this.saga.examine(batch));
  }

  /** Notes an act on a run, as whoever acts does. */
  noteChange(change: RunChange): Promise<void> {
    return this.work.holding(change.playerId, (transaction) => noteRunChange(transaction, change));
  }

  async flagged(filter: FlagFilter = {}): Promise<Flag[]> {
    return (await this.flags.list(filter, 1000, null)).map(({ number: _number, ...flag }) => flag).reverse();
  }

  decide(flag: Flag, decision: FlagDecision, reason = 'because'): Promise<Flag> {
    return this.decisions.decide(flag.flagId, { decision, reason, actor: 'mod' });
  }
}

export const batchOf = (lane: number, runs: readonly RunRecorded[]): LogBatch => ({
  lane,
  records: runs.map((event) => ({
    ...{
      topic: 'run-recorded',
      lane,
      position: event.position,
      writtenAtMs: event.acceptedAtMs,
      key: event.playerId,
      event,
    },
  })),
});

async function nowMs(transaction: SqlRunner): Promise<number> {
  const [row] = await transaction.query<{ nowMs: number }>(
    'SELECT floor(extract(epoch FROM ladder_now()) * 1000)::float8 AS "nowMs"',
  );
  return row!.nowMs;
}
