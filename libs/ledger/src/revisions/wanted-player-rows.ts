import { GLOBAL_SCOPE, GUILDS_SCOPE } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import type { NotedRow } from './edition-reviser-sql.js';
import { baseRows, type ChangesByRow, type WantedRow } from './row-differences.js';

/** What the lists should show of players who were noted: of each list that ranks them now, or did in an edition so far. */
export async function wantedPlayerRows(
  transaction: SqlRunner,
  base: number,
  changes: ChangesByRow,
  noted: readonly NotedRow[],
): Promise<WantedRow[]> {
  const players = new Map(noted.map((row) => [row.player_id, row]));
  const scopes = new Map([...players].map(([id, row]) => [id, new Set([GLOBAL_SCOPE, ...(row.scopes ?? [])])]));
  const everybody = [...players.keys()].map((playerId) => ({ scope: GLOBAL_SCOPE, playerId }));
  for (const row of await baseRows(transaction, base, everybody)) {
    for (const scope of row.scopes) scopes.get(row.player_id)!.add(scope);
  }
  for (const { scope_uid, player_id } of changes.rows) {
    if (scope_uid !== GUILDS_SCOPE) scopes.get(player_id)?.add(scope_uid);
  }
  return [...players].flatMap(([playerId, row]) =>
    [...scopes.get(playerId)!].map((scope) => ({ scope, playerId, row: rowIn(scope, row) })),
  );
}

/** What a list shows of an entry. */
function rowIn(scope: number, noted: NotedRow): WantedRow['row'] {
  const { player_id, score, columns, achieved_at_ms, metadata, scopes, verified, proof } = noted;
  if (score === null || (scope !== GLOBAL_SCOPE && !scopes!.includes(scope))) return null;
  return {
    player_id,
    score,
    columns: columns!,
    achieved_at_ms: achieved_at_ms!,
    metadata,
    verified,
    proof,
    scopes: scopes!,
    members: null,
  };
}
