import { standingRun, type Board, type KeptPatchRun, type RunKind, type RunState } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { runKeySql } from '../entries/run-keys-sql.js';
import { servedOrder } from '../entries/taxed-entries.js';
import { stateOfRun } from './run-folds.js';

/** A run as it is kept. */
export interface ListedRun {
  playerId: string;
  submissionId: string;
  kind: RunKind;
  state: RunState;
  /** null: it takes the entry away. */
  score: number | null;
  columns: number[];
  achievedAtMs: number;
  acceptedAtMs: number;
  /** The ids of the windows that it counts in, or would. */
  windows: string[];
  /** Those whose entry rests on it: of `best` and `latest` boards; of those with decay under the tax that serves. */
  entryOf: string[];
  /** JSON text. */
  metadata: string | null;
  proof: string | null;
  verified: boolean;
  sourceId: string | null;
  /** On boards with decay: the number of the patch as which it counts; null: on others, and of what takes the entry away. */
  patch: number | null;
  /** Its log position. */
  version: number;
  /** What an operator said of it last. */
  reason: string | null;
}

/** Which runs of a board; all of what is given must hold. */
export interface RunFilter {
  playerId?: string;
  state?: RunState;
  windowUid?: number;
  sourceId?: string;
  /** Accepted at this time or later, and before that one, Unix ms. */
  fromMs?: number;
  toMs?: number;
}

type RunRow = Omit<ListedRun, 'state'> & { held: boolean; voided: boolean };

const COLUMNS = `
  r.player_id AS "playerId", r.submission_id AS "submissionId", r.kind, r.held, r.voided, r.score, r.columns,
  r.achieved_at_ms AS "achievedAtMs", floor(extract(epoch FROM r.accepted_at) * 1000)::bigint AS "acceptedAtMs",
  r.metadata, r.proof, r.verified, r.source_id AS "sourceId", r.patch_uid AS patch,
  r.position AS version, r.reason,
  ARRAY(SELECT w.window_id FROM unnest(r.window_uids) WITH ORDINALITY AS u (window_uid, n)
    JOIN windows w USING (window_uid) ORDER BY u.n) AS windows,
  ARRAY(SELECT w.window_id FROM unnest(r.window_uids) WITH ORDINALITY AS u (window_uid, n)
    CROSS JOIN LATERAL (SELECT * FROM entries
      WHERE window_uid = u.window_uid AND player_id IN (r.player_id, ${runKeySql('r.submission_id', 'r.player_id')})) AS e
    JOIN windows w ON w.window_uid = u.window_uid
    WHERE NOT e.removed AND e.run_position = r.position ORDER BY u.n) AS "entryOf"`;

/** The entries among whose runs of patches is the run `$3` of player `$2` on board `$1`, each with the run; several at once. */
const ENTRIES_OF_RUNS = `
  SELECT r.position, w.window_id AS "windowId", floor(extract(epoch FROM w.ends_at) * 1000)::bigint AS "endsAtMs",
    e.patch_runs AS "patchRuns"
  FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS k (player_id, position, n)
  CROSS JOIN LATERAL (
    SELECT * FROM runs WHERE board_uid = $1 AND player_id = k.player_id AND position = k.position LIMIT 1) AS r
  CROSS JOIN LATERAL unnest(r.window_uids) WITH ORDINALITY AS u (window_uid, n)
  CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE window_uid = u.window_uid AND player_id = k.player_id AND NOT removed LIMIT 1) AS e
  JOIN windows w ON w.window_uid = u.window_uid
  WHERE e.patch_runs @> jsonb_build_array(jsonb_build_object('position', r.position)) ORDER BY k.n, u.n`;

interface EntryOfRun {
  position: number;
  windowId: string;
  endsAtMs: number | null;
  patchRuns: KeptPatchRun[];
}

/** Named so that the indexes of what does not count can serve. */
const STATES: Record<RunState, string> = {
  counted: 'NOT r.held AND NOT r.voided',
  held: '(r.held OR r.voided) AND r.held AND NOT r.voided',
  voided: '(r.held OR r.voided) AND r.voided',
};

/** The runs of boards that keep them. */
@Injectable()
export class RunList {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The newest runs, at most `limit` with positions below `before` (null: from the newest on). */
  async list(
    board: Board & { runsFrom: number },
    filter: RunFilter,
    { limit, before }: { limit: number; before: number | null },
  ): Promise<ListedRun[]> {
    const parameters: unknown[] = [board.uid, board.runsFrom, limit];
    const given = (value: unknown): string => `$${parameters.push(value)}`;
    const conditions = ['r.board_uid = $1', 'r.position >= $2'];
    if (before !== null) conditions.push(`r.position < ${given(before)}`);
    if (filter.playerId !== undefined) conditions.push(`r.player_id = ${given(filter.playerId)}`);
    if (filter.sourceId !== undefined) conditions.push(`r.source_id = ${given(filter.sourceId)}`);
    if (filter.windowUid !== undefined) conditions.push(`${given(filter.windowUid)}::int = ANY (r.window_uids)`);
    if (filter.fromMs !== undefined)
      conditions.push(`r.accepted_at >= to_timestamp(${given(filter.fromMs)}::float8 / 1000)`);
    if (filter.toMs !== undefined)
      conditions.push(`r.accepted_at < to_timestamp(${given(filter.toMs)}::float8 / 1000)`);
    if (filter.state !== undefined) conditions.push(STATES[filter.state]);
    const rows = await this.database.query<RunRow>(
      `SELECT ${COLUMNS} FROM runs r WHERE ${conditions.join(' AND ')} ORDER BY r.position DESC LIMIT $3`,
      parameters,
    );
    const runs = rows.map(({ held, voided, ...run }) => ({ ...run, state: stateOfRun({ held, voided }) }));
    return board.definition.decay ? this.withTaxedEntries(board, runs) : runs;
  }

  /** Of several runs of an entry the tax says which one stands. */
  private async withTaxedEntries(board: Board, runs: readonly ListedRun[]): Promise<ListedRun[]> {
    const keys = [runs.map(({ playerId }) => playerId), runs.map(({ version }) => version)];
    const entryOf = new Map<number, string[]>();
    for (const entry of await this.database.query<EntryOfRun>(ENTRIES_OF_RUNS, [board.uid, ...keys])) {
      const { position, windowId, patchRuns } = entry;
      const { run } = standingRun(board.definition, patchRuns, servedOrder(board, entry));
      if (run.position === position) entryOf.set(position, [...(entryOf.get(position) ?? []), windowId]);
    }
    return runs.map((run) => ({ ...run, entryOf: entryOf.get(run.version) ?? [] }));
  }
}
