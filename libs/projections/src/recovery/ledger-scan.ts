import {
  PostgresDatabase,
  SCANNED_AT_ONCE,
  scannedOfLane,
  scannedOfWindow,
  type ScanCondition,
  type ScanKey,
  type ScannedRow,
  type SqlRunner,
} from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import type { EntryInLists } from '../ranks/changes-by-shard.js';

/** Rows of one table, in the order of their keys. */
export interface ScannedPage {
  isGuild: boolean;
  rows: ScannedRow[];
}

/** A window that the projection keeps. */
export interface WindowKept {
  /** Unix ms; null: it has no beginning. */
  startsAtMs: number | null;
  /** Unix ms; null: it has no end. */
  endsAtMs: number | null;
  /** Until when it is kept, Unix ms; null for ever. */
  keepUntilMs: number | null;
}

/** Windows by their number, ascending. */
export type WindowsKept = ReadonlyMap<number, WindowKept>;

/** Reads the rows that the ranks come from, a bounded page at a time; the next is read while one is worked on. */
@Injectable()
export class LedgerScan {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The rows of all windows that the condition wants. */
  async *ofLane(windows: WindowsKept, condition: ScanCondition): AsyncGenerator<ScannedPage> {
    for (const isGuild of [false, true]) {
      const read = (from: ScanKey) => scannedOfLane(this.database, isGuild, from, condition);
      for await (const rows of readAhead(read, [0, ''], (rows) => nextPage(rows.at(-1), windows))) {
        const wanted = rows.filter(({ windowUid, matches }) => matches && windows.has(windowUid));
        yield { isGuild, rows: wanted };
      }
    }
  }

  /** All rows of one window, or those after a key that was reached. */
  async *ofWindow(
    windowUid: number,
    after: { isGuild: boolean; id: string } | null = null,
  ): AsyncGenerator<ScannedPage> {
    for (const isGuild of [false, true]) {
      if (after?.isGuild && !isGuild) continue;
      const first = after?.isGuild === isGuild ? after.id : '';
      const read = (from: ScanKey) => scannedOfWindow(this.database, isGuild, from, windowUid);
      const next = (rows: ScannedRow[]): ScanKey | null =>
        rows.length < SCANNED_AT_ONCE ? null : [windowUid, rows.at(-1)!.id];
      for await (const rows of readAhead(read, [windowUid, first], next)) yield { isGuild, rows };
    }
  }
}

const NONE: number[] = [];

/** What a row says of its entry. */
export const entryOfRow = (
  row: ScannedRow,
  isGuild: boolean,
  { startsAtMs, endsAtMs, keepUntilMs }: WindowKept,
): EntryInLists => ({
  windowUid: row.windowUid,
  startsAtMs,
  endsAtMs,
  playerId: row.id,
  version: row.version,
  values: row.removed ? null : { score: row.score, columns: row.columns ?? NONE, achievedAtMs: row.achievedAtMs },
  ...(row.runs && { runs: row.runs }),
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
  read: (from: ScanKey) => Promise<ScannedRow[]>,
  first: ScanKey,
  nextOf: (rows: ScannedRow[]) => ScanKey | null,
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
function nextPage(last: ScannedRow | undefined, windows: WindowsKept): ScanKey | null {
  if (last === undefined) return null;
  if (windows.has(last.windowUid)) return [last.windowUid, last.id];
  for (const windowUid of windows.keys()) if (windowUid > last.windowUid) return [windowUid, ''];
  return null;
}
