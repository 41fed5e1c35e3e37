// Real: the built service in one process on both logs, PostgreSQL and Redis; events that no release of ours would write.
import { ADVISORY_LOCKS, PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from '../integration/nodes/redis-client.js';
import { RestClient } from './rest-client.js';

const LANES = 2;
const SETTLED = { timeout: 60_000, interval: 100 };

interface Letter {
  id: string;
  group: string;
  topic: string;
  key: string;
  cause: string;
  parkedAt: string;
  replayedAt: string | null;
}

describe.each(logsUnderTest())('dead letters on the log %s', (log) => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let redis: Redis;
  let app: RunningApp;
  let admin: RestClient;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const redisUrl = await emptyTestRedis();
    redis = new Redis(redisUrl);
    const installation = { ...newInstallation(testDatabase.url, redisUrl), settings: settingsOfLog(log) };
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: false });
    await admin.makeBoard('blitz', { scopes: ['global', 'guild'], history: {} });
    await admin.makeBoard('gone');
  });
  afterAll(async () => {
    redis?.disconnect();
    await app?.stop();
    await database?.close();
    await testDatabase?.drop();
  });

  /** Writes an event as the ledger does, whatever it holds. */
  async function write(lane: number, topic: string, key: string, payload: (position: number) => string): Promise<void> {
    await database.transaction(async (transaction) => {
      await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
      const [row] = await transaction.query<{ position: number }>(`SELECT nextval('ladder_position') AS position`);
      await transaction.query('INSERT INTO outbox (lane, position, topic, key, payload) VALUES ($1, $2, $3, $4, $5)', [
        lane,
        row!.position,
        topic,
        key,
        payload(row!.position),
      ]);
    });
  }

  const letters = async (query = ''): Promise<Letter[]> => {
    const { status, body, text } = await admin.get(`/v1/admin/dead-letters${query}`);
    expect(status, text).toBe(200);
    return (body as { deadLetters: Letter[] }).deadLetters;
  };
  const lettersOf = async (group: string): Promise<Letter[]> => letters(`?group=${group}`);
  /** Submits, and waits until it is ranked. */
  const submit = async (playerId: string, score: number): Promise<void> => {
    const answer = await admin.post('/v1/boards/blitz/scores', { playerId, score });
    expect(answer.status, answer.text).toBe(200);
    const shown = async (): Promise<number | undefined> =>
      ((await admin.get(`/v1/boards/blitz/players/${playerId}`)).body as { entry?: { score: number } }).entry?.score;
    await expect.poll(shown, SETTLED).toBe(score);
  };
  const board = async (id = 'blitz'): Promise<[string, number][]> => {
    const { body } = await admin.get(`/v1/boards/${id}/entries?limit=500&offset=0`);
    return (body as { entries: { playerId: string; score: number }[] }).entries.map((one) => [one.playerId, one.score]);
  };
  const replay = async (id: string): Promise<object> => {
    const { status, body, text } = await admin.post(`/v1/admin/dead-letters/${id}/replay`);
    expect(status, text).toBe(200);
    return body as object;
  };

  it('parks what fails by itself with its cause, and the lanes go on', async () => {
    const beganMs = Date.now();
    await submit('before', 1);
    for (let lane = 0; lane < LANES; lane += 1) {
      await write(lane, 'entry-changed', `broken${lane}`, (version) =>
        JSON.stringify({ type: 'entry-changed', boardUid: 1, playerId: `broken${lane}`, version, changes: null }),
      );
    }
    await write(0, 'player-changed', 'nobody', () => '{"type":"player-changed"');
    for (const playerId of ['ada', 'bob', 'cy', 'dora']) await submit(playerId, 10);
    await expect.poll(async () => (await lettersOf('score')).length, SETTLED).toBe(LANES);
    await expect.poll(async () => (await letters()).length, SETTLED).toBe(3 * LANES + 1);
    const [letter] = await lettersOf('score');
    expect(letter).toMatchObject({ topic: 'entry-changed', replayedAt: null });
    expect(letter!.cause).toMatch(/^TypeError: .*\n\s+at /);
    expect(Date.parse(letter!.parkedAt)).toBeGreaterThan(beganMs - 1000);
    expect((await lettersOf('player'))[0]!.cause).toContain('JSON');
    await expect.poll(async () => (await board()).length, SETTLED).toBe(5);
    const groups = new Set((await letters()).map(({ group }) => group));
    expect(groups).toEqual(new Set(['score', 'guild', 'history', 'player']));
  });

  it('lists them by pages, the newest first, to admins alone', async () => {
    const all = await letters();
    const pages: Letter[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await admin.get(`/v1/admin/dead-letters?limit=2${cursor && `&cursor=${cursor}`}`);
      const page = body as { deadLetters: Letter[]; next: string | null };
      expect(page.deadLetters.length).toBeLessThanOrEqual(2);
      pages.push(...page.deadLetters);
      cursor = page.next;
    }
    expect(pages).toEqual(all);
    const ids = all.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const reader = admin.as(await admin.makeKey('read'));
    expect((await reader.get('/v1/admin/dead-letters')).status).toBe(403);
    expect((await reader.post(`/v1/admin/dead-letters/${all[0]!.id}/replay`)).status).toBe(403);
    for (const cursor of ['x', '-1', '1e3', "1'--"]) {
      expect((await admin.get(`/v1/admin/dead-letters?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
    }
    expect((await admin.post('/v1/admin/dead-letters/999999/replay')).body).toMatchObject({
      code: 'DEAD_LETTER_NOT_FOUND',
    });
  });

  it('replays what is now, however often, and not what was', async () => {
    await submit('eve', 50);
    const [entry] = await database.query<{ lane: number; window_uid: number; board_uid: number }>(
      `SELECT lane, window_uid, board_uid FROM entries WHERE player_id = 'eve'`,
    );
    const { lane, window_uid: windowUid, board_uid: boardUid } = entry!;
    const change = { windowUid, keepUntilMs: null, entry: { score: 40, columns: [], achievedAtMs: 1 }, scopes: 5 };
    await write(lane, 'entry-changed', 'eve', (version) =>
      JSON.stringify({ type: 'entry-changed', boardUid, playerId: 'eve', version, changes: [change] }),
    );
    await expect.poll(async () => (await lettersOf('score'))[0]!.key, SETTLED).toBe('eve');
    // Lost with the event, as far as the ranks go.
    for (const key of await redis.keys(`*{${boardUid}.*:i:*`)) {
      // A bucket that is gone whole would be missed, and its shard brought back.
      if ((await redis.hexists(key, 'eve')) === 1) await redis.hset(key, 'somebody', Buffer.from([0xf1, 1]));
      await redis.hdel(key, 'eve');
    }
    for (const key of await redis.keys(`*{${boardUid}.*:z`)) {
      for (const member of await redis.zrangeBuffer(key, 0, -1)) {
        if (member.toString('latin1').endsWith('eve')) await redis.zrem(key, member);
      }
    }
    expect((await admin.get('/v1/boards/blitz/players/eve')).status).toBe(404);
    const { id } = (await lettersOf('score'))[0]!;
    expect(await replay(id)).toEqual({ id, outcome: 'replayed' });
    await expect.poll(board, SETTLED).toContainEqual(['eve', 50]);
    const once = await board();
    expect(await replay(id)).toEqual({ id, outcome: 'replayed' });
    await submit('last', 1);
    await expect
      .poll(board, SETTLED)
      .toEqual([...once, ['last', 1]].sort(([, a], [, b]) => (b as number) - (a as number)));
    expect((await lettersOf('score'))[0]!.replayedAt).not.toBeNull();
    const audited = await database.query<{ actor: string; details: object }>(
      `SELECT actor, details FROM audit_log WHERE action = 'dead-letter.replay' AND subject = $1`,
      [id],
    );
    expect(audited).toEqual(
      Array.from({ length: 2 }, () => ({ actor: 'bootstrap', details: expect.any(Object) as object })),
    );
    expect((await lettersOf('score')).length).toBe(LANES + 1);
  });

  it('says when what a letter was about is gone, and replays other topics', async () => {
    const [gone] = await database.query<{ board_uid: number }>(`SELECT board_uid FROM boards WHERE board_id = 'gone'`);
    await database.query(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause) VALUES
       ('board', 0, 900001, 'board-changed', $1::text, '{}', 'of this test'),
       ('score', 0, 900002, 'entry-changed', 'nobody-at-all', 'not even JSON', 'of this test'),
       ('score', 0, 900002, 'entry-changed', 'nobody-at-all', 'another at the same place', 'of this test'),
       ('window', 0, 900003, 'window-closed', '1', '{"type":"window-closed","windowUid":1}', 'of this test'),
       ('player', 0, 900004, 'player-changed', 'ada', 'null', 'of this test'),
       ('score', 0, 900005, 'of-another-release', 'ada', '[]', 'of this test')`,
      [gone!.board_uid],
    );
    const outcomes = new Map<string, unknown>();
    for (const { id, topic } of (await letters()).filter(({ cause }) => cause === 'of this test')) {
      outcomes.set(topic, ((await replay(id)) as { outcome: unknown }).outcome);
    }
    expect(Object.fromEntries(outcomes)).toEqual({
      'board-changed': 'replayed',
      'entry-changed': 'obsolete',
      'window-closed': 'obsolete',
      'player-changed': 'replayed',
      'of-another-release': 'obsolete',
    });
    await submit('after', 1);
    await expect.poll(board, SETTLED).toContainEqual(['after', 1]);
  });
});
