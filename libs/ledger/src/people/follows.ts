import { FOLLOWED_MAX, LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { lockCircles } from './circle-locks.js';
import { PostgresDatabase } from '../database/postgres-database.js';

/** Who follows whom: one way, and with any number of followers. */
@Injectable()
export class Follows {
  constructor(private readonly database: PostgresDatabase) {}

  /** @throws LIMIT_REACHED when the follower follows too many */
  async follow(followerId: string, followedId: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      // Only the follower's list is counted: a player with a million followers is no place where they wait in line.
      await lockCircles(transaction, [`follower ${followerId}`]);
      const [row] = await transaction.query<{ others: number }>(
        'SELECT count(*)::int AS others FROM follows WHERE follower_id = $1 AND followed_id <> $2',
        [followerId, followedId],
      );
      if (row!.others >= FOLLOWED_MAX) {
        const detail = `"${followerId}" follows ${FOLLOWED_MAX} players already.`;
        throw new LadderError('LIMIT_REACHED', detail, { player: followerId });
      }
      await transaction.query(
        'INSERT INTO follows (follower_id, followed_id, since) VALUES ($1, $2, ladder_now()) ON CONFLICT DO NOTHING',
        [followerId, followedId],
      );
    });
  }

  async unfollow(followerId: string, followedId: string): Promise<void> {
    await this.database.query('DELETE FROM follows WHERE follower_id = $1 AND followed_id = $2', [
      followerId,
      followedId,
    ]);
  }
}
