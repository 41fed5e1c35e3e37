import type { Board, RunKind } from '@laddercast/domain';
import { boolArray, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { arrayLiteral } from '../entries/entry-rows.js';

/** A run that is about to be kept. */
export interface NewRun {
  boardUid: number;
  playerId: string;
  /** Its log position: its place in the order of acceptance. */
  position: number;
  submissionId: string;
  /** As of the submission: '', or the player where players submit for themselves. */
  owner: string;
  kind: RunKind;
  /** Whether it waits for a moderator. */
  held: boolean;
  verified: boolean;
  /** null: it takes the entry away. */
  score: number | null;
  columns: number[];
  /** On boards with decay: the number of the patch as which it counts; null: on others, and of what takes the entry away. */
  patch: number | null;
  achievedAtMs: number;
  windowUids: number[];
  metadata: string | null;
  proof: string | null;
  sourceId: string | null;
  reason: string | null;
  /** Whether its board has runs examined: then it is told in the log. */
  examined: boolean;
}

/** `$1`: when they were accepted, Unix ms. */
const WRITE_RUNS = prepared(`
  INSERT INTO runs (accepted_at, board_uid, player_id, position, submission_id, owner, kind, held, verified, score, columns,
    achieved_at_ms, window_uids, metadata, proof, source_id, reason, patch_uid)
  SELECT to_timestamp($1::float8 / 1000), r.board_uid, r.player_id, r.position, r.submission_id, r.owner, r.kind,
    r.held, r.verified, r.score::float8, r.columns::float8[], r.achieved_at_ms, r.window_uids::int[], r.metadata, r.proof,
    r.source_id, r.reason, nullif(r.patch_uid, 0)
  FROM unnest($2::int[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::boolean[],
    $10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
    $18::int[])
    AS r (board_uid, player_id, position, submission_id, owner, kind, held, verified, score, columns, achieved_at_ms,
      window_uids, metadata, proof, source_id, reason, patch_uid)`);

const TELL_RUNS = prepared(`
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, nextval('ladder_position'), 'run-recorded', r.player_id, r.payload
  FROM unnest($2::text[], $3::text[]) AS r (player_id, payload)`);

/** Tells the log of the runs that are to be examined, in a transaction that holds the lane. */
export async function tellRuns(
  transaction: SqlRunner,
  lane: number,
  nowMs: number,
  runs: readonly NewRun[],
): Promise<void> {
  const told = runs.filter(({ examined }) => examined);
  if (told.length === 0) return;
  const events = told.map(({ owner: _owner, reason: _reason, examined: _examined, patch, ...run }) =>
    JSON.stringify({ type: 'run-recorded', ...run, acceptedAtMs: nowMs, ...(patch !== null && { patch }) }),
  );
  await transaction.query(TELL_RUNS, [lane, textArray(told.map(({ playerId }) => playerId)), textArray(events)]);
}

/**
 * Keeps runs, in the transaction that counts them.
 * @param nowMs the ledger's time in it, Unix ms
 */
export async function storeRuns(transaction: SqlRunner, nowMs: number, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  await transaction.query(WRITE_RUNS, [
    nowMs,
    int4Array(runs.map((run) => run.boardUid)),
    textArray(runs.map((run) => run.playerId)),
    int8Array(runs.map((run) => run.position)),
    textArray(runs.map((run) => run.submissionId)),
    textArray(runs.map((run) => run.owner)),
    textArray(runs.map((run) => run.kind)),
    boolArray(runs.map((run) => run.held)),
    boolArray(runs.map((run) => run.verified)),
    textArray(runs.map((run) => (run.score === null ? null : String(run.score)))),
    textArray(runs.map((run) => arrayLiteral(run.columns))),
    int8Array(runs.map((run) => run.achievedAtMs)),
    textArray(runs.map((run) => arrayLiteral(run.windowUids))),
    textArray(runs.map((run) => run.metadata)),
    textArray(runs.map((run) => run.proof)),
    textArray(runs.map((run) => run.sourceId)),
    textArray(runs.map((run) => run.reason)),
    int4Array(runs.map((run) => run.patch ?? 0)),
  ]);
}

/** An entry by its window and player. */
export interface EntryPlace {
  windowUid: number;
  playerId: string;
}

const KEEP_BASES = prepared(`
  INSERT INTO run_bases (window_uid, player_id, position, score, columns, achieved_at_ms, metadata, patch_runs)
  SELECT e.window_uid, e.player_id, b.runs_from, e.score, e.columns, e.achieved_at_ms, e.metadata, e.patch_runs
  FROM unnest($1::int[], $2::text[]) AS k (window_uid, player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = k.window_uid AND player_id = k.player_id AND NOT removed LIMIT 1) AS e
  CROSS JOIN LATERAL (SELECT runs_from FROM boards WHERE board_uid = e.board_uid LIMIT 1) AS b
  WHERE e.version < b.runs_from
  ON CONFLICT (window_uid, player_id) DO UPDATE SET position = excluded.position, score = excluded.score,
    columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms, metadata = excluded.metadata,
    patch_runs = excluded.patch_runs
  WHERE run_bases.position < excluded.position`);

/**
 * Keeps entries that stand from before their board kept runs: whoever gives an entry another version calls it first, since
 * by the version is known what runs do not tell.
 */
export async function keepBases(transaction: SqlRunner, places: readonly EntryPlace[]): Promise<void> {
  if (places.length === 0) return;
  const keys = [int4Array(places.map(({ windowUid }) => windowUid)), textArray(places.map(({ playerId }) => playerId))];
  await transaction.query(KEEP_BASES, keys);
}

/** Whether its entries each rest on one run that is kept: a total rests on many, and of patches the tax says on which. */
export const restsOnRuns = ({ runsFrom, definition }: Board): boolean =>
  runsFrom !== undefined && definition.operator !== 'sum' && definition.decay === null;
