import { compareSortKeys, encodeSortKey, valueKeyOf, type SortKey } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { standingsAt, type StandingRow } from '../standings/standings-rows.js';
import type { StandingsList } from './edition-overlays.js';
import type { LaidRow, StandingValues } from './list-overlay.js';

/** How many rows a step looks at for each place: a few places take few steps, many take few rows. */
const PROBES_OF_FEW = 63;
const PROBES_OF_MANY = 7;
const FEW_PLACES = 30;
/** The most rows of one statement. */
const ROWS_AT_ONCE = 5000;

/** A row as the search reads it. */
type ProbedRow = StandingRow & { ordinal: number };

/** Whether a row stands before the place that is looked for: it holds up to that place, and not behind it. */
type IsBefore = (row: ProbedRow) => boolean;

/** Where rows would stand in a list of a base that does not have them, in the order given. */
export async function placesInBase(
  database: SqlRunner,
  list: StandingsList,
  rows: readonly StandingValues[],
): Promise<LaidRow[]> {
  const keyOf = (row: StandingValues | ProbedRow): SortKey =>
    encodeSortKey(list.ordering, { ...row, achievedAtMs: row.achieved_at_ms }, row.player_id);
  const valueOf = (row: StandingValues | ProbedRow): SortKey => valueKeyOf(list.ordering, keyOf(row));
  const counts = await countBefore(
    database,
    list,
    rows.flatMap((row): IsBefore[] => {
      const [key, value] = [keyOf(row), valueOf(row)];
      return [
        (other) => compareSortKeys(keyOf(other), key) < 0,
        (other) => compareSortKeys(valueOf(other), value) < 0,
        (other) => compareSortKeys(valueOf(other), value) <= 0,
      ];
    }),
  );
  const placed = rows.map((row, index) => {
    const [before, better, notWorse] = counts.slice(3 * index, 3 * index + 3) as [number, number, number];
    return { ...row, before, better, notWorse };
  });
  // The last row that is better says how many better values there are.
  const lastBetter = await rowsAt(
    database,
    list,
    placed.map(({ better }) => better),
  );
  return placed.map((row) => ({ ...row, betterValues: lastBetter.get(row.better)?.dense ?? 0 }));
}

/** The ordinals of the last rows that have the values of these rows of the base, in the order given. */
export function lastOfValues(
  database: SqlRunner,
  list: StandingsList,
  rows: readonly { competition: number }[],
): Promise<number[]> {
  return countBefore(
    database,
    list,
    rows.map(
      ({ competition }): IsBefore =>
        (row) =>
          row.competition <= competition,
    ),
  );
}

/** How many rows of the list stand before each of some places: all are searched for together, step by step. */
async function countBefore(database: SqlRunner, list: StandingsList, places: readonly IsBefore[]): Promise<number[]> {
  if (places.length === 0) return [];
  const [head] = await standingsAt(database, list, []);
  const total = head?.total ?? 0;
  const searches = places.map((isBefore) => ({ isBefore, before: 0, after: total + 1 }));
  const probes = places.length <= FEW_PLACES ? PROBES_OF_FEW : PROBES_OF_MANY;
  for (let open = searches; ;) {
    open = open.filter(({ before, after }) => after - before > 1);
    if (open.length === 0) return searches.map(({ before }) => before);
    const asked = open.map(({ before, after }) => probesBetween(before, after, probes));
    const rows = await rowsAt(database, list, asked.flat());
    for (const [index, search] of open.entries()) {
      for (const ordinal of asked[index]!) {
        const row = rows.get(ordinal);
        if (row === undefined) throw new Error(`Edition ${list.edition} has no row ${ordinal} in list ${list.scope}.`);
        if (search.isBefore(row)) search.before = Math.max(search.before, ordinal);
        else search.after = Math.min(search.after, ordinal);
      }
    }
  }
}

async function rowsAt(
  database: SqlRunner,
  list: StandingsList,
  ordinals: readonly number[],
): Promise<Map<number, ProbedRow>> {
  const asked = [...new Set(ordinals)].filter((ordinal) => ordinal > 0);
  const found = new Map<number, ProbedRow>();
  for (let at = 0; at < asked.length; at += ROWS_AT_ONCE) {
    for (const row of await standingsAt(database, list, asked.slice(at, at + ROWS_AT_ONCE))) {
      if (row.ordinal !== null) found.set(row.ordinal, { ...row, ordinal: row.ordinal });
    }
  }
  return found;
}

/** At most so many ordinals between two that are excluded, evenly spread; at least one. */
export function probesBetween(before: number, after: number, most: number): number[] {
  const step = Math.max(1, (after - before) / (most + 1));
  const probes: number[] = [];
  for (let at = before + step; at < after && probes.length < most; at += step) probes.push(Math.floor(at));
  return probes;
}
