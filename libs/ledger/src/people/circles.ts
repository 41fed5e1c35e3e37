import { CIRCLE_MEMBERS_MAX, LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { lockCircles } from './circle-locks.js';
import { PostgresDatabase } from '../database/postgres-database.js';

const MEMBERS_SQL = `
  SELECT m.player_id AS id, coalesce(p.listed, true) AND NOT EXISTS (
      SELECT 1 FROM sanctions WHERE player_id = m.player_id AND ended_at IS NULL AND boards IS NULL) AS listed
  FROM circle_members AS m LEFT JOIN players AS p USING (player_id)
  WHERE m.circle_id = $1 ORDER BY 1`;

/** Named circles of players. One is there as long as it has members. */
@Injectable()
export class Circles {
  constructor(private readonly database: PostgresDatabase) {}

  /**
   * @returns how many members it has now
   * @throws LIMIT_REACHED
   */
  add(circleId: string, playerId: string): Promise<number> {
    return this.database.transaction(async (transaction) => {
      await lockCircles(transaction, [`circle ${circleId}`]);
      const [row] = await transaction.query<{ others: number }>(
        'SELECT count(*)::int AS others FROM circle_members WHERE circle_id = $1 AND player_id <> $2',
        [circleId, playerId],
      );
      if (row!.others >= CIRCLE_MEMBERS_MAX) {
        throw new LadderError('LIMIT_REACHED', `The circle "${circleId}" has ${CIRCLE_MEMBERS_MAX} members already.`);
      }
      await transaction.query(
        'INSERT INTO circle_members (circle_id, player_id, since) VALUES ($1, $2, ladder_now()) ON CONFLICT DO NOTHING',
        [circleId, playerId],
      );
      return row!.others + 1;
    });
  }

  async remove(circleId: string, playerId: string): Promise<void> {
    await this.database.query('DELETE FROM circle_members WHERE circle_id = $1 AND player_id = $2', [
      circleId,
      playerId,
    ]);
  }

  /** In the order of the ids' bytes; `listed` says whether others may see the player among them. */
  membersOf(circleId: string): Promise<{ id: string; listed: boolean }[]> {
    return this.database.query<{ id: string; listed: boolean }>(MEMBERS_SQL, [circleId]);
  }
}
