import { GUILD_MEMBERS_MAX, PostgresDatabase } from '@laddercast/ledger';

/** A window of the board `open` whose standings were kept for a while. */
export const PRUNED = 'daily:2019-06-01';

/** Makes {@link PRUNED}. */
export async function pruneWindow(databaseUrl: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(
    `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, state)
     SELECT board_uid, $1, 'daily', '2019-06-01Z', '2019-06-02Z', 'settled' FROM boards WHERE board_id = 'open'`,
    [PRUNED],
  );
  await database.close();
}

/** A dead letter that nobody can read. */
export async function parkLetter(databaseUrl: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(
    `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
     VALUES ('score', 0, 1, 'entry-changed', 'ada', 'no JSON', 'Error: of this test')`,
  );
  await database.close();
}

/** 500 friends and follows of the player `full`, a circle `full`, and a guild `full`. */
export async function fillCircles(databaseUrl: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  const others = `generate_series(1, 500) AS i`;
  await database.query(`INSERT INTO friendships SELECT 'full', 'f' || i, 'friends', ladder_now() FROM ${others}`);
  await database.query(`INSERT INTO follows SELECT 'full', 'f' || i, ladder_now() FROM ${others}`);
  await database.query(`INSERT INTO circle_members SELECT 'full', 'f' || i, ladder_now() FROM ${others}`);
  await database.query(`INSERT INTO guilds VALUES ('full', NULL, ladder_now())`);
  await database.query(
    `INSERT INTO guild_members SELECT 'g' || i, 'full', ladder_now() FROM generate_series(1, $1) AS i`,
    [GUILD_MEMBERS_MAX],
  );
  await database.close();
}
