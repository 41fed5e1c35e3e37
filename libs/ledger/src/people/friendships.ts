import { ASKED_BY_MAX, ASKED_MAX, FRIENDS_MAX, LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { lockCircles } from './circle-locks.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** `asked`: it waits until the other player asks, too. */
export type FriendshipState = 'friends' | 'asked';

/** A player's friends and open requests, each in the order of the ids' bytes. */
export interface FriendLists {
  friends: string[];
  /** Whom the player has asked. */
  asked: string[];
  /** Who has asked the player. */
  askedBy: string[];
}

const MAKE_FRIENDS = `
  INSERT INTO friendships (player_id, friend_id, state, since)
  VALUES ($1, $2, 'friends', ladder_now()), ($2, $1, 'friends', ladder_now())
  ON CONFLICT (player_id, friend_id) DO UPDATE SET state = 'friends', since = excluded.since
  WHERE friendships.state <> 'friends'`;

const LISTS_SQL = `
  SELECT friend_id AS id, state::text AS list FROM friendships WHERE player_id = $1
  UNION ALL
  SELECT player_id, 'askedBy' FROM friendships WHERE friend_id = $1 AND state = 'asked'
  ORDER BY 1`;

/** Symmetric friendships, and the requests that come before them. Every write holds the lists of both players. */
@Injectable()
export class Friendships {
  constructor(private readonly database: PostgresDatabase) {}

  /**
   * One player asks another: they are friends when the other had asked before, else it waits.
   * @throws LIMIT_REACHED, naming whose list is full
   */
  ask(playerId: string, otherId: string): Promise<FriendshipState> {
    return this.change(playerId, otherId, async (transaction) => {
      const { mine, theirs } = await statesOf(transaction, playerId, otherId);
      if (mine !== null) return mine;
      if (theirs === 'asked') return befriend(transaction, playerId, otherId);
      await assertRoom(transaction, 'friends', playerId);
      await assertRoom(transaction, 'asked', playerId);
      await assertRoom(transaction, 'askedBy', otherId);
      await transaction.query(
        `INSERT INTO friendships (player_id, friend_id, state, since) VALUES ($1, $2, 'asked', ladder_now())`,
        [playerId, otherId],
      );
      return 'asked';
    });
  }

  /**
   * Makes two players friends, whoever asked or not.
   * @throws LIMIT_REACHED, naming whose list is full
   */
  join(playerId: string, otherId: string): Promise<FriendshipState> {
    return this.change(playerId, otherId, async (transaction) => {
      const { mine } = await statesOf(transaction, playerId, otherId);
      return mine === 'friends' ? mine : befriend(transaction, playerId, otherId);
    });
  }

  /** Ends a friendship, takes a request back, or refuses one; nothing of it is left on either side. */
  async part(playerId: string, otherId: string): Promise<void> {
    await this.change(playerId, otherId, (transaction) =>
      transaction.query(
        'DELETE FROM friendships WHERE (player_id = $1 AND friend_id = $2) OR (player_id = $2 AND friend_id = $1)',
        [playerId, otherId],
      ),
    );
  }

  async listsOf(playerId: string): Promise<FriendLists> {
    const rows = await this.database.query<{ id: string; list: keyof FriendLists }>(LISTS_SQL, [playerId]);
    const lists: FriendLists = { friends: [], asked: [], askedBy: [] };
    for (const { id, list } of rows) lists[list].push(id);
    return lists;
  }

  private change<T>(playerId: string, otherId: string, work: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    return this.database.transaction(async (transaction) => {
      await lockCircles(transaction, [`player ${playerId}`, `player ${otherId}`]);
      return work(transaction);
    });
  }
}

/** How the pair stands, from both sides; null: not at all. */
async function statesOf(
  transaction: SqlRunner,
  playerId: string,
  otherId: string,
): Promise<{ mine: FriendshipState | null; theirs: FriendshipState | null }> {
  const rows = await transaction.query<{ player_id: string; state: FriendshipState }>(
    `SELECT player_id, state FROM friendships
     WHERE (player_id = $1 AND friend_id = $2) OR (player_id = $2 AND friend_id = $1)`,
    [playerId, otherId],
  );
  const stateOf = (id: string): FriendshipState | null => rows.find((row) => row.player_id === id)?.state ?? null;
  return { mine: stateOf(playerId), theirs: stateOf(otherId) };
}

async function befriend(transaction: SqlRunner, playerId: string, otherId: string): Promise<FriendshipState> {
  await assertRoom(transaction, 'friends', playerId);
  await assertRoom(transaction, 'friends', otherId);
  await transaction.query(MAKE_FRIENDS, [playerId, otherId]);
  return 'friends';
}

const LISTS: Record<keyof FriendLists, { sql: string; max: number; full: (id: string, max: number) => string }> = {
  friends: {
    sql: `SELECT count(*)::int AS n FROM friendships WHERE player_id = $1 AND state = 'friends'`,
    max: FRIENDS_MAX,
    full: (id, max) => `"${id}" has ${max} friends already.`,
  },
  asked: {
    sql: `SELECT count(*)::int AS n FROM friendships WHERE player_id = $1 AND state = 'asked'`,
    max: ASKED_MAX,
    full: (id, max) => `"${id}" has ${max} requests that nobody has answered; take some back first.`,
  },
  askedBy: {
    sql: `SELECT count(*)::int AS n FROM friendships WHERE friend_id = $1 AND state = 'asked'`,
    max: ASKED_BY_MAX,
    full: (id, max) => `${max} requests wait for "${id}" already.`,
  },
};

/** @throws LIMIT_REACHED */
async function assertRoom(transaction: SqlRunner, list: keyof FriendLists, playerId: string): Promise<void> {
  const { sql, max, full } = LISTS[list];
  const [row] = await transaction.query<{ n: number }>(sql, [playerId]);
  if (row!.n >= max) throw new LadderError('LIMIT_REACHED', full(playerId, max), { player: playerId });
}
