import { PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import type { EntryInLists } from '../ranks/changes-by-shard.js';

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
  /** false for a page's last row when it only shows how far the page went. */
  matches: boolean;
}

/** Rows of one table, in the order of their keys. */
export interface ScannedPage {
  isGuild: boolean;
  rows: ScannedRow[];
}

/** Which rows are wanted of a scan over all boards. */
export interface ScanCondition {
  lane: number;
  /** Those with a newer version … */
  version: number;
  /** … and, whatever their version, those of these boards. */
  boardUids: readonly number[];
}

/** Windows by their number, ascending: until when the projection keeps each (Unix ms), null for ever. */
export type WindowsKept = ReadonlyMap<number, number | null>;

/** How many rows one query looks at. */
const PAGE_ROWS = 5000;

interface RankedTable {
  isGuild: boolean;
  name: string;
  id: string;
  /** Columns that not all tables have. */
  columns: string;
}

const RANKED_TABLES: RankedTable[] = [
  {
    isGuild: false,
    name: 'entries',
    id: 'player_id',
    columns: `nullif(columns, '{}') AS columns, nullif(scopes, '{}') AS scopes, nullif(left_scopes, '{}') AS "leftScopes"`,
  },
  {
    isGuild: true,
    name: 'guild_totals',
    id: 'guild_id',
    columns: 'null AS columns, null AS scopes, null AS "leftScopes"',
  },
];

const COLUMNS =
  'window_uid AS "windowUid", id, board_uid AS "boardUid", version, removed, score, achieved_at_ms AS "achievedAtMs"';

/** A page of rows by key, at or before a window. */
const pageSql = ({ name, id, columns }: RankedTable): string => `
  SELECT ${COLUMNS}, true AS matches, ${columns}
  FROM (SELECT *, ${id} AS id FROM ${name}
    WHERE (window_uid, ${id}) > ($1, $2) AND window_uid <= $3 ORDER BY window_uid, ${id} LIMIT ${PAGE_ROWS}) AS page`;

/** One page of a table by key, whatever its lane, so that no query reads more than a page. */
const conditionedPageSql = ({ name, id, columns }: RankedTable): string => `
  WITH page AS (
    SELECT *, ${id} AS id FROM ${name}
    WHERE (window_uid, ${id}) > ($1, $2) AND window_uid <= $3 ORDER BY window_uid, ${id} LIMIT ${PAGE_ROWS}),
  judged AS (
    SELECT *, lane = $4 AND (version > $5 OR board_uid = ANY($6::int[])) AS matches,
      lead(id) OVER (ORDER BY window_uid, id) IS NULL AS is_last
    FROM page)
  SELECT ${COLUMNS}, matches, ${columns}
  FROM judged WHERE matches OR is_last ORDER BY window_uid, id`;

const LAST_WINDOW = 2 ** 31 - 1;

type Key = [windowUid: number, id: string];

/** Reads the rows that the ranks come from, a bounded page at a time; the next is read while one is worked on. */
@Injectable()
export class LedgerScan {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The rows of all windows that the condition wants. */
  async *ofLane(windows: WindowsKept, { lane, version, boardUids }: ScanCondition): AsyncGenerator<ScannedPage> {
    for (const table of RANKED_TABLES) {
      const sql = conditionedPageSql(table);
      const read = (from: Key) =>
        this.database.query<ScannedRow>(sql, [...from, LAST_WINDOW, lane, version, boardUids]);
      for await (const rows of readAhead(read, [0, ''], (rows) => nextPage(rows.at(-1), windows))) {
        const wanted = rows.filter(({ windowUid, matches }) => matches && windows.has(windowUid));
        yield { isGuild: table.isGuild, rows: wanted };
      }
    }
  }

  /** All rows of one window, or those after a key that was reached. */
  async *ofWindow(
    windowUid: number,
    after: { isGuild: boolean; id: string } | null = null,
  ): AsyncGenerator<ScannedPage> {
    for (const table of RANKED_TABLES) {
      if (after?.isGuild && !table.isGuild) continue;
      const first = after?.isGuild === table.isGuild ? after.id : '';
      const sql = pageSql(table);
      const read = (from: Key) => this.database.query<ScannedRow>(sql, [...from, windowUid]);
      const next = (rows: ScannedRow[]): Key | null => (rows.length < PAGE_ROWS ? null : [windowUid, rows.at(-1)!.id]);
      for await (const rows of readAhead(read, [windowUid, first], next)) yield { isGuild: table.isGuild, rows };
    }
  }
}

const NONE: number[] = [];

/** What a row says of its entry; the window is kept until `keepUntilMs`. */
export const entryOfRow = (row: ScannedRow, isGuild: boolean, keepUntilMs: number | null): EntryInLists => ({
  windowUid: row.windowUid,
  startsAtMs: null,
  playerId: row.id,
  version: row.version,
  values: row.removed ? null : { score: row.score, columns: row.columns ?? NONE, achievedAtMs: row.achievedAtMs },
  scopes: row.scopes ?? NONE,
  leftScopes: row.leftScopes ?? NONE,
  isGuild,
  keepUntilMs,
});

/** Works on pages in any order, one beside the next: the store is busy while a page is made ready for it. */
export async function workOnPages(
  pages: AsyncIterable<ScannedPage>,
  work: (page: ScannedPage) => Promise<void>,
): Promise<void> {
  let underWay: Promise<void> = Promise.resolve();
  for await (const page of pages) {
    const next = work(page);
    // It is awaited below, or by the next turn.
    next.catch(() => undefined);
    await underWay;
    underWay = next;
  }
  await underWay;
}

async function* readAhead(
  read: (from: Key) => Promise<ScannedRow[]>,
  first: Key,
  nextOf: (rows: ScannedRow[]) => Key | null,
): AsyncGenerator<ScannedRow[]> {
  let reading: Promise<ScannedRow[]> | null = read(first);
  while (reading !== null) {
    const rows: ScannedRow[] = await reading;
    const from = nextOf(rows);
    reading = from && read(from);
    // Whoever has enough does not wait for it.
    reading?.catch(() => undefined);
    yield rows;
  }
}

/** Where the next page begins; null at the end. What is left of a window that is not kept is passed over. */
function nextPage(last: ScannedRow | undefined, windows: WindowsKept): Key | null {
  if (last === undefined) return null;
  if (windows.has(last.windowUid)) return [last.windowUid, last.id];
  for (const windowUid of windows.keys()) if (windowUid > last.windowUid) return [windowUid, ''];
  return null;
}
