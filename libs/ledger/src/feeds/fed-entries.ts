import type { PlainEntryState } from '@laddercast/domain';
import { int4Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

export interface FedEntryKey {
  readonly windowUid: number;
  readonly playerId: string;
}

/** An entry of a board that a pool feeds, as it is stored. */
export interface StoredFedEntry {
  /** Up to which position the pool was rated when it was written last; -1: it never was. */
  readonly feedPosition: number;
  /** null: none that is ranked. */
  readonly entry: PlainEntryState | null;
}

type EntryRow = Omit<PlainEntryState, 'version'> & { feedPosition: number | null; version: number | null };

const FED_ENTRIES = prepared(`
  SELECT f.position AS "feedPosition", e.version, e.score, e.columns, e.achieved_at_ms AS "achievedAtMs", e.metadata
  FROM unnest($1::int[], $2::text[]) WITH ORDINALITY AS k (window_uid, player_id, n)
  LEFT JOIN LATERAL (
    SELECT position FROM entry_feeds WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS f ON true
  LEFT JOIN LATERAL (
    SELECT * FROM ranked_entries WHERE window_uid = k.window_uid AND player_id = k.player_id LIMIT 1) AS e ON true
  ORDER BY k.n`);

/** One for each key, in their order. */
export async function fedEntries(sql: SqlRunner, keys: readonly FedEntryKey[]): Promise<StoredFedEntry[]> {
  const rows = await sql.query<EntryRow>(FED_ENTRIES, [
    int4Array(keys.map(({ windowUid }) => windowUid)),
    textArray(keys.map(({ playerId }) => playerId)),
  ]);
  return rows.map(({ feedPosition, version, ...entry }) => ({
    feedPosition: feedPosition ?? -1,
    entry: version === null ? null : { ...entry, version },
  }));
}
