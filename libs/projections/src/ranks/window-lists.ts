import { everyLayout, GLOBAL_SCOPE, GUILDS_SCOPE, type Board, type Layout } from '@laddercast/domain';
import { keptAfterEndMs, PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { rankListOf, type BoardOfLists, type RankList } from './rank-projection.js';

/** A window whose keys may still be in the projection. */
export interface KeptWindow {
  uid: number;
  kind: string;
  /** When its keys may go, Unix ms; null for ever. */
  keepUntilMs: number | null;
}

const PAGE_ROWS = 5000;

/** A page of a window's entries: the last of them, and every scope that ranks one of them or did. */
const SCOPES_SQL = `
  WITH page AS MATERIALIZED (
    SELECT player_id, scopes || left_scopes AS scopes FROM entries
    WHERE window_uid = $1 AND player_id > $2 ORDER BY player_id LIMIT ${PAGE_ROWS})
  SELECT (SELECT max(player_id) FROM page) AS last, ARRAY(SELECT DISTINCT unnest(scopes) FROM page) AS scopes`;

/** Knows which lists the windows of a board have in the projection. */
@Injectable()
export class WindowLists {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The windows of a board whose end, if they have one, does not lie back for longer than they are kept. */
  async windowsOf(board: Pick<Board, 'uid' | 'definition'>): Promise<KeptWindow[]> {
    const keptMs = keptAfterEndMs(board.definition);
    const rows = await this.database.query<{ uid: number; kind: string; endsAtMs: number | null }>(
      `SELECT window_uid AS uid, kind, (extract(epoch FROM ends_at) * 1000)::float8 AS "endsAtMs" FROM windows
       WHERE board_uid = $1
         AND (ends_at IS NULL OR ends_at > ladder_now() - $2::float8 * interval '1 millisecond')
       ORDER BY window_uid`,
      [board.uid, keptMs],
    );
    return rows.map(({ uid, kind, endsAtMs }) => ({
      uid,
      kind,
      keepUntilMs: endsAtMs === null ? null : endsAtMs + keptMs,
    }));
  }

  /**
   * Every list of a window in these generations, all by default: of everybody, of guilds, and of each scope that ranks an
   * entry or did. Pages of entries are read.
   */
  async listsOf(
    board: BoardOfLists,
    windowUid: number,
    layouts: readonly Layout[] = everyLayout(board.layouts),
  ): Promise<RankList[]> {
    const scopes = new Set([GLOBAL_SCOPE, GUILDS_SCOPE]);
    for (let from: string | null = ''; from !== null;) {
      const [page]: { last: string | null; scopes: number[] }[] = await this.database.query(SCOPES_SQL, [
        windowUid,
        from,
      ]);
      for (const scope of page!.scopes) scopes.add(scope);
      from = page!.last;
    }
    return layouts.flatMap((layout) => [...scopes].map((scope) => rankListOf(board, windowUid, scope, layout)));
  }
}
