import { GLOBAL_SCOPE, type EntryState } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { sanctionInForce } from './sanction-rows.js';
import { prepared } from '../database/postgres-statements.js';

const UNRANKED_ENTRY = prepared(`
  SELECT score, columns, achieved_at_ms AS "achievedAtMs", metadata, version FROM entries
  WHERE window_uid = $1 AND player_id = $2 AND unranked AND NOT removed
    AND ($3 = ${GLOBAL_SCOPE} OR $3 = ANY (scopes))`);

/** The entry of a player in a window and scope that is ranked for nobody else; undefined: it has none of the kind. */
export async function unrankedEntry(
  sql: SqlRunner,
  { windowUid, scope }: { windowUid: number; scope: number },
  playerId: string,
): Promise<EntryState | undefined> {
  const [entry] = await sql.query<EntryState>(UNRANKED_ENTRY, [windowUid, playerId, scope]);
  return entry;
}

/** As {@link unrankedEntry}, of a shadowed player alone. */
export async function shadowedEntry(
  sql: SqlRunner,
  list: { windowUid: number; scope: number },
  playerId: string,
): Promise<EntryState | undefined> {
  const entry = await unrankedEntry(sql, list, playerId);
  return entry && (await sanctionInForce(sql, playerId))?.kind === 'shadow' ? entry : undefined;
}
