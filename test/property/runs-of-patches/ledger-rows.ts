import {
  GLOBAL_SCOPE,
  isPatchScope,
  patchOfScope,
  patchScopeOf,
  valuesIn,
  type Board,
  type EntryChanged,
  type PatchOrder,
  type SortValues,
} from '@laddercast/domain';
import { exportedEntries, type PostgresDatabase } from '@laddercast/ledger';

/** A row of a taxed list, as PostgreSQL makes it. */
export interface ShownRow {
  player_id: string;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  raw_score: number;
  patch_uid: number;
  verified: boolean | null;
}

export interface WindowRow {
  windowUid: number;
  windowId: string;
  state: string;
  endsAtMs: number | null;
}

export const WINDOWS = `
  SELECT window_uid AS "windowUid", window_id AS "windowId", state, (extract(epoch FROM ends_at) * 1000)::bigint AS "endsAtMs"
  FROM windows WHERE board_uid = $1`;

/** The rows of the newest edition of a kind; all of them are written whole. */
export const NEWEST_EDITION = `
  SELECT s.player_id, s.score, s.columns, s.achieved_at_ms, s.metadata, s.raw_score, s.patch_uid, s.verified
  FROM standings s WHERE s.scope_uid = 0 AND s.edition_uid = (
    SELECT edition_uid FROM editions WHERE window_uid = $1 AND kind = $2 ORDER BY number DESC LIMIT 1)
  ORDER BY s.ordinal`;

/** The entries of a window under the tax of an order. */
export async function exportedRows(
  database: PostgresDatabase,
  { definition, runsFrom }: Board,
  windowUid: number,
  order: PatchOrder,
): Promise<ShownRow[]> {
  const list = { windowUid, scope: null, keepsRuns: runsFrom !== undefined, isPerRun: false };
  const options = { rows: 100, timeoutMs: 60_000, signal: new AbortController().signal };
  const rows = [];
  const asked = { ...list, tax: { definition, order } };
  for await (const chunk of exportedEntries(database, definition, asked, options)) rows.push(...chunk);
  return rows as unknown as ShownRow[];
}

/** What is kept of each entry, bit for bit and in its order, without what only says where a run is in the log. */
export const keptRuns = (database: PostgresDatabase, { uid }: Board): Promise<unknown[]> =>
  database.query(
    `SELECT w.window_id, e.player_id, ARRAY(SELECT run - 'position' FROM jsonb_array_elements(e.patch_runs)
       WITH ORDINALITY AS r (run, n) ORDER BY n) AS runs
     FROM windows w JOIN entries e USING (window_uid) WHERE w.board_uid = $1 AND NOT e.removed
     ORDER BY w.window_id, e.player_id`,
    [uid],
  );

/** What lists hold that heard of every event. */
export interface ToldLists {
  /** The patches in whose lists somebody is. */
  patches: number[];
  /** `player score`, in no order; of the taxed list where no patch is named. */
  of(windowUid: number, patch: number | null): string[];
}

/** Has lists follow events, under the newest tax. */
export function toldLists({ definition, patches }: Board, events: readonly EntryChanged[]): ToldLists {
  const lists = new Map<string, { scope: number; entries: Map<string, SortValues | null> }>();
  const listOf = (windowUid: number, scope: number): Map<string, SortValues | null> => {
    const key = `${windowUid}/${scope}`;
    const list = lists.get(key) ?? { scope, entries: new Map() };
    lists.set(key, list);
    return list.entries;
  };
  const tax = patches!.orders.at(-1)!;
  for (const { playerId, changes } of events) {
    for (const { windowUid, entry, scopes = [], leftScopes = [], runs } of changes) {
      for (const scope of leftScopes) listOf(windowUid, scope).delete(playerId);
      for (const scope of [GLOBAL_SCOPE, ...scopes]) {
        const values = entry && valuesIn(definition, { scope, ordering: definition, tax }, entry, runs);
        listOf(windowUid, scope).set(playerId, values);
      }
    }
  }
  const held = [...lists.values()].filter(({ entries }) => [...entries.values()].some((values) => values !== null));
  return {
    patches: held.flatMap(({ scope }) => (isPatchScope(scope) ? [patchOfScope(scope)] : [])),
    of: (windowUid, patch) =>
      [...listOf(windowUid, patch === null ? GLOBAL_SCOPE : patchScopeOf(patch))]
        .flatMap(([playerId, values]) => (values ? [`${playerId} ${values.score}`] : []))
        .sort(),
  };
}
