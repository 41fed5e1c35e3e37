import type { RunRecorded } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** A run that waits for a rule, with the place of its event in the log. */
export interface WaitingExamination {
  rule: string;
  lane: number;
  logPosition: number;
  run: RunRecorded;
}

/** A run that a rule is to look at now. */
export interface DueExamination extends WaitingExamination {
  /** How often it was tried, this time included. */
  tries: number;
  /** How many of the tries before failed by themselves. */
  failures: number;
}

/** How many runs may wait for one rule. */
export const EXAMINATIONS_MAX = 10_000;

const ADD = prepared(`
  INSERT INTO rule_examinations (rule, board_uid, player_id, position, lane, log_position, payload)
  SELECT e.rule, e.board, e.player, e.position, e.lane, e.log_position, e.payload
  FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::smallint[], $6::bigint[], $7::text[])
    AS e (rule, board, player, position, lane, log_position, payload)
  ON CONFLICT DO NOTHING`);

const WAITING = prepared(`
  SELECT r.rule, (SELECT count(*)::int FROM (SELECT 1 FROM rule_examinations e WHERE e.rule = r.rule
    LIMIT ${EXAMINATIONS_MAX}) AS counted) AS runs
  FROM unnest($1::text[]) AS r (rule)`);

const TAKE = prepared(`
  UPDATE rule_examinations SET tries = tries + 1, due_at = ladder_now() + $3::int * interval '1 millisecond'
  WHERE (rule, board_uid, player_id, position) IN (
    SELECT rule, board_uid, player_id, position FROM rule_examinations
    WHERE rule = $1 AND due_at <= ladder_now() ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING lane, log_position AS "logPosition", payload, tries, failures`);

const END = prepared(
  'DELETE FROM rule_examinations WHERE rule = $1 AND board_uid = $2 AND player_id = $3 AND position = $4',
);

const POSTPONE = prepared(`
  UPDATE rule_examinations SET due_at = ladder_now() + $5::int * interval '1 millisecond', failures = $6
  WHERE rule = $1 AND board_uid = $2 AND player_id = $3 AND position = $4`);

const keyOf = ({ rule, run }: WaitingExamination): unknown[] => [rule, run.boardUid, run.playerId, run.position];

/** Runs that wait for the rules of teams, beside the log: one that fails or hangs holds up no other. */
@Injectable()
export class RuleExaminations {
  constructor(private readonly database: PostgresDatabase) {}

  /** Has runs looked at; one that waits already stays as it is. */
  async add(waiting: readonly WaitingExamination[]): Promise<void> {
    if (waiting.length === 0) return;
    await this.database.query(ADD, [
      waiting.map(({ rule }) => rule),
      waiting.map(({ run }) => run.boardUid),
      waiting.map(({ run }) => run.playerId),
      waiting.map(({ run }) => run.position),
      waiting.map(({ lane }) => lane),
      waiting.map(({ logPosition }) => logPosition),
      waiting.map(({ run }) => JSON.stringify(run)),
    ]);
  }

  /** How many runs wait for each of these rules, up to {@link EXAMINATIONS_MAX}. */
  async waitingFor(rules: readonly string[]): Promise<Map<string, number>> {
    if (rules.length === 0) return new Map();
    const rows = await this.database.query<{ rule: string; runs: number }>(WAITING, [rules]);
    return new Map(rows.map(({ rule, runs }) => [rule, runs]));
  }

  /** How many runs wait, by rule, rules without any left out; up to so many in all. */
  waiting(most: number): Promise<{ rule: string; runs: number }[]> {
    return this.database.query(
      `SELECT rule, count(*)::int AS runs FROM (SELECT rule FROM rule_examinations LIMIT $1) AS counted GROUP BY rule`,
      [most],
    );
  }

  /**
   * Takes runs that are due for a rule, the longest due first.
   * @param againInMs when they are due again, if they are neither ended nor postponed: this process may die
   */
  async take(rule: string, most: number, againInMs: number): Promise<DueExamination[]> {
    const rows = await this.database.query<Omit<DueExamination, 'rule' | 'run'> & { payload: string }>(TAKE, [
      rule,
      most,
      againInMs,
    ]);
    return rows.map(({ payload, ...row }) => ({ rule, ...row, run: JSON.parse(payload) as RunRecorded }));
  }

  /** @param failures how many tries failed by themselves so far */
  async postpone(due: DueExamination, ms: number, failures: number): Promise<void> {
    await this.database.query(POSTPONE, [...keyOf(due), Math.round(ms), failures]);
  }

  /** The run waits no longer for the rule. */
  end(due: WaitingExamination, transaction: SqlRunner = this.database): Promise<unknown> {
    return transaction.query(END, keyOf(due));
  }
}
