// Real: the built service in one process, PostgreSQL, Redis, a Kafka broker, and kcat, a client that is not ours.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { OPAQUE_ID_BYTES_MAX, type Problem } from '@laddercast/domain';
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  optionalService,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const brokers = optionalService('TEST_KAFKA_BROKERS');
const kcat = optionalService('TEST_KCAT');
const SKIPPED = brokers
  ? 'what kcat writes: there is none. Install it (apt-get install kcat), or set KCAT.'
  : 'what kcat writes: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';
const isPossible = brokers !== undefined && kcat !== undefined;

if (!isPossible) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

const prefix = `test-${randomBytes(6).toString('hex')}`;
const SETTLED = { timeout: 60_000, interval: 100 };

interface Run {
  board: string;
  submissionId: string;
  playerId: string;
  score: number;
}
type Row = { rank: number; playerId: string; score: number };
type Letter = { lane: number; position: number; topic: string; key: string; payload: string; cause: string };

function startKcat(...args: string[]): ChildProcessWithoutNullStreams {
  return spawn(kcat!, ['-P', '-b', brokers!, '-t', `${prefix}.in.scores`, '-X', 'acks=all', ...args]);
}

/** Writes one message a line, each `key<TAB>value`, and waits until the broker has them. */
async function write(lines: readonly (string | Buffer)[], ...args: string[]): Promise<void> {
  const client = startKcat('-K', '\t', ...args);
  let complaints = '';
  client.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  client.stdin.end(Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
  const [code] = (await once(client, 'close')) as [number];
  expect(code, complaints).toBe(0);
}

const lineOf = (run: Run): string => `${run.playerId}\t${JSON.stringify(run)}`;

describe.skipIf(!isPossible)('submissions that another system writes to Kafka', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let installation: Installation;
  let app: RunningApp;
  let admin: RestClient;

  async function start(settings: Record<string, string>): Promise<void> {
    const kafka = { KAFKA_BROKERS: brokers!, KAFKA_PREFIX: prefix };
    app = await startApp('standalone', { ...installation, settings: { ...kafka, ...settings } });
    admin = new RestClient(app.url, installation.adminKey);
  }
  const rowsOf = async (board: string): Promise<Row[]> =>
    ((await admin.get(`/v1/boards/${board}/entries?limit=500`)).body as { entries: Row[] }).entries;
  const scoresOf = async (board: string): Promise<Record<string, number>> =>
    Object.fromEntries((await rowsOf(board)).map(({ playerId, score }) => [playerId, score]));
  const parked = (): Promise<Letter[]> =>
    database.query(
      `SELECT lane, position, topic, key, payload, cause FROM dead_letters
       WHERE consumer_group = 'in.scores' ORDER BY lane, position`,
    );

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    await start({ KAFKA_IN_SCORES_KEY: installation.adminKey });
    await database.open({ migrate: false });
  });
  afterAll(async () => {
    await app?.stop();
    await database?.close();
    await testDatabase?.drop();
  });

  it('count, and stand at their exact ranks', async () => {
    await admin.makeBoard('ranked');
    const runs: Run[] = Array.from({ length: 300 }, (_, i) => ({
      board: 'ranked',
      submissionId: `ranked-${i}`,
      playerId: `p${i % 100}`,
      score: (i * 7919) % 1009,
    }));
    await write(runs.map(lineOf));
    const best = new Map<string, number>();
    for (const { playerId, score } of runs) best.set(playerId, Math.max(score, best.get(playerId) ?? 0));
    const expected = [...best].sort(([, a], [, b]) => b - a).map(([playerId, score], i) => [i + 1, playerId, score]);
    await expect
      .poll(async () => (await rowsOf('ranked')).map(({ rank, playerId, score }) => [rank, playerId, score]), SETTLED)
      .toEqual(expected);
  });

  it('count once when they are written twice, however the client compresses them', async () => {
    await admin.makeBoard('twice', { operator: 'sum' });
    const runs: Run[] = Array.from({ length: 100 }, (_, i) => ({
      board: 'twice',
      submissionId: `twice-${i}`,
      playerId: `p${i % 5}`,
      score: 1 + i,
    }));
    await write(runs.map(lineOf), '-p', '0', '-z', 'snappy');
    await write(runs.map(lineOf), '-p', '0', '-z', 'lz4');
    // One partition is read in order: when the last one counts, all have been seen.
    await write(
      [lineOf({ board: 'twice', submissionId: 'last', playerId: 'last', score: 1 })],
      '-p',
      '0',
      '-z',
      'zstd',
    );
    await expect.poll(async () => (await scoresOf('twice'))['last'], SETTLED).toBe(1);
    const expected: Record<string, number> = { last: 1 };
    for (const { playerId, score } of runs) expected[playerId] = (expected[playerId] ?? 0) + score;
    await expect.poll(() => scoresOf('twice'), SETTLED).toEqual(expected);
    expect(await parked()).toEqual([]);
  });

  it('are parked with their problem when they are refused, and those around them count', async () => {
    await admin.makeBoard('mixed');
    await admin.makeBoard('daily-only', { windows: ['daily'] });
    const good = { board: 'mixed', submissionId: 'good', playerId: 'good', score: 1 };
    const with_ = (fields: object): string => JSON.stringify({ ...good, submissionId: 'bad', ...fields });
    const refused: [code: string, payload: string | Buffer][] = [
      ['MALFORMED_JSON', '{"board":"mixed",'],
      ['MALFORMED_JSON', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22])],
      ['MALFORMED_JSON', Buffer.from(with_({ playerId: 'ÿ' }), 'latin1')],
      ['MALFORMED_JSON', Buffer.from('{"board":\0"mixed"}')],
      ['VALIDATION_FAILED', with_({ playerId: 'nul\0' })],
      ['VALIDATION_FAILED', with_({ playerId: 'x'.repeat(OPAQUE_ID_BYTES_MAX + 1) })],
      ['PAYLOAD_TOO_LARGE', with_({ metadata: { note: 'x'.repeat(70_000) } })],
      ['METADATA_TOO_LARGE', with_({ metadata: { note: 'x'.repeat(2000) } })],
      ['VALIDATION_FAILED', with_({ score: '1' })],
      ['VALIDATION_FAILED', with_({ submissionId: undefined })],
      ['VALIDATION_FAILED', JSON.stringify({ submissions: [good] })],
      ['BOARD_NOT_FOUND', with_({ board: 'not-yet' })],
      ['WINDOW_CLOSED', with_({ board: 'daily-only', achievedAt: '2020-01-01T00:00:00.000Z' })],
      ['SUBMISSION_ID_REUSED', with_({ submissionId: 'good', score: 2 })],
    ];
    const lines = refused.map(([, payload], i) => Buffer.concat([Buffer.from(`key-${i}\t`), Buffer.from(payload)]));
    const after = { ...good, submissionId: 'after', playerId: 'after', score: 2 };
    await write([lineOf(good), ...lines, lineOf(after)], '-p', '1');
    await expect.poll(() => scoresOf('mixed'), SETTLED).toEqual({ good: 1, after: 2 });

    await expect.poll(async () => (await parked()).length, SETTLED).toBe(refused.length);
    const letters = await parked();
    expect(letters.map(({ cause }) => (JSON.parse(cause) as Problem).code)).toEqual(refused.map(([code]) => code));
    const first = letters[0]!.position;
    letters.forEach((letter, i) => {
      const payload = refused[i]![1];
      const problem = JSON.parse(letter.cause) as Problem;
      const isBase64 = problem['payloadEncoding'] === 'base64';
      expect(isBase64).toBe(typeof payload !== 'string');
      expect(Buffer.from(letter.payload, isBase64 ? 'base64' : 'utf8')).toEqual(Buffer.from(payload));
      expect(letter).toMatchObject({ lane: 1, position: first + i, topic: 'in.scores', key: `key-${i}` });
      expect(problem).toMatchObject({ type: `urn:laddercast:problem:${problem.code}`, detail: expect.any(String) });
    });

    const replays = async (): Promise<unknown[]> => {
      const { body } = await admin.get('/v1/admin/dead-letters?group=in.scores');
      const { deadLetters } = body as { deadLetters: { id: string; position: number }[] };
      deadLetters.sort((a, b) => a.position - b.position);
      const answers = await Promise.all(
        deadLetters.map(async ({ id }) => (await admin.post(`/v1/admin/dead-letters/${id}/replay`)).body as Problem),
      );
      return answers.map(({ outcome, problem }) => (problem as Problem | undefined)?.code ?? outcome);
    };
    expect(await replays()).toEqual(refused.map(([code]) => code));
    await admin.makeBoard('not-yet', { operator: 'sum' });
    const outcomes = refused.map(([code]) => (code === 'BOARD_NOT_FOUND' ? 'replayed' : code));
    for (let n = 0; n < 2; n += 1) expect(await replays()).toEqual(outcomes);
    await expect.poll(() => scoresOf('not-yet'), SETTLED).toEqual({ good: 1 });
    expect((JSON.parse(letters[9]!.cause) as Problem).errors).toMatchObject([{ pointer: '/submissionId' }]);
    // Said, but not once for each.
    const said = app.output().match(/parked in dead_letters/g)?.length;
    expect(said).toBeGreaterThan(0);
    expect(said).toBeLessThan(refused.length);
  });

  it('count once each when the service is killed in the middle', async () => {
    await admin.makeBoard('killed', { operator: 'sum' });
    const before = (await parked()).length;
    const client = startKcat('-K', '\t', '-X', 'linger.ms=5');
    const expected: Record<string, number> = {};
    let written = 0;
    let bad = 0;
    let isWriting = true;
    const writing = (async () => {
      for (; isWriting; written += 1) {
        const run = {
          board: 'killed',
          submissionId: `${written}`,
          playerId: `p${written % 10}`,
          score: 1 + (written % 7),
        };
        expected[run.playerId] = (expected[run.playerId] ?? 0) + run.score;
        client.stdin.write(`${lineOf(run)}\n`);
        if (written % 50 === 0) client.stdin.write(`bad\tbad ${bad++}\n`);
        if (written % 10 === 0) await delay(10);
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      const countedAtStart = await countedOn('killed');
      await expect.poll(() => countedOn('killed'), SETTLED).toBeGreaterThan(countedAtStart);
      app.process.kill('SIGKILL');
      await once(app.process, 'exit');
      await start({ KAFKA_IN_SCORES_KEY: installation.adminKey });
    }
    isWriting = false;
    await writing;
    client.stdin.end();
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(0);
    await expect.poll(() => countedOn('killed'), SETTLED).toBe(written);
    await expect.poll(() => scoresOf('killed'), SETTLED).toEqual(expected);
    await expect.poll(async () => (await parked()).length - before, SETTLED).toBe(bad);
  });

  it('are not read without a key, nor with one that is not good, and wait', async () => {
    await admin.makeBoard('waiting');
    const run = { board: 'waiting', submissionId: 'one', playerId: 'one', score: 1 };
    await app.stop();
    await start({});
    await write([lineOf(run)]);
    await delay(3000);
    expect(await countedOn('waiting')).toBe(0);
    const ready = await admin.get('/health/ready');
    expect(ready.body).toMatchObject({ status: 'ok', missing: [] });
    expect(ready.body).not.toHaveProperty('notes');

    const readOnly = await admin.makeKey('read');
    await app.stop();
    await start({ KAFKA_IN_SCORES_KEY: readOnly });
    const readiness = async (): Promise<object> => {
      const { status, body } = await admin.get('/health/ready');
      return { status, body: body as object };
    };
    await expect.poll(readiness, SETTLED).toMatchObject({
      status: 200,
      body: { status: 'ok', missing: [], notes: [expect.stringMatching(/^in\.scores is not read: .*scores:write/)] },
    });
    await delay(3000);
    expect(await countedOn('waiting')).toBe(0);
    await expect
      .poll(() => app.output(), SETTLED)
      .toMatch(/in\.scores is not read, and its offsets stay: KAFKA_IN_SCORES_KEY: .*scores:write/);
    expect(app.output()).not.toContain(readOnly);

    const writer = await admin.makeKey('scores:write');
    await app.stop();
    await start({ KAFKA_IN_SCORES_KEY: writer });
    await expect.poll(() => scoresOf('waiting'), SETTLED).toEqual({ one: 1 });
  });

  /** Submissions of a board that the ledger remembers. */
  async function countedOn(board: string): Promise<number> {
    const [row] = await database.query<{ counted: number }>(
      `SELECT count(*)::int AS counted FROM submissions JOIN boards USING (board_uid) WHERE board_id = $1`,
      [board],
    );
    return row!.counted;
  }
});
