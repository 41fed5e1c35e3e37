const VALUES = ['score', 'columns', 'achieved_at_ms', 'metadata', 'scopes', 'run_position', 'patch_runs'];
const of = (table: string): string => VALUES.map((column) => `${table}.${column}`).join(', ');

/** The entry of a key, as SQL, in window `$1`, ranked or not, and removed ones too. */
export const entryNowSql = (key: string): string => `
  SELECT * FROM entries WHERE window_uid = $1 AND player_id = ${key} LIMIT 1`;

/** The same as it was when the window froze: the first change after that saved it. One that was not there then is none. */
export const entryAtFreezeSql = (key: string): string => `
  SELECT n.board_uid, n.player_id, ${of('n')}
  FROM entries n
  WHERE n.window_uid = $1 AND n.player_id = ${key}
    AND NOT EXISTS (SELECT FROM frozen_entries WHERE window_uid = $1 AND player_id = ${key})
  UNION ALL
  SELECT n.board_uid, n.player_id, ${of('f')}
  FROM frozen_entries f JOIN entries n USING (window_uid, player_id)
  WHERE f.window_uid = $1 AND f.player_id = ${key} AND f.present
  LIMIT 1`;
