// Real: an api process and two projectors, of which one sleeps and one is killed while a board is re-sharded.
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PLAYERS = 3000;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Generation {
  generation: number;
  state: string;
  sharding: object;
}

describe('a board that is re-sharded while projectors sleep and die', () => {
  let database: TestDatabase;
  let installation: Installation;
  let admin: { Authorization: string };
  let api: RunningApp;
  let projectors: RunningApp[];
  const stop = new AbortController();
  const scores = new Map<string, number>();
  const faults: string[] = [];
  let working: Promise<unknown> = Promise.resolve();

  beforeAll(async () => {
    database = await createTestDatabase();
    installation = newInstallation(database.url, await emptyTestRedis());
    admin = { Authorization: `Bearer ${installation.adminKey}` };
    api = await startApp('api', installation);
    projectors = await Promise.all([startApp('projector', installation), startApp('projector', installation)]);
    await put(1);
    for (let at = 0; at < PLAYERS; at += 1000) {
      const submissions = Array.from({ length: 1000 }, (_, i) => ({
        board: 'moving',
        playerId: `p${at + i}`,
        score: at + i,
      }));
      for (const { playerId, score } of submissions) scores.set(playerId, score);
      await supertest(api.url).post('/v1/scores').set(admin).set('Prefer', 'wait=10').send({ submissions }).expect(200);
    }
    working = Promise.all([write(), read()]);
  });
  afterAll(async () => {
    stop.abort();
    await working.catch(() => undefined);
    await Promise.all([api, ...(projectors ?? [])].map((app) => app?.stop()));
    await database?.drop();
  });

  const put = (count: number) =>
    supertest(api.url)
      .put('/v1/boards/moving')
      .set(admin)
      .send({ order: 'desc', operator: 'latest', sharding: { by: 'hash', count } });

  const generations = async (): Promise<Generation[]> =>
    (await supertest(api.url).get('/v1/admin/boards/moving/layout').set(admin).expect(200)).body.generations;

  const serving = async (): Promise<number> =>
    (await generations()).find(({ state }) => state === 'serving')!.generation;

  async function write(): Promise<void> {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      // New players by turns with old ones, whose scores grow.
      const playerId = n % 2 === 0 ? `new${n}` : `p${(n * 7) % PLAYERS}`;
      const score = PLAYERS + n;
      const sent = supertest(api.url).post('/v1/boards/moving/scores').set(admin).send({ playerId, score });
      const { status, text } = await sent;
      if (status === 200) scores.set(playerId, score);
      else faults.push(`a run was answered ${status}: ${text}`);
      await sleep(5);
    }
  }

  async function read(): Promise<void> {
    let [total, version] = [0, 0];
    while (!stop.signal.aborted) {
      const { status, body } = await supertest(api.url).get('/v1/boards/moving/entries?limit=500&offset=1500');
      if (status !== 200) {
        faults.push(`a page was answered ${status} ${body.code}`);
        continue;
      }
      const entries = body.entries as { playerId: string; rank: number; score: number }[];
      if (body.total < total) faults.push(`total ${body.total} after ${total}`);
      if (body.boardVersion < version) faults.push(`version ${body.boardVersion} after ${version}`);
      if (entries.some(({ rank }, at) => rank !== 1501 + at)) faults.push('ranks have gaps');
      if (new Set(entries.map(({ playerId }) => playerId)).size !== 500) faults.push('a player stands there twice');
      [total, version] = [body.total, body.boardVersion];
      await sleep(20);
    }
  }

  it('goes on when a projector sleeps over the opening and wakes while the new lists are proven', async () => {
    projectors[0]!.process.kill('SIGSTOP');
    const { body } = await put(4).expect(200);
    expect(body.sharding).toEqual({ by: 'hash', count: 4 });
    await sleep(7000);
    projectors[0]!.process.kill('SIGCONT');
    await expect.poll(serving, { timeout: 90_000, interval: 100 }).toBe(2);
    expect((await generations()).map(({ state }) => state).sort()).toEqual(['retiring', 'serving']);
    expect(faults).toEqual([]);
  });

  it('goes on when projectors are killed while the lists are made anew', async () => {
    const { body } = await supertest(api.url).post('/v1/admin/boards/moving/rebuild').set(admin).expect(202);
    expect(body).toEqual({ board: 'moving', generation: 3 });
    // It is filled at once, and waits until nobody is fed by the first generation any more.
    const states = async (): Promise<string[]> => (await generations()).map(({ state }) => state);
    await expect.poll(states, { interval: 50 }).toContain('proving');
    for (const projector of projectors.splice(0)) {
      projector.process.kill('SIGKILL');
      await once(projector.process, 'exit');
      projectors.push(await startApp('projector', installation));
      if (projectors.length === 2) break;
    }
    await expect.poll(serving, { timeout: 120_000, interval: 100 }).toBe(3);
    stop.abort();
    await working;
    expect(faults).toEqual([]);
    const sorted = [...scores].sort(([, a], [, b]) => b - a);
    // The last runs may still be on their way when the writer stops.
    const walked = async (): Promise<[string, number][]> => {
      const found: [string, number][] = [];
      for (let offset = 0; offset < sorted.length; offset += 500) {
        const page = await supertest(api.url).get(`/v1/boards/moving/entries?limit=500&offset=${offset}`).expect(200);
        for (const { playerId, score } of page.body.entries) found.push([playerId, score]);
      }
      return found;
    };
    await expect.poll(walked).toEqual(sorted);
  }, 300_000);
});
