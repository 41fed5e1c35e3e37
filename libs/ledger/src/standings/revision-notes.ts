import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** A player whose row in a window's standings may differ from now on, or the rows of guilds that kept something of it. */
export interface TouchedPlayer {
  windowUid: number;
  /** Or the key of a run's entry. */
  playerId: string;
  /** Guilds whose tables may differ although no row of the player is ranked in them. */
  guildIds?: readonly string[];
}

/** How long acts gather: those within it share an edition. */
export const REVISION_GATHERS_MS = 2000;
/** How many windows one look finds. */
const WINDOWS_AT_ONCE = 100;

/** Windows that run unfrozen have no standings that anybody reads. */
const NOTE = `
  INSERT INTO revisions_due (window_uid, player_id, guild_ids, audit_id, noted_at)
  SELECT w.window_uid, t.player_id, t.guild_ids, $2, clock.now
  FROM json_to_recordset($1::json) AS t (window_uid int, player_id text, guild_ids text[])
  JOIN windows w ON w.window_uid = t.window_uid
  CROSS JOIN (SELECT ladder_now() AS now) AS clock
  WHERE w.state <> 'open' OR w.freeze_at <= clock.now`;

/**
 * Windows whose notes have gathered, and whose standings are written. Closed windows are left to their settling; those whose
 * entries are being written anew wait until all of them are.
 */
export const REVISIONS_DUE = `
  SELECT due.window_uid AS "windowUid", CASE w.state WHEN 'open' THEN 'frozen' ELSE 'final' END AS kind
  FROM (
    SELECT window_uid, min(noted_at) AS since FROM revisions_due
    WHERE noted_at <= (SELECT ladder_now()) - ${REVISION_GATHERS_MS} * interval '1 millisecond' GROUP BY window_uid) AS due
  JOIN windows w USING (window_uid) JOIN boards b USING (board_uid)
  WHERE b.board_id IS NOT NULL AND w.state <> 'closed'
    AND NOT EXISTS (SELECT FROM restatements r
      WHERE r.window_uid = w.window_uid AND r.entries IS NOT NULL AND r.done_at IS NULL)
  ORDER BY due.since, due.window_uid LIMIT ${WINDOWS_AT_ONCE}`;

/** Of windows whose standings are written: what waits for the settling of its window is no lag. */
const LAG = `
  SELECT coalesce(extract(epoch FROM (SELECT ladder_now()) - min(d.noted_at)), 0)::float8 AS seconds
  FROM revisions_due d JOIN windows w USING (window_uid) JOIN boards b USING (board_uid)
  WHERE b.board_id IS NOT NULL AND w.state <> 'closed'`;

/** A window whose standings are behind what was decided. */
export interface DueWindow {
  windowUid: number;
  kind: 'final' | 'frozen';
}

/**
 * Notes that an act changed entries of windows, so that those whose standings are written, or are about to be, get another
 * edition. To be called in the act's transaction, under the lane of the players, after their entries changed. Windows that
 * run unfrozen may be among them: nothing is noted of those.
 * @param auditId of the act's record; null: it has none
 */
export async function noteRevision(
  transaction: SqlRunner,
  touched: readonly TouchedPlayer[],
  auditId: number | null,
): Promise<void> {
  if (touched.length === 0) return;
  const rows = touched.map(({ windowUid, playerId, guildIds = [] }) => ({
    window_uid: windowUid,
    player_id: playerId,
    guild_ids: guildIds,
  }));
  await transaction.query(NOTE, [JSON.stringify(rows), auditId]);
}

/** The windows whose next edition is due. */
export const dueWindows = (database: SqlRunner): Promise<DueWindow[]> => database.query<DueWindow>(REVISIONS_DUE);

/** For metrics. */
@Injectable()
export class RevisionLag {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** For how many seconds the oldest act has waited that standings do not show yet; 0 where none does. */
  async seconds(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(LAG);
    return row!.seconds;
  }
}
