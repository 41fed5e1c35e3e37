import type { RunState } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { float8Array, int8Array, textArray } from '../database/postgres-arrays.js';

/** A run that is looked at. */
export interface RunAt {
  playerId: string;
  position: number;
}

/**
 * The runs of a player before a run, the newest first, each as it was when that run came: before the first act on it that came
 * later.
 */
const RUNS_BEFORE = `
  SELECT r.*, coalesce(later.held, r.held) AS was_held, coalesce(later.voided, r.voided) AS was_voided
  FROM runs r
  LEFT JOIN LATERAL (SELECT a.held, a.voided FROM run_acts a WHERE a.board_uid = r.board_uid AND a.player_id = r.player_id
    AND a.run_position = r.position AND a.position > k.position ORDER BY a.position LIMIT 1) AS later ON true
  WHERE r.board_uid = $1 AND r.player_id = k.player_id AND r.position < k.position AND r.kind IN ('run', 'set')
  ORDER BY r.position DESC`;

const COUNTED_BEFORE = prepared(`
  SELECT ARRAY(SELECT b.score FROM (${RUNS_BEFORE}) AS b WHERE NOT b.was_held AND NOT b.was_voided LIMIT $4)::float8[] AS scores
  FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS k (player_id, position, nth) ORDER BY k.nth`);

/** The scores of the last counted runs before each of these, at most so many, in the order of the runs. */
export async function scoresBefore(
  database: SqlRunner,
  boardUid: number,
  runs: readonly RunAt[],
  most: number,
): Promise<number[][]> {
  const rows = await database.query<{ scores: number[] }>(COUNTED_BEFORE, [boardUid, ...keysOf(runs), most]);
  return rows.map(({ scores }) => scores);
}

const NTH_BEFORE = prepared(`
  SELECT (SELECT floor(extract(epoch FROM r.accepted_at) * 1000)::float8 FROM runs r
    WHERE r.board_uid = $1 AND r.player_id = k.player_id AND r.position < k.position AND r.kind IN ('run', 'set')
    ORDER BY r.position DESC OFFSET $4 - 1 LIMIT 1) AS "atMs"
  FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS k (player_id, position, nth) ORDER BY k.nth`);

/** When the `nth` run before each of these was accepted, Unix ms, whatever became of it; null: there are not so many. */
export async function nthBefore(
  database: SqlRunner,
  boardUid: number,
  runs: readonly RunAt[],
  nth: number,
): Promise<(number | null)[]> {
  const rows = await database.query<{ atMs: number | null }>(NTH_BEFORE, [boardUid, ...keysOf(runs), nth]);
  return rows.map(({ atMs }) => atMs);
}

const keysOf = (runs: readonly RunAt[]): Buffer[] => [
  textArray(runs.map(({ playerId }) => playerId)),
  int8Array(runs.map(({ position }) => position)),
];

/** A run as it was when a later one came. */
export interface EarlierRun {
  position: number;
  submissionId: string;
  score: number;
  columns: number[];
  achievedAtMs: number;
  acceptedAtMs: number;
  /** JSON text. */
  metadata: string | null;
  proof: string | null;
  verified: boolean;
  sourceId: string | null;
  /** On boards with decay: the number of the patch as which it counts; null on others. */
  patch?: number | null;
  state: RunState;
}

const EARLIER_RUNS = prepared(`
  SELECT b.position, b.submission_id AS "submissionId", b.score, b.columns, b.achieved_at_ms AS "achievedAtMs",
    floor(extract(epoch FROM b.accepted_at) * 1000)::float8 AS "acceptedAtMs", b.metadata, b.proof, b.verified,
    b.source_id AS "sourceId", b.patch_uid AS patch, CASE WHEN b.was_voided THEN 'voided' WHEN b.was_held THEN 'held' ELSE 'counted' END AS state
  FROM (SELECT $2::text COLLATE "C" AS player_id, $3::bigint AS position) AS k, LATERAL (${RUNS_BEFORE} LIMIT $4) AS b
  ORDER BY b.position DESC`);

/** The player's last runs before a run, the newest first. */
export function earlierRuns(
  database: SqlRunner,
  boardUid: number,
  { playerId, position }: RunAt,
  most: number,
): Promise<EarlierRun[]> {
  return most === 0 ? Promise.resolve([]) : database.query(EARLIER_RUNS, [boardUid, playerId, position, most]);
}

/** A counted run with the same score and columns as others. */
export interface RunOfValue extends RunAt {
  submissionId: string;
  /** Unix ms. */
  acceptedAtMs: number;
  /** Whether a flag of the rule `cluster` has it. */
  isFlagged: boolean;
}

/** The most runs of one value that are looked at: of more the last. */
export const RUNS_OF_VALUE_MAX = 10_000;

const RUNS_OF_VALUE = prepared(`
  SELECT r.player_id AS "playerId", r.position, r.submission_id AS "submissionId",
    floor(extract(epoch FROM r.accepted_at) * 1000)::float8 AS "acceptedAtMs", f.flag_id IS NOT NULL AS "isFlagged"
  FROM runs r LEFT JOIN flag_runs f ON f.board_uid = r.board_uid AND f.player_id = r.player_id AND f.position = r.position
    AND f.rule = 'cluster'
  WHERE r.board_uid = $1 AND r.score = $2 AND r.columns = $3::float8[] AND r.kind IN ('run', 'set') AND NOT r.held
    AND NOT r.voided AND r.accepted_at >= to_timestamp($4::float8 / 1000) AND r.accepted_at < to_timestamp(($5::float8 + 1) / 1000)
  ORDER BY r.accepted_at DESC, r.position DESC LIMIT ${RUNS_OF_VALUE_MAX}`);

/** The counted runs of a board with this score and these columns that were accepted from one time to another, Unix ms, in that order. */
export async function runsOfValue(
  database: SqlRunner,
  boardUid: number,
  { score, columns }: { score: number; columns: readonly number[] },
  fromMs: number,
  toMs: number,
): Promise<RunOfValue[]> {
  const rows = await database.query<RunOfValue>(RUNS_OF_VALUE, [boardUid, score, float8Array(columns), fromMs, toMs]);
  return rows.reverse();
}

const NOTE_ACT = prepared(`
  INSERT INTO run_acts (board_uid, player_id, run_position, position, held, voided) VALUES ($1, $2, $3, $4, $5, $6)`);

/** An act on a run: where in the order of acceptance it came, and what the run was before it. */
export interface RunChange extends RunAt {
  boardUid: number;
  /** A log position drawn in the transaction of the act. */
  actPosition: number;
  before: { held: boolean; voided: boolean };
}

/** Notes what a run was before it was voided, restored, accepted or held: runs that were accepted before the act saw it so. */
export async function noteRunChange(transaction: SqlRunner, act: RunChange): Promise<void> {
  const { boardUid, playerId, position, actPosition, before } = act;
  await transaction.query(NOTE_ACT, [boardUid, playerId, position, actPosition, before.held, before.voided]);
}
