import type { KeptPatchRun } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';

/** A row that the ranks come from. */
export interface ScannedRow {
  windowUid: number;
  /** The guild's id in `guild_totals`. */
  id: string;
  boardUid: number;
  version: number;
  removed: boolean;
  score: number;
  /** null: none, as in the two below; empty arrays are dear to parse. */
  columns: number[] | null;
  achievedAtMs: number;
  scopes: number[] | null;
  leftScopes: number[] | null;
  /** Of boards with decay; null on others. */
  runs: KeptPatchRun[] | null;
  /** false for a page's last row when it only shows how far the page went. */
  matches: boolean;
}

/** Which rows are wanted of a scan over all boards. */
export interface ScanCondition {
  lane: number;
  /** Those with a newer version … */
  version: number;
  /** … and, whatever their version, those of these boards. */
  boardUids: readonly number[];
  /** Those of other lanes as well that have newer versions than this, by lane. */
  others: ReadonlyMap<number, number>;
}

/** Where a page begins: behind this row. */
export type ScanKey = [windowUid: number, id: string];

/** How many rows one page looks at. */
export const SCANNED_AT_ONCE = 5000;

interface RankedTable {
  name: string;
  id: string;
  /** Columns that not all tables have. */
  columns: string;
}

const COLUMNS =
  'window_uid AS "windowUid", id, board_uid AS "boardUid", version, removed, score, achieved_at_ms AS "achievedAtMs"';

/** A page of rows by key, at or before a window. */
const pageSql = ({ name, id, columns }: RankedTable): string => `
  SELECT ${COLUMNS}, true AS matches, ${columns}
  FROM (SELECT *, ${id} AS id FROM ${name}
    WHERE (window_uid, ${id}) > ($1, $2) AND window_uid <= $3 ORDER BY window_uid, ${id} LIMIT ${SCANNED_AT_ONCE}) AS page`;

/** One page of a table by key, whatever its lane, so that no query reads more than a page. */
const conditionedPageSql = ({ name, id, columns }: RankedTable): string => `
  WITH page AS (
    SELECT *, ${id} AS id FROM ${name}
    WHERE (window_uid, ${id}) > ($1, $2) AND window_uid <= $3 ORDER BY window_uid, ${id} LIMIT ${SCANNED_AT_ONCE}),
  judged AS (
    SELECT *, coalesce(lane = $4 AND (version > $5 OR board_uid = ANY($6::int[])) OR version > ($7::bigint[])[lane + 1], false)
        AS matches,
      lead(id) OVER (ORDER BY window_uid, id) IS NULL AS is_last
    FROM page)
  SELECT ${COLUMNS}, matches, ${columns}
  FROM judged WHERE matches OR is_last ORDER BY window_uid, id`;

/** The two statements on a table. */
const statementsOn = (table: RankedTable): { page: string; conditioned: string } => ({
  page: pageSql(table),
  conditioned: conditionedPageSql(table),
});

const ENTRIES = statementsOn({
  name: 'projected_entries',
  id: 'player_id',
  columns: `nullif(columns, '{}') AS columns, nullif(scopes, '{}') AS scopes, nullif(left_scopes, '{}') AS "leftScopes",
    patch_runs AS runs`,
});
const TOTALS = statementsOn({
  name: 'guild_totals',
  id: 'guild_id',
  columns: 'null AS columns, null AS scopes, null AS "leftScopes", null AS runs',
});

const LAST_WINDOW = 2 ** 31 - 1;

/** The next page of a window's entries, or of its guilds' totals, in the order of their keys. */
export const scannedOfWindow = (
  database: SqlRunner,
  isGuild: boolean,
  from: ScanKey,
  windowUid: number,
): Promise<ScannedRow[]> => database.query(isGuild ? TOTALS.page : ENTRIES.page, [...from, windowUid]);

/** The next page of all entries, or of all guilds' totals: the rows of it that are wanted, and its last one. */
export const scannedOfLane = (
  database: SqlRunner,
  isGuild: boolean,
  from: ScanKey,
  { lane, version, boardUids, others }: ScanCondition,
): Promise<ScannedRow[]> => {
  const versions = Array.from({ length: Math.max(0, ...others.keys()) + 1 }, (_, of) => others.get(of) ?? null);
  const wanted = [lane, version, boardUids, versions];
  return database.query(isGuild ? TOTALS.conditioned : ENTRIES.conditioned, [...from, LAST_WINDOW, ...wanted]);
};
