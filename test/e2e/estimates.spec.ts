// Real: the built service in one process with its PostgreSQL, and a Redis of the test's own that dies and comes back.
import { percentileOf } from '@laddercast/domain';
import { createTestDatabase, newInstallation, startApp, type RunningApp, type TestDatabase } from '@laddercast/testing';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';
import { expectProblem, RestClient } from './rest-client.js';

const PLAYERS = 5000;
const BATCH = 1000;
const WAIT = { Prefer: 'wait=10' };

interface Entry {
  rank: number;
  score: number;
  errorBound?: number;
  accuracy?: string;
}
interface Movement {
  before: number | null;
  after: number;
  delta: number | null;
  accuracy: string;
  errorBound: number;
  total: number;
  asOf: string;
}

describe('estimated ranks', () => {
  let database: TestDatabase;
  let redis: RedisProcess;
  let app: RunningApp;
  let admin: RestClient;
  /** Each player's score, in the order of acceptance: what the answers are held against. */
  const scores = new Map<string, number>();

  const get = async <Body>(path: string): Promise<Body> => {
    const answer = await admin.get(`/v1/boards/${path}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Body;
  };
  /** Entries of others that stand before the score; equal ones came earlier. */
  const othersBefore = (score: number, playerId: string): number =>
    [...scores].filter(([id, other]) => id !== playerId && other >= score).length;
  const submit = (playerId: string, score: number, headers = {}): Promise<Response> =>
    admin.post('/v1/boards/big/scores', { playerId, score }, headers);
  /** Waits until what is estimated by is the list as it is, with what this player submitted last. */
  const untilSketched = async (lastId = 'p0'): Promise<void> => {
    const isProjected = async (): Promise<boolean> => {
      const answer = await admin.get(`/v1/boards/big/players/${lastId}?around=0`);
      return (answer.body as { entry?: Entry }).entry?.score === scores.get(lastId);
    };
    await expect.poll(isProjected, { interval: 20 }).toBe(true);
    const isSketched = async (): Promise<boolean> => {
      const [sketched, counted] = await Promise.all([
        get<{ boardVersion: number; accuracy: string }>('big/percentiles?at=50'),
        get<{ boardVersion: number }>('big/percentiles?at=50&accuracy=exact'),
      ]);
      // What has no sketch yet is counted.
      return sketched.accuracy === 'estimated' && sketched.boardVersion === counted.boardVersion;
    };
    await expect.poll(isSketched, { interval: 100 }).toBe(true);
  };
  const submitEstimated = async (playerId: string, score: number): Promise<Movement> => {
    const answer = await submit(playerId, score);
    expect(answer.status, answer.text).toBe(200);
    const { rank } = answer.body as { rank: Movement | null };
    expect(rank).toMatchObject({ accuracy: 'estimated' });
    return rank!;
  };
  const expectWithin = ({ after, before, delta, errorBound }: Movement, playerId: string, score: number): void => {
    const was = scores.get(playerId);
    expect(Math.abs(after - 1 - othersBefore(score, playerId))).toBeLessThanOrEqual(errorBound);
    if (was === undefined) return expect([before, delta]).toEqual([null, null]) as unknown as void;
    expect(delta).toBe(before! - after);
    expect(delta).toBeGreaterThanOrEqual(0);
    // Players with the same score as before came earlier and later: where it stood among them is not known here.
    const atLeast = [...scores].filter(([id, other]) => id !== playerId && other > was).length;
    expect(before! - 1 + errorBound).toBeGreaterThanOrEqual(atLeast);
    expect(before! - 1 - errorBound).toBeLessThanOrEqual(othersBefore(was, playerId));
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis();
    const installation = newInstallation(database.url, redis.url);
    app = await startApp('standalone', installation);
    admin = new RestClient(app.url, installation.adminKey);
    await admin.makeBoard('big', { sharding: { by: 'hash', count: 4 } });
    await admin.makeBoard('small');
    await admin.makeBoard('empty');
    for (let from = 0; from < PLAYERS; from += BATCH) {
      const some = Array.from({ length: BATCH }, (_, at) => ({
        board: 'big',
        playerId: `p${from + at}`,
        score: (from + at) % 500,
      }));
      for (const { playerId, score } of some) scores.set(playerId, score);
      const headers = from + BATCH === PLAYERS ? WAIT : {};
      expect((await admin.post('/v1/scores', { submissions: some }, headers)).status).toBe(200);
    }
  });
  afterAll(async () => {
    await app?.stop();
    await redis?.stop();
    await database?.drop();
  });

  it('are said of each submission, and are no further off than they say', async () => {
    await untilSketched();
    for (const [playerId, score] of [
      ['new1', 250],
      ['p7', 498.5],
      ['new2', -1],
      ['p7', 10_000],
      ['p4999', 499],
    ] as const) {
      const movement = await submitEstimated(playerId, score);
      expectWithin(movement, playerId, score);
      expect(movement.total).toBe(scores.has(playerId) ? scores.size : scores.size + 1);
      expect(movement.errorBound).toBeLessThan(50);
      scores.set(playerId, Math.max(score, scores.get(playerId) ?? -Infinity));
      await untilSketched(playerId);
    }
  });

  it('give way to exact ones where the submission is waited for', async () => {
    const { body } = await submit('p7', 20_000, WAIT);
    scores.set('p7', 20_000);
    expect(body).toMatchObject({ rank: { before: 1, after: 1, delta: 0, accuracy: 'exact', errorBound: 0 } });
  });

  it('of a small board are certain, whoever submits how often', async () => {
    const post = async (playerId: string, score: number): Promise<unknown> =>
      ((await admin.post('/v1/boards/small/scores', { playerId, score })).body as { rank: unknown }).rank;
    // By a sketch of nobody there is nothing to say. One that is just being made may have her already.
    const first = await post('ada', 5);
    if (first !== null) expect(first).toMatchObject({ before: null, after: 1, total: 1, errorBound: 0 });
    await expect
      .poll(async () => post('bob', 4), { interval: 300 })
      .toMatchObject({ after: 2, total: 2, errorBound: 0 });
    await expect
      .poll(async () => post('bob', 6), { interval: 300 })
      .toMatchObject({ before: 1, after: 1, total: 2, errorBound: 0 });
  });

  it('of a player take one look-up, and have no neighbours', async () => {
    await untilSketched();
    for (const id of ['p0', 'p1234', 'p4999', 'p7', 'new2']) {
      const exact = await get<{ entry: Entry; total: number }>(`big/players/${id}`);
      const answer = await get<{ entry: Entry & { percentile: number }; total: number; neighbours: unknown[] }>(
        `big/players/${id}?accuracy=estimated`,
      );
      const { rank, errorBound, accuracy, percentile, score } = answer.entry;
      expect({ score, accuracy, total: answer.total }).toEqual({
        score: exact.entry.score,
        accuracy: 'estimated',
        total: exact.total,
      });
      expect(Math.abs(rank - exact.entry.rank)).toBeLessThanOrEqual(errorBound!);
      expect(percentile).toBe(percentileOf(rank, answer.total));
      expect(answer.neighbours).toMatchObject([{ playerId: id, rank }]);
    }
    const style = 'rankStyle=competition';
    const tied = await get<{ entry: Entry }>(`big/players/p1234?${style}`);
    const { entry } = await get<{ entry: Entry }>(`big/players/p1234?${style}&accuracy=estimated`);
    expect(Math.abs(entry.rank - tied.entry.rank)).toBeLessThanOrEqual(entry.errorBound!);
    expectProblem(await admin.get('/v1/boards/big/players/p0?accuracy=estimated&around=1'), 'VALIDATION_FAILED');
    expectProblem(await admin.get('/v1/boards/big/players/p0?accuracy=estimated&runs=1'), 'NOT_SUPPORTED');
    const nobody = expectProblem(await admin.get('/v1/boards/big/players/no?accuracy=estimated'), 'ENTRY_NOT_FOUND');
    // Counted, as it is where nobody asks for an estimate.
    expect(nobody).toMatchObject({ total: scores.size });
    expect(nobody).not.toHaveProperty('accuracy');
  });

  it('of many players, and of a score, are as near', async () => {
    const playerIds = ['p3', 'nobody', 'p4000', 'p2'];
    const exact = await admin.post('/v1/boards/big/lookups', { playerIds });
    const about = await admin.post('/v1/boards/big/lookups', { playerIds, accuracy: 'estimated' });
    expect([exact.body, about.body]).toMatchObject([{ accuracy: 'exact' }, { accuracy: 'estimated' }]);
    const [counted, estimated] = [exact, about].map(({ body }) => (body as { entries: (Entry | null)[] }).entries);
    for (const [at, entry] of estimated!.entries()) {
      if (entry === null) expect(counted![at]).toBeNull();
      else expect(Math.abs(entry.rank - counted![at]!.rank)).toBeLessThanOrEqual(entry.errorBound!);
    }
    const ranked = await admin.post('/v1/boards/big/lookups', { playerIds, ranked: true, accuracy: 'estimated' });
    const order = (ranked.body as { entries: { playerId: string }[] }).entries.map(({ playerId }) => playerId);
    expect(order).toEqual(['p3', 'p2', 'p4000']);
    for (const score of [-5, 0, 250, 250.5, 499, 1e9]) {
      const { rank } = await get<Entry>(`big/rank?score=${score}`);
      const estimate = await get<Entry>(`big/rank?score=${score}&accuracy=estimated`);
      expect(estimate.accuracy).toBe('estimated');
      expect(Math.abs(estimate.rank - rank)).toBeLessThanOrEqual(estimate.errorBound!);
    }
  });

  it('say the scores at percentiles', async () => {
    const sorted = [...scores.values()].sort((a, b) => b - a);
    const asked = [0, 1, 33.3, 50, 90, 99, 100];
    for (const accuracy of ['estimated', 'exact']) {
      const path = `big/percentiles?at=${asked.join()}&accuracy=${accuracy}`;
      const answer = await get<{ accuracy: string; percentiles: (Entry & { percentile: number })[] }>(path);
      expect(answer.accuracy).toBe(accuracy);
      expect(answer.percentiles.map(({ percentile }) => percentile)).toEqual(asked);
      for (const { percentile, rank, score, errorBound } of answer.percentiles) {
        const nearest = Math.min(
          ...[rank - 1, rank + 1].map((other) => Math.abs(percentileOf(other, sorted.length) - percentile)),
        );
        expect(Math.abs(percentileOf(rank, sorted.length) - percentile)).toBeLessThanOrEqual(nearest);
        const near = sorted.slice(Math.max(0, rank - 1 - errorBound!), rank + errorBound!);
        expect(near, `${accuracy} ${percentile}`).toContain(score);
        if (accuracy === 'exact') expect([errorBound, score]).toEqual([0, sorted[rank - 1]]);
      }
    }
    // Of a small board nothing is uncertain, once the last run is in the sketch.
    await expect
      .poll(() => get('small/percentiles?at=100,0'), { interval: 200 })
      .toMatchObject({
        accuracy: 'estimated',
        percentiles: [
          { rank: 1, score: 6, errorBound: 0 },
          { rank: 2, score: 5, errorBound: 0 },
        ],
      });
    for (const accuracy of ['estimated', 'exact']) {
      expect(await get(`empty/percentiles?at=50&accuracy=${accuracy}`)).toMatchObject({
        total: 0,
        percentiles: [{ rank: null, score: null, errorBound: 0 }],
      });
    }
    for (const at of ['', '?at=', '?at=-1', '?at=101', '?at=1,x', '?at=1,,2', `?at=${Array(21).fill(1).join()}`]) {
      expectProblem(await admin.get(`/v1/boards/big/percentiles${at}`), 'VALIDATION_FAILED');
    }
  });

  it('go on out of memory while Redis is away, and are new ones when it is back', async () => {
    await untilSketched();
    const { asOf } = await submitEstimated('p100', 600);
    scores.set('p100', 600);
    await redis.stop();
    const stopped = new Map(scores);
    let quickestMs = Infinity;
    for (let at = 0; at < 10; at += 1) {
      const startedAtMs = Date.now();
      const movement = await submitEstimated(`away${at}`, at * 50);
      quickestMs = Math.min(quickestMs, Date.now() - startedAtMs);
      const truth = [...stopped].filter(([, other]) => other >= at * 50).length;
      // Whether the sketch was made before or after the last submission there was, the player of it stood far above or below.
      expect(Math.abs(movement.after - 1 - truth)).toBeLessThanOrEqual(movement.errorBound + 1);
      expect(Date.parse(movement.asOf)).toBeLessThanOrEqual(startedAtMs);
      scores.set(`away${at}`, at * 50);
    }
    // One that waits for Redis takes as long as its time-out, every time.
    expect(quickestMs).toBeLessThan(1000);
    redis = await startRedis({ port: redis.port });
    const sketchedAgain = async (): Promise<boolean> => {
      const answer = await admin.get('/v1/boards/big/percentiles?at=50&accuracy=exact');
      return answer.status === 200 && (answer.body as { total: number }).total === scores.size;
    };
    await expect.poll(sketchedAgain, { timeout: 60_000, interval: 200 }).toBe(true);
    await untilSketched();
    const movement = await submitEstimated('back', 123);
    expect(Date.parse(movement.asOf)).toBeGreaterThan(Date.parse(asOf));
    expectWithin(movement, 'back', 123);
  });
});
