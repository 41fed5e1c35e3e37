import { Environment } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { isRunOfSql, runKeySql } from '../entries/run-keys-sql.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const CHUNK_ROWS = 5000;

/** As a sub-query the time is computed once, so that the index serves. */
const DUE = `accepted_at < (SELECT ladder_now() - $1::float8 * interval '1 day')`;

const KEEPS_RUNS = 'SELECT 1 FROM boards WHERE board_id IS NOT NULL AND runs_from IS NOT NULL LIMIT 1';

const FORGET = `
  WITH gone AS (
    DELETE FROM submissions WHERE ctid = ANY (ARRAY(SELECT ctid FROM submissions WHERE ${DUE} LIMIT ${CHUNK_ROWS}))
    RETURNING 1)
  SELECT count(*) AS due, count(*) AS forgotten FROM gone`;

/** For as long again as the board keeps runs. */
const LATER = `(SELECT ladder_now()) + (b.definition #>> '{runs,keepDays}')::float8 * interval '1 day'`;

/**
 * The same where boards keep runs: an id whose run is there counts as accepted when the run may go, so that its days begin
 * then, and no look finds it before. So does one whose run is kept as an entry of its own, for the same time again: an id that
 * names an entry must not name another run.
 */
const FORGET_UNLESS_KEPT = `
  WITH due AS MATERIALIZED (
    SELECT s.ctid AS place, coalesce(r.until, e.until) AS until
    FROM (SELECT ctid, board_uid, owner, submission_id, player_id FROM submissions WHERE ${DUE} LIMIT ${CHUNK_ROWS}) AS s
    LEFT JOIN boards AS b ON b.board_uid = s.board_uid AND b.board_id IS NOT NULL AND b.runs_from IS NOT NULL
    LEFT JOIN LATERAL (
      SELECT greatest(accepted_at + (b.definition #>> '{runs,keepDays}')::float8 * interval '1 day',
        (SELECT ladder_now())) AS until
      FROM runs
      WHERE board_uid = b.board_uid AND owner = s.owner AND submission_id = s.submission_id AND position >= b.runs_from
      LIMIT 1) AS r ON true
    LEFT JOIN LATERAL (
      SELECT ${LATER} AS until FROM run_bases JOIN windows USING (window_uid)
      WHERE r.until IS NULL AND b.definition ->> 'entriesPer' = 'run' AND windows.board_uid = b.board_uid
        AND ${isRunOfSql('s.player_id', 'run_bases.player_id')}
        AND run_bases.player_id = ${runKeySql('s.submission_id', 's.player_id')} LIMIT 1) AS e ON true
  ), kept AS (
    UPDATE submissions AS s SET accepted_at = due.until FROM due WHERE s.ctid = due.place AND due.until IS NOT NULL
  ), gone AS (
    DELETE FROM submissions WHERE ctid = ANY (ARRAY(SELECT place FROM due WHERE until IS NULL))
  )
  SELECT count(*) AS due, count(*) FILTER (WHERE until IS NULL) AS forgotten FROM due`;

/**
 * Forgets submission ids once their time is over, a chunk at a time. Where runs are kept, it begins when the run may go:
 * as long as the run is there its id is remembered.
 */
@Injectable()
export class SubmissionPruner {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly environment: Environment,
  ) {}

  /** @returns how many ids were forgotten */
  async prune(signal: AbortSignal): Promise<number> {
    const [keeping] = await this.database.query(KEEPS_RUNS);
    const statement = keeping === undefined ? FORGET : FORGET_UNLESS_KEPT;
    let pruned = 0;
    while (!signal.aborted) {
      const [done] = await this.database.query<{ due: number; forgotten: number }>(statement, [
        this.environment.SUBMISSION_ID_DAYS,
      ]);
      pruned += done!.forgotten;
      if (done!.due < CHUNK_ROWS) break;
    }
    return pruned;
  }
}
