import { laneOf } from '@laddercast/domain';
import { LaneRaiser, type LaneMap, type SqlRunner } from '@laddercast/ledger';
import type { LedgerNode } from './ledger-node.js';

/** Topics whose events have the key by which they are placed. */
const PLACED_BY_KEY = ['entry-changed', 'player-changed', 'sanction-changed', 'run-recorded', 'window-closed'];

export const raiseLanes = ({ allLanes, lanes }: LedgerNode, count: number): Promise<readonly LaneMap[]> =>
  new LaneRaiser(allLanes, lanes).raise(count, 'admin');

/** Says no more of boards, nor of lanes, to this process: it knows what it knows, and what it is refused. */
export async function deafen({ boards }: LedgerNode): Promise<void> {
  await boards.refresh();
  boards.stop();
}

/** What is in a lane that is not that of its player, guild or board at its position; empty, if all is well. */
export async function misplaced(database: SqlRunner): Promise<unknown[]> {
  const maps = await database.query<LaneMap>('SELECT number, count, since FROM lane_maps ORDER BY number');
  const rows = await database.query<{ what: string; id: string; lane: number; position: number }>(
    `SELECT topic AS what, key AS id, lane, position FROM outbox WHERE topic = ANY($1)
     UNION ALL SELECT 'entry', player_id, lane, version FROM entries
     UNION ALL SELECT 'total', guild_id, lane, version FROM guild_totals`,
    [PLACED_BY_KEY],
  );
  const laneAt = (id: string, position: number): number =>
    laneOf(id, maps.findLast(({ since }) => since <= position)!.count);
  return rows.filter(({ id, lane, position }) => lane !== laneAt(id, position));
}

const ALL = Array.from({ length: 40 }, (_, index) => `p${index}`);
/** Players of one lane of 2, who are in four lanes of 8. */
export const SCATTERED = [0, 2, 4, 6].map((lane) => ALL.find((player) => laneOf(player, 8) === lane)!);
/** An id that has another lane of 8 than of 2. */
export const movedId = (idOf: (at: number) => string): string =>
  Array.from({ length: 40 }, (_, at) => idOf(at)).find((id) => laneOf(id, 8) >= 2)!;
