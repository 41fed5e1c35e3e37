// Real: two api, two projector and two gateway processes against one PostgreSQL, one Redis and one Kafka.
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  logsUnderTest,
  settingsOfLog,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import supertest from 'supertest';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

/** A spectator that applies deltas by the rule of the contract. */
class Spectator {
  readonly rows = new Map<string, number>();
  seq = 0;
  private readonly socket: WebSocket;

  constructor(url: string, board: string) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const subscribe = JSON.stringify({ type: 'subscribe', id: '1', board, channel: 'top', limit: 10 });
    this.socket.on('open', () => this.socket.send(subscribe));
    this.socket.on('message', (data) => this.take(JSON.parse(String(data))));
    this.socket.on('error', () => undefined);
  }

  close(): void {
    this.socket.close();
  }

  private take(frame: {
    type: string;
    seq: number;
    previousSeq: number;
    entries?: { playerId: string; rank: number }[];
    changes?: { playerId: string; rank: number | null }[];
  }): void {
    if (frame.type === 'snapshot') {
      this.rows.clear();
      for (const { playerId, rank } of frame.entries!) this.rows.set(playerId, rank);
      this.seq = frame.seq;
    } else if (frame.type === 'delta' && frame.seq > this.seq && frame.previousSeq <= this.seq) {
      for (const { playerId, rank } of frame.changes!) {
        if (rank === null) this.rows.delete(playerId);
        else this.rows.set(playerId, rank);
      }
      this.seq = frame.seq;
    }
  }
}

describe.each(logsUnderTest())('the three apps apart, over %s', (log) => {
  let database: TestDatabase;
  let installation: Installation;
  let admin: { Authorization: string };
  let apps: { api: RunningApp[]; projector: RunningApp[]; gateway: RunningApp[] };

  beforeAll(async () => {
    database = await createTestDatabase();
    installation = { ...newInstallation(database.url, await emptyTestRedis()), settings: settingsOfLog(log) };
    admin = { Authorization: `Bearer ${installation.adminKey}` };
    const two = (app: 'api' | 'projector' | 'gateway') =>
      Promise.all([startApp(app, installation), startApp(app, installation)]);
    apps = { api: await two('api'), projector: await two('projector'), gateway: await two('gateway') };
  });
  afterAll(async () => {
    await Promise.all(
      Object.values(apps ?? {})
        .flat()
        .map((app) => app.stop()),
    );
    await database?.drop();
  });

  it("carries one client's scores to the other's socket, whichever processes they use", async () => {
    const definition = {
      order: 'desc',
      operator: 'best',
      push: { intervalMs: 100 },
      sharding: { by: 'hash', count: 2 },
    };
    await supertest(apps.api[0]!.url).put('/v1/boards/live').set(admin).send(definition).expect(201);
    const spectators = apps.gateway.map(({ url }) => new Spectator(url, 'live'));
    await expect
      .poll(async () => (await supertest(apps.api[1]!.url).get('/v1/boards/live')).status, { interval: 50 })
      .toBe(200);
    await expect.poll(() => spectators.every(({ seq }) => seq > 0)).toBe(true);
    for (let i = 0; i < 20; i += 1) {
      await supertest(apps.api[i % 2]!.url)
        .post('/v1/boards/live/scores')
        .set(admin)
        .send({ playerId: `p${i}`, score: i })
        .expect(200);
    }
    const top = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`p${19 - i}`, i + 1]));
    for (const spectator of spectators) {
      await expect.poll(() => Object.fromEntries(spectator.rows)).toEqual(top);
    }
    for (const spectator of spectators) spectator.close();
  });

  it('reads a board that another process made a moment ago', async () => {
    const [maker, reader] = apps.api.map(({ url }) => supertest(url));
    const reads = [
      ...['', '/entries', '/rank?score=1', '/percentiles?at=50', '/guilds', '/windows', '/export', '/friends/ada'],
      ...['/players/ada?fallback=last', '/players/ada/history', '/runs'],
    ];
    for (const [index, read] of reads.entries()) {
      const path = `/v1/boards/fresh-${index}`;
      const scopes = ['global', 'guild'];
      const options = { history: { everyMinutes: 60, keepDays: 1 }, runs: { keepDays: 7 }, scopes };
      await maker!
        .put(path)
        .set(admin)
        .send({ order: 'desc', operator: 'best', ...options })
        .expect(201);
      const { status, body } = await reader!.get(path + read).set(admin);
      expect({ read, status, body }).toMatchObject({ status: 200 });
    }
    await maker!.put('/v1/boards/fresh').set(admin).send({ order: 'desc', operator: 'best' }).expect(201);
    await reader!
      .post('/v1/boards/fresh/lookups')
      .set(admin)
      .send({ playerIds: ['ada'] })
      .expect(200);
    await maker!.put('/v1/boards/fresher').set(admin).send({ order: 'desc', operator: 'best' }).expect(201);
    await reader!.get('/v1/admin/boards/fresher/layout').set(admin).expect(200);
  });

  it('answers what is wrong with problems, on every port', async () => {
    for (const { url } of [apps.api[0]!, apps.projector[0]!, apps.gateway[0]!]) {
      const client = new RestClient(url);
      const nothing = await client.get('/v1/nothing');
      const hint = url === apps.api[0]!.url ? /; see \/docs\.$/ : /an api process answers\.$/;
      expect(expectProblem(nothing, 'NOT_FOUND').detail).toMatch(hint);
      expect(nothing.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
      const method = await client.post('/health/live');
      expectProblem(method, 'METHOD_NOT_ALLOWED');
      expect(method.headers['allow']).toBe('GET, HEAD');
      expectProblem(await client.get('/%zz'), 'VALIDATION_FAILED');
      expectProblem(await client.get('/v1/nothing?name=%ff'), 'VALIDATION_FAILED');
      expectProblem(await client.get(`/v1/${'long'.repeat(2500)}`), 'URI_TOO_LONG');
      expectProblem(await client.send('POST', '/v1/nothing', '{"half":'), 'MALFORMED_JSON');
    }
  });

  it('goes on when a projector is killed, and loses nothing', async () => {
    const projector = apps.projector[0]!;
    projector.process.kill('SIGKILL');
    await once(projector.process, 'exit');
    for (let i = 0; i < 20; i += 1) {
      await supertest(apps.api[i % 2]!.url)
        .post('/v1/boards/live/scores')
        .set(admin)
        .send({ playerId: `q${i}`, score: 100 + i })
        .expect(200);
    }
    await expect
      .poll(
        async () =>
          (await supertest(apps.api[0]!.url).get('/v1/boards/live/entries?limit=20')).body.entries.map(
            ({ playerId }: { playerId: string }) => playerId,
          ),
        { timeout: 90_000, interval: 250 },
      )
      .toEqual(Array.from({ length: 20 }, (_, i) => `q${19 - i}`));
  });
});
