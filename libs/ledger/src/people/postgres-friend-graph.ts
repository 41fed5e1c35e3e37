import { FriendGraph } from '@laddercast/extension';
import { FOLLOWED_MAX, FRIENDS_MAX } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

const FRIENDS_SQL = `SELECT friend_id AS id FROM friendships WHERE player_id = $1 AND state = 'friends'
  ORDER BY friend_id LIMIT ${FRIENDS_MAX}`;
const FOLLOWED_SQL = `SELECT followed_id AS id FROM follows WHERE follower_id = $1 ORDER BY followed_id LIMIT ${FOLLOWED_MAX}`;

/** The service's own friend graph: what {@link Friendships} and {@link Follows} have written. One keyed query a call. */
@Injectable()
export class PostgresFriendGraph extends FriendGraph {
  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {
    super();
  }

  friendsOf(playerId: string): Promise<string[]> {
    return this.idsOf(FRIENDS_SQL, playerId);
  }

  followedBy(playerId: string): Promise<string[]> {
    return this.idsOf(FOLLOWED_SQL, playerId);
  }

  private async idsOf(sql: string, playerId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(sql, [playerId]);
    return rows.map(({ id }) => id);
  }
}
