/**
 * Joins, to the entries `e` of window `$1`, as `run` the `verified` and `proof` of the run that each rests on; null where that
 * is none that the board keeps.
 * @param player the player of the entry `e`, as SQL
 * @param position of the run, as SQL: on boards with decay that of the run that stands
 */
export const joinRunOfEntrySql = (player: string, position = 'e.run_position'): string => `
  LEFT JOIN (
    SELECT board_uid AS of_board, player_id AS of_player, position AS at, verified, proof FROM runs) AS run
  ON run.of_board = e.board_uid AND run.of_player = ${player} AND run.at = ${position}
    AND run.at >= (SELECT runs_from FROM windows JOIN boards USING (board_uid) WHERE window_uid = $1)`;
