import { slotOf } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { declareLane } from './lane-heads.js';
import type { LaneMap, Lanes, Place } from './lanes.js';

const opening = (lane: number, take: string): string =>
  `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; ${declareLane(lane)}; SELECT ${take}`;

/**
 * Begins a transaction and takes the lane, in one round trip, as {@link takeLane} does. A batch always reads by keys, which
 * PostgreSQL does not know: it would plan each batch anew, which takes as long as the batch itself. The writer of a lane moves its
 * head by itself.
 */
export const openLaneSql = ({ lane, map }: Place): string => opening(lane, `ladder_take_lane(${lane}, ${map})`);

/** As {@link openLaneSql}, for a commit that fails where the lane's head has moved: it has, where lanes were raised. */
export const openKnownLaneSql = (lane: number): string =>
  opening(lane, `pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${lane})`);

const TAKE_LANE = prepared('SELECT ladder_take_lane($1, $2)');
const TAKE_LANE_OF = 'SELECT ladder_take_lane_of($1) AS lane';
const TAKE_ALL_LANES = prepared('SELECT number, count, since FROM ladder_take_all_lanes()');

/**
 * Takes the lane's lock, which is held to the commit, so that positions become visible in order.
 * @throws PostgreSQL's refusal where lanes were raised meanwhile, see {@link placedAnew}
 */
export async function takeLane(transaction: SqlRunner, { lane, map }: Place): Promise<void> {
  await transaction.query(TAKE_LANE, [lane, map]);
}

/** The same for an id, whatever this process knows of lanes; returns its lane. For work that is too dear to be refused. */
export async function takeLaneOf(transaction: SqlRunner, id: string): Promise<number> {
  const [taken] = await transaction.query<{ lane: number }>(TAKE_LANE_OF, [slotOf(id)]);
  return taken!.lane;
}

/** Takes every lane that there is, in ascending order: nothing is written anywhere until the transaction ends. */
export async function takeAllLanes(transaction: SqlRunner, lanes: Lanes): Promise<void> {
  lanes.adopt(await transaction.query<LaneMap>(TAKE_ALL_LANES));
}
