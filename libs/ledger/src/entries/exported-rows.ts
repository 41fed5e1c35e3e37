import { GLOBAL_SCOPE, type BoardOrdering, type SanctionInForce } from '@laddercast/domain';
import type { PostgresDatabase, SqlRunner } from '../database/postgres-database.js';
import { entryOrderSql } from './entry-order-sql.js';
import { joinStandingRunSql, type EntryTax } from './taxed-entries-sql.js';
import { joinRunOfEntrySql } from './entry-run-sql.js';
import { playerOfAnyKeySql, playerOfKeySql } from './run-keys-sql.js';

/** An entry as an export shows it; who has no profile is listed. */
export interface ExportedEntry {
  /** Or the key of a run's entry. */
  player_id: string;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  scopes: number[];
  display_name: string | null;
  listed: boolean | null;
  /** What a moderator put on the player. */
  sanction: Pick<SanctionInForce, 'kind' | 'boards'> | null;
  /** Of the run that it rests on; absent, or null: of none that is kept. */
  verified?: boolean | null;
  proof?: string | null;
  /** Of a taxed score: what it is made of; absent, or null: it is not taxed. */
  raw_score?: number | null;
  patch_uid?: number | null;
}

/** An entry with the ranks that standings kept. */
export interface ExportedStanding extends ExportedEntry {
  ordinal: number;
  competition: number;
  dense: number;
}

const SHOWN = 'p.display_name, p.listed, x.sanction';

/** The sanctions in force, as `x`. */
const SANCTIONS = `(
    SELECT player_id, jsonb_build_object('kind', kind, 'boards', boards) AS sanction FROM sanctions
    WHERE ended_at IS NULL) AS x`;

/** The rows of edition `$1` and scope `$2` after the ordinal `$3`, up to `$4`. */
const STANDINGS_SQL = `
  SELECT s.ordinal, s.competition, s.dense, s.player_id, s.score, s.columns, s.achieved_at_ms, s.metadata, s.scopes,
    s.raw_score, s.patch_uid, s.verified, s.proof, ${SHOWN}
  FROM standings s LEFT JOIN LATERAL (SELECT * FROM players WHERE player_id = ${playerOfAnyKeySql('s.player_id')} LIMIT 1) AS p ON true
  LEFT JOIN ${SANCTIONS} ON x.player_id = ${playerOfAnyKeySql('s.player_id')}
  WHERE s.edition_uid = $1 AND s.scope_uid = $2 AND s.ordinal > $3 AND s.ordinal <= $4
  ORDER BY s.ordinal`;

/** How many rows edition `$1` has in scope `$2`; no row when the edition is gone. */
const LAST_SQL = `
  SELECT coalesce((SELECT max(ordinal) FROM standings WHERE edition_uid = $1 AND scope_uid = $2), 0) AS last
  FROM editions WHERE edition_uid = $1`;

/** The entries of window `$1` in scope `$2` (null: of everybody), in their order. */
const entriesSql = (ordering: BoardOrdering, { keepsRuns, isPerRun, tax, scope }: ExportedList): string => `
  SELECT e.player_id, ${tax ? 't' : 'e'}.score, ${tax ? 't' : 'e'}.columns, ${tax ? 't' : 'e'}.achieved_at_ms,
    ${tax ? 't.metadata, t.raw_score, t.patch_uid' : 'e.metadata'}, e.scopes, ${SHOWN}
    ${keepsRuns ? ', run.verified, run.proof' : ''}
  FROM ranked_entries e ${tax ? joinStandingRunSql(tax, 'e.patch_runs', scope ?? GLOBAL_SCOPE) : ''}
  LEFT JOIN players p ON p.player_id = ${playerOfKeySql('e.player_id', isPerRun)}
  LEFT JOIN ${SANCTIONS} ON x.player_id = ${playerOfKeySql('e.player_id', isPerRun)}
  ${keepsRuns ? joinRunOfEntrySql(playerOfKeySql('e.player_id', isPerRun), tax ? 't.position' : undefined) : ''}
  WHERE e.window_uid = $1 AND ($2::int IS NULL OR e.scopes @> ARRAY[$2::int])
  ORDER BY ${tax ? entryOrderSql(ordering, 'e.player_id', 't.') : entryOrderSql(ordering, 'e.player_id')}`;

/** Which entries an export reads. */
export interface ExportedList {
  windowUid: number;
  /** null: of everybody. */
  scope: number | null;
  /** Whether the window's board does, and whether each of them is an entry. */
  keepsRuns: boolean;
  isPerRun: boolean;
  /** Absent: its scores are not taxed. */
  tax?: EntryTax | undefined;
}

/** The last ordinal of an edition's list, 0 for an empty one; null when the edition is gone. */
export async function lastExportedOrdinal(
  database: SqlRunner,
  editionUid: number,
  scope: number,
): Promise<number | null> {
  const [row] = await database.query<{ last: number }>(LAST_SQL, [editionUid, scope]);
  return row?.last ?? null;
}

/** The rows of an edition's list after an ordinal, up to another, in their order. */
export const exportedStandings = (
  database: SqlRunner,
  editionUid: number,
  scope: number,
  after: number,
  to: number,
): Promise<ExportedStanding[]> => database.query(STANDINGS_SQL, [editionUid, scope, after, to]);

/**
 * The entries of a window as they are at one moment, in their order, some at a time.
 */
export const exportedEntries = (
  database: PostgresDatabase,
  ordering: BoardOrdering,
  list: ExportedList,
  options: { rows: number; timeoutMs: number; signal: AbortSignal },
): AsyncGenerator<ExportedEntry[]> =>
  database.chunks<ExportedEntry>(entriesSql(ordering, list), [list.windowUid, list.scope], options);
