import { isPerRun, type Board, type KeptPatchRun } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { entryAtFreezeSql, entryNowSql } from './frozen-entry-sql.js';
import { playerOfRunKeySql } from './run-keys-sql.js';

/** The columns of a row beside its rank: of a player's run, or of a guild's total. */
interface DetailsRow {
  /** The guild's id for a guild. */
  player_id: string;
  score: number;
  /** null: guilds have none. */
  columns: number[] | null;
  achieved_at_ms: number;
  /** JSON text. */
  metadata: string | null;
  /** null: not a guild. */
  members: number | null;
}

/** A run of a patch, with what is known of it where its board keeps runs. */
export interface PatchRunDetails extends KeptPatchRun {
  /** false: also where it is not kept by itself. */
  verified?: boolean;
  proof?: string | null;
}

/** The same of a player on a board with decay, or on one that does not keep runs. */
interface PlayerRow extends DetailsRow {
  /** On boards with decay, of which the shown run is one; null on others. */
  patch_runs: PatchRunDetails[] | null;
}

/** The same of a board that keeps runs, or of standings. */
interface RunRow extends DetailsRow {
  /** Of the run that the entry rests on, where that is kept; of standings, as it was when they were written. */
  verified: boolean | null;
  proof: string | null;
}

/** What stands beside the rank of a row, whatever its board. */
export type RunDetailsRow = DetailsRow & Partial<PlayerRow> & Partial<RunRow>;

/** The statements that read the runs behind entries, by what an entry is read from. */
interface RunsSql {
  /** Of boards that keep no runs. */
  plain: string;
  /** Of boards that keep runs from position `$3` on. */
  kept: string;
  /** The same where each run is an entry. */
  ofRuns: string;
  /** The same of boards with decay. */
  ofPatches: string;
}

/** @param entryOf the entry of a key in window `$1`, as SQL */
function runsSql(entryOf: (key: string) => string): RunsSql {
  const entries = `FROM unnest($2::text[]) AS k (player_id) CROSS JOIN LATERAL (${entryOf('k.player_id')}) AS e`;
  const values = 'e.player_id, e.score, e.columns, e.achieved_at_ms, e.metadata, NULL::int AS members';
  const keptOf = (player: string): string => `
    SELECT ${values}, r.verified, r.proof ${entries}
    LEFT JOIN LATERAL (
      SELECT * FROM runs
      WHERE board_uid = e.board_uid AND player_id = ${player} AND position = e.run_position AND position >= $3
      LIMIT 1) AS r ON true`;
  return {
    plain: prepared(`SELECT ${values}, e.patch_runs ${entries}`),
    kept: prepared(keptOf('e.player_id')),
    ofRuns: prepared(keptOf(playerOfRunKeySql('e.player_id'))),
    ofPatches: prepared(`
      SELECT ${values}, runs.patch_runs ${entries}
      CROSS JOIN LATERAL (
        SELECT jsonb_agg(p.run || jsonb_build_object('verified', coalesce(r.verified, false), 'proof', r.proof) ORDER BY p.n)
          AS patch_runs
        FROM jsonb_array_elements(e.patch_runs) WITH ORDINALITY AS p (run, n)
        LEFT JOIN LATERAL (
          SELECT * FROM runs
          WHERE board_uid = e.board_uid AND player_id = e.player_id AND position = (p.run ->> 'position')::bigint
            AND position >= $3
          LIMIT 1) AS r ON true) AS runs`),
  };
}

const RUNS_NOW = runsSql(entryNowSql);
const RUNS_AT_FREEZE = runsSql(entryAtFreezeSql);

const TOTALS_SQL = prepared(`
  SELECT t.guild_id AS player_id, t.score, NULL::float8[] AS columns, t.achieved_at_ms, NULL AS metadata, t.members
  FROM unnest($2::text[]) AS k (guild_id)
  CROSS JOIN LATERAL (SELECT * FROM guild_totals WHERE window_uid = $1 AND guild_id = k.guild_id LIMIT 1) AS t`);

const STANDINGS_SQL = prepared(`
  SELECT s.player_id, s.score, s.columns, s.achieved_at_ms, s.metadata, s.members, s.verified, s.proof
  FROM unnest($3::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM standings WHERE edition_uid = $1 AND scope_uid = $2 AND player_id = k.player_id LIMIT 1) AS s`);

/**
 * The runs behind the entries of these players, ranked or not, as they are: of who is shown already.
 * @param playerIds or the keys of runs' entries, where each run is one
 * @param isFrozen as they were when the window froze
 */
export function runDetails(
  database: SqlRunner,
  windowUid: number,
  playerIds: readonly string[],
  { definition, runsFrom }: Pick<Board, 'definition' | 'runsFrom'>,
  isFrozen = false,
): Promise<RunDetailsRow[]> {
  const { plain, kept, ofRuns, ofPatches } = isFrozen ? RUNS_AT_FREEZE : RUNS_NOW;
  if (runsFrom === undefined) return database.query<PlayerRow>(plain, [windowUid, playerIds]);
  const parameters = [windowUid, playerIds, runsFrom];
  if (definition.decay) return database.query<PlayerRow>(ofPatches, parameters);
  return database.query<RunRow>(isPerRun(definition) ? ofRuns : kept, parameters);
}

/** The totals of these guilds, as they are. */
export const guildTotalDetails = (
  database: SqlRunner,
  windowUid: number,
  guildIds: readonly string[],
): Promise<RunDetailsRow[]> => database.query<DetailsRow>(TOTALS_SQL, [windowUid, guildIds]);

/** What an edition kept of these players, or guilds, in a scope. */
export const standingsDetails = (
  database: SqlRunner,
  editionUid: number,
  scope: number,
  ids: readonly string[],
): Promise<RunDetailsRow[]> => database.query<RunRow>(STANDINGS_SQL, [editionUid, scope, ids]);
