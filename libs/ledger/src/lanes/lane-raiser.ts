import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import type { PostgresDatabase } from '../database/postgres-database.js';
import { recordAudit } from '../operators/audit-log.js';
import { AllLanes } from './all-lanes.js';
import { settledValue } from './installation.js';
import { nextPosition } from './lane-events.js';
import { makeHeads, makeMissingHeads, moveHeads } from './lane-heads.js';
import { Lanes, LANES_MAX, readLaneMaps, type LaneMap } from './lanes.js';

/** The row of `installation` by which releases that know one number of lanes see whether they fit. */
const COUNT = 'lanes';

/** Raises the number of lanes while everything runs. */
@Injectable()
export class LaneRaiser {
  constructor(
    private readonly allLanes: AllLanes,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Under all lanes, for a moment: what was written before is of players as they were placed, and what is written from here on as
   * they are placed by the new map. Who wrote by the old one is refused under the lane's lock, and looks again.
   * @returns all maps, the new one last; nothing changes where there are so many already
   * @param actor the id of the key that asks
   * @throws LANES_NOT_RAISED where the number is none that lanes can be raised to
   */
  async raise(count: number, actor: string): Promise<readonly LaneMap[]> {
    const maps = await this.allLanes.change(async (transaction) => {
      const { count: before } = this.lanes;
      if (count === before) return readLaneMaps(transaction);
      assertRaises(before, count);
      await makeHeads(transaction, count);
      // So that no commit is made by what a writer remembers.
      await moveHeads(transaction, before);
      const since = await nextPosition(transaction);
      await transaction.query('INSERT INTO lane_maps (number, count, since) VALUES ($1, $2, $3)', [
        this.lanes.number + 1,
        count,
        since,
      ]);
      await transaction.query('UPDATE installation SET value = $2 WHERE name = $1', [COUNT, String(count)]);
      const details = { from: before, to: count };
      await recordAudit(transaction, { actor, action: 'lanes.raise', subject: 'lanes', details });
      return readLaneMaps(transaction);
    });
    this.lanes.adopt(maps);
    return maps;
  }
}

function assertRaises(before: number, count: number): void {
  if (count > before && count % before === 0 && count <= LANES_MAX) return;
  const next = Array.from({ length: LANES_MAX }, (_, n) => n + 1).filter((n) => n > before && n % before === 0);
  const why =
    count < before
      ? `There are ${before} lanes, and their number is only raised.`
      : `From ${before} lanes their number is raised to a multiple of that, up to ${LANES_MAX}, so that players leave lanes for new ones alone.`;
  throw new LadderError(
    'LANES_NOT_RAISED',
    next.length === 0 ? `${why} There are no more.` : `${why} Next is ${next[0]}.`,
  );
}

/**
 * Has the number of lanes settled by the first start, and makes what is missing of them.
 * @throws when the installation never had so many
 */
export async function settleLanes(database: PostgresDatabase, count: number): Promise<void> {
  const settled = await settledValue(database, COUNT, String(count));
  await database.query('INSERT INTO lane_maps (number, count, since) VALUES (0, $1, 0) ON CONFLICT DO NOTHING', [
    Number(settled),
  ]);
  const maps = await readLaneMaps(database);
  if (!maps.some((map) => map.count === count)) {
    throw new Error(
      `This installation was made with LEDGER_LANES=${maps[0]!.count}; set it back. Lanes are raised while it serves, by PUT /v1/admin/lanes.`,
    );
  }
  await makeMissingHeads(database, maps.at(-1)!.count);
}
