import { PATCH_ORDERS_MAX } from '@laddercast/domain';
import { GUILD_MEMBERS_MAX, PostgresDatabase } from '@laddercast/ledger';
import { expect } from 'vitest';
import type { Call } from './openapi-calls.js';
import type { RestClient } from './rest-client.js';

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
async function parkLetter(databaseUrl: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(
    `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
     VALUES ('score', 0, 1, 'entry-changed', 'ada', 'no JSON', 'Error: of this test')`,
  );
  await database.close();
}

/** Patches of the families eu4 and hoi, and of one, `spent`, whose order cannot change any more. */
async function makePatches(admin: RestClient, databaseUrl: string): Promise<void> {
  const made = [
    ...['1.28', '1.29', '1.30'].map((patch) => [patch, { family: 'eu4' }]),
    ...[['1.28.1', { family: 'eu4', sameAs: '1.28' }] as const, ['1.28', { family: 'hoi' }] as const],
    ['last', { family: 'spent' }],
  ] as [string, object][];
  for (const [patch, body] of made) expect((await admin.put(`/v1/patches/${patch}`, body)).status).toBe(201);
  const decay = { family: 'eu4', perPatch: 0.1 };
  const season = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
  await admin.makeBoard('taxed', { order: 'asc', limits: { scoreMin: 0 }, windows: ['alltime', season], decay });
  const run = { playerId: 'ada', score: 109, patch: '1.28.1' };
  expect((await admin.post('/v1/boards/taxed/scores', run)).status).toBe(200);
  const ended = { window: 'season:s1' };
  expect((await admin.post('/v1/admin/boards/taxed/close-window', ended)).status).toBe(200);
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  const order = `jsonb_build_object('number', n, 'sinceMs', 0, 'patches', orders -> 0 -> 'patches')`;
  await database.query(
    `UPDATE patch_families SET orders = (SELECT jsonb_agg(${order} ORDER BY n) FROM generate_series(1, $1) AS n)
     WHERE family_id = 'spent'`,
    [PATCH_ORDERS_MAX],
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

/** Entries of a player in 4,000 windows of the board `open` that are over: more than a call and a projector together have follow a sanction until it is answered. */
export async function manyEntries(databaseUrl: string, playerId: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(
    `WITH past AS (
       INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, state)
       SELECT board_uid, 'daily:past-' || n, 'daily', '2001-01-01Z'::timestamptz + n * interval '1 day',
         '2001-01-02Z'::timestamptz + n * interval '1 day', 'settled'
       FROM boards CROSS JOIN generate_series(1, 4000) AS n WHERE board_id = 'open'
       RETURNING window_uid, board_uid)
     INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms)
     SELECT window_uid, $1, board_uid, 0, 1, false, 3, '{}', 0 FROM past`,
    [playerId],
  );
  await database.close();
}

/** Resolves when all entries of a player follow its sanction. */
export async function untilFollowed(admin: RestClient, playerId: string): Promise<void> {
  const sanctions = async (): Promise<unknown> => (await admin.get(`/v1/admin/players/${playerId}/sanctions`)).body;
  await expect.poll(sanctions, { timeout: 30_000 }).toMatchObject({ sanctions: [{ progress: { isDone: true } }] });
}

/** The board "kept" with the run r1 of ada, and "aged" with her r0 from before it kept runs. */
async function makeRuns(admin: RestClient): Promise<void> {
  const [definition, runs] = [{ order: 'desc', operator: 'best' }, { keepDays: 30 }];
  await admin.makeBoard('kept', { runs, proof: 'everyone' });
  await admin.makeBoard('aged');
  const proof = 'https://replays.example/r1';
  const run = { submissionId: 'r1', playerId: 'ada', score: 5, proof, verified: true, metadata: { map: 'x' } };
  const made = [
    await admin.post('/v1/boards/kept/scores', run, { Prefer: 'wait=10' }),
    await admin.post('/v1/boards/aged/scores', { submissionId: 'r0', playerId: 'ada', score: 5 }),
    await admin.put('/v1/boards/aged', { ...definition, runs }),
  ];
  for (const { status, text } of made) expect(status, text).toBe(200);
}

/** A dead letter, and the boards "kept" and "aged" with a run each. */
export async function makeRows(admin: RestClient, databaseUrl: string): Promise<void> {
  await makePatches(admin, databaseUrl);
  await parkLetter(databaseUrl);
  await makeRuns(admin);
}

/** Decisions on held runs of the board "judged": one that is done, one against it, and one of a run that is kept no more. */
export async function decisionsOfFlags(admin: RestClient, databaseUrl: string): Promise<[Call, number][]> {
  await admin.makeBoard('judged', { runs: { keepDays: 30 }, counts: 'verified' });
  for (const submissionId of ['h1', 'h2']) {
    const held = await admin.post('/v1/boards/judged/scores', { submissionId, playerId: 'ada', score: 5 });
    expect(held.body).toMatchObject({ outcome: 'held', rank: null });
  }
  const { flags } = (await admin.get('/v1/admin/flags?board=judged')).body as { flags: { flagId: string }[] };
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(`DELETE FROM runs WHERE submission_id = 'h1'`);
  await database.close();
  // The newest first.
  const [kept, gone] = flags.map(({ flagId }) => flagId);
  const call = (flag: string, decision: string): Call => ({ params: { flag }, body: { decision, reason: 'a test' } });
  return [
    [call(kept!, 'accept'), 200],
    [call(kept!, 'void'), 409],
    [call(gone!, 'accept'), 410],
  ];
}

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };

/** Boards that a pool feeds: the season of `restated` is over, that of `unended` is not. */
export async function makeFedBoards(admin: RestClient): Promise<void> {
  const boards = ['restated', 'unended'];
  for (const id of boards) await admin.makeBoard(id, { order: 'desc', operator: 'latest', windows: [SEASON] });
  await admin.put('/v1/pools/season', {
    algorithm: 'elo',
    boards: boards.map((board) => ({ board, value: 'rating' })),
  });
  await admin.post('/v1/admin/boards/restated/close-window', { window: 'season:s1' });
}

/** Does something while no restatement gets anywhere. */
export async function whileRestatementsWait<T>(databaseUrl: string, act: () => Promise<T>): Promise<T> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  const result = await database.transaction(async (transaction) => {
    await transaction.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await transaction.query('LOCK TABLE restated_entries IN ACCESS EXCLUSIVE MODE');
    return act();
  });
  await database.close();
  return result;
}

/** As retention does it: the board shows its standings no more. */
export async function pruneStandings(databaseUrl: string, board: string): Promise<void> {
  const database = new PostgresDatabase({ url: databaseUrl });
  await database.open({ migrate: false });
  await database.query(
    `DELETE FROM editions WHERE window_uid IN (
       SELECT window_uid FROM windows JOIN boards USING (board_uid) WHERE board_id = $1)`,
    [board],
  );
  await database.close();
}

/** Templates with one board each: "many" and "doomed". */
export async function makeTemplates(admin: RestClient): Promise<void> {
  for (const id of ['many', 'doomed']) {
    const body = { definition: { order: 'asc', operator: 'best' }, boards: [{ board: `${id}-1` }] };
    expect((await admin.put(`/v1/board-templates/${id}`, body)).status).toBe(201);
  }
}
