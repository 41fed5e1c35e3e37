// Real: the service at home on a master, and a second site, an api and a gateway beside a replica that is late; readers on both.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTestDatabase,
  freePort,
  newInstallation,
  openTcpProxy,
  startApp,
  type AppPorts,
  type RunningApp,
  type TcpProxy,
  type TestDatabase,
} from '@laddercast/testing';
import supertest from 'supertest';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from '../integration/nodes/redis-client.js';
import { startRedis, type RedisProcess } from '../integration/nodes/redis-process.js';

const LATE_MS = 400;
const WAY_HOME_MS = 20;
const PLAYERS = 300;
const NEAR = 'from=replica&offset=0&limit=100';

interface Shown {
  status: number;
  body: {
    code?: string;
    boardVersion: number;
    accuracy: 'exact' | 'estimated';
    errorBound?: number;
    asOf: string;
    total: number;
    next: string | null;
    entries: { playerId: string; rank: number; score: number }[];
    entry: { score: number };
  };
}

let database: TestDatabase;
let master: RedisProcess;
let replica: RedisProcess;
/** The master's stream comes to the replica through here, and the site reaches the master through the other. */
let stream: TcpProxy;
let toMaster: TcpProxy;
let home: RunningApp;
let api: RunningApp;
let gateway: RunningApp;
let ports: AppPorts;
let admin: { Authorization: string };

beforeAll(async () => {
  database = await createTestDatabase();
  master = await startRedis({ args: ['--repl-ping-replica-period', '1', '--repl-diskless-sync-delay', '0'] });
  stream = await openTcpProxy('127.0.0.1', master.port);
  toMaster = await openTcpProxy('127.0.0.1', master.port);
  replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(stream.port)] });
  while (!(await infoOf(replica)).includes('master_link_status:up')) await sleep(50);
  const installation = newInstallation(database.url, master.url);
  admin = { Authorization: `Bearer ${installation.adminKey}` };
  home = await startApp('standalone', installation);
  const site = {
    ...installation,
    redisUrl: `redis://127.0.0.1:${toMaster.port}`,
    settings: { REDIS_READ_FROM: 'replica', REDIS_REPLICA_URL: replica.url, LANE_OWNER: 'false', LOG_LEVEL: 'info' },
  };
  ports = { port: await freePort(), metricsPort: await freePort() };
  [api, gateway] = await Promise.all([startApp('api', site, ports), startApp('gateway', site)]);
  for (const [board, sharding] of [
    ['one', { by: 'hash', count: 1 }],
    ['four', { by: 'hash', count: 4 }],
  ] as const) {
    const definition = { order: 'desc', operator: 'best', sharding, push: { intervalMs: 100 }, visibility: 'public' };
    await supertest(home.url).put(`/v1/boards/${board}`).set(admin).send(definition).expect(201);
    await submit(
      board,
      Array.from({ length: PLAYERS }, (_, at) => [`p${at}`, at]),
    );
  }
  stream.lag(LATE_MS);
  toMaster.lag(WAY_HOME_MS);
}, 120_000);

afterAll(async () => {
  await Promise.all([api, gateway, home].map((app) => app?.stop()));
  await replica?.stop();
  await master?.stop();
  await stream?.close();
  await toMaster?.close();
  await database?.drop();
});

async function infoOf(server: RedisProcess): Promise<string> {
  const redis = new Redis(server.port, '127.0.0.1');
  try {
    return await redis.info('replication');
  } finally {
    redis.disconnect();
  }
}

/** Resolves once lists at home show them. */
async function submit(board: string, scores: [playerId: string, score: number][]): Promise<void> {
  const submissions = scores.map(([playerId, score]) => ({ board, playerId, score }));
  await supertest(home.url).post('/v1/scores').set(admin).set('Prefer', 'wait=10').send({ submissions }).expect(200);
}

const readAt = (app: RunningApp, path: string): Promise<Shown> =>
  supertest(app.url).get(`/v1/boards/${path}`) as unknown as Promise<Shown>;
const read = (path: string): Promise<Shown> => readAt(api, path);

/** Resolves once a page by offset of the board comes from the replica. */
async function untilNear(board: string): Promise<Shown['body']> {
  let shown: Shown['body'];
  await expect
    .poll(async () => (shown = (await read(`${board}/entries?${NEAR}`)).body).accuracy, { timeout: 20_000 })
    .toBe('estimated');
  return shown!;
}

describe('a site that reads beside a replica', () => {
  it('says of a page from there that it is of a moment ago, and of its neighbours that they may be, too', async () => {
    const page = await untilNear('one');
    expect(page.errorBound).toBe(0);
    expect(Date.parse(page.asOf)).toBeLessThanOrEqual(Date.now());
    expect(page.entries.map(({ playerId, rank }) => [playerId, rank])).toEqual(
      Array.from({ length: 100 }, (_, at) => [`p${PLAYERS - 1 - at}`, at + 1]),
    );
    expect(page.next).toContain('from=replica');
    const next = (await supertest(api.url).get(page.next!)) as unknown as Shown;
    expect(next.body).toMatchObject({ accuracy: 'estimated', total: PLAYERS });
    expect(next.body.entries[0]).toMatchObject({ playerId: `p${PLAYERS - 101}`, rank: 101 });
  });

  it('at home, where there is no replica, the same page is exact', async () => {
    expect((await readAt(home, `one/entries?${NEAR}`)).body).toMatchObject({ accuracy: 'exact', total: PLAYERS });
  });

  it.each([
    ['from=master', '?from'],
    ['from=', '?from'],
    ['from=replica&cursor=start', '?from'],
    ['from=replica&aroundRank=3', '?from'],
    ['from=replica&aroundPlayer=p1', '?from'],
  ])('refuses %s', async (query, pointer) => {
    const { status, body } = await read(`one/entries?${query}`);
    expect([status, body.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body).toMatchObject({ errors: [{ pointer }] });
  });

  it('shows of each kind never less than before, whichever way it is read, while scores come in', async () => {
    await untilNear('one');
    await untilNear('four');
    const kinds: Record<string, string> = {
      near: `entries?${NEAR}`,
      exact: 'entries?offset=150&limit=20',
      score: 'players/p7?accuracy=estimated',
      percentiles: 'percentiles?at=50',
    };
    // Of each kind: what was counted is of another than what was estimated, also where both were asked for alike.
    const seen = new Map<string, { version: number; score: number; answers: number }>();
    const unseen = { version: 0, score: 0, answers: 0 };
    /** An estimate is seldom as new as the list: with any version its player is read on the master. */
    const minVersionOf = async (board: string, kind: string): Promise<number> =>
      kind === 'near' ? (await latest(board)).boardVersion : Number(kind === 'score');
    let isOver = false;
    const wrong: string[] = [];
    const readers = ['one', 'four'].flatMap((board) =>
      Object.entries(kinds).map(async ([kind, path]) => {
        for (let at = 0; !isOver; at += 1) {
          const name = `${board} ${kind}`;
          // Now and then somebody who saw more asks for it: then the master is read, and less must not be shown afterwards.
          const minVersion = at % 7 === 6 ? await minVersionOf(board, kind) : 0;
          const { status, body } = await read(`${board}/${path}${minVersion > 0 ? `&minVersion=${minVersion}` : ''}`);
          if (status !== 200) wrong.push(`${name}: ${status} ${body.code}`);
          else {
            const of = `${name} ${body.accuracy}`;
            const before = seen.get(of) ?? unseen;
            const least = Math.max(before.version, minVersion);
            const score = kind === 'score' ? body.entry.score : 0;
            if (body.boardVersion < least) wrong.push(`${of}: ${body.boardVersion} after ${least}`);
            if (score < before.score) wrong.push(`${of}: ${score} after ${before.score}`);
            if (kind === 'exact' && body.accuracy !== 'exact') wrong.push(`${name} is ${body.accuracy}`);
            seen.set(of, { version: body.boardVersion, score, answers: before.answers + 1 });
          }
          await sleep(20);
        }
      }),
    );
    try {
      for (let round = 1; round <= 20; round += 1) {
        for (const board of ['one', 'four']) {
          await submit(board, [
            ['p7', 1000 + round],
            [`new${round}`, 2000 + round],
          ]);
        }
        await sleep(100);
      }
    } finally {
      isOver = true;
      await Promise.all(readers);
    }
    expect(wrong).toEqual([]);
    for (const board of ['one', 'four']) {
      expect(seen.get(`${board} near estimated`)?.answers).toBeGreaterThan(10);
      expect(seen.get(`${board} near exact`)?.answers).toBeGreaterThan(1);
      expect(seen.get(`${board} score estimated`)?.score).toBeGreaterThan(1000);
    }
    for (const kind of ['page', 'sketch', 'key']) expect([kind, await nearReadsOf(kind)]).toEqual([kind, 'some']);
  });

  it('answers exactly what home does, to who asks for it exactly or has waited', async () => {
    await submit('four', [['late', 5000]]);
    const waited = await read('four/players/late');
    expect(waited).toMatchObject({ status: 200, body: { accuracy: 'exact', entry: { rank: 1, score: 5000 } } });
    const { boardVersion } = waited.body;
    expect((await read(`four/entries?${NEAR}&minVersion=${boardVersion}`)).body.entries[0]).toMatchObject({
      playerId: 'late',
      rank: 1,
    });
    expect((await read(`four/players/late?accuracy=estimated&minVersion=${boardVersion}`)).body.entry).toMatchObject({
      score: 5000,
    });
  });

  it('a socket there follows the list at home', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const seqs: number[] = [];
    const players = new Set<string>();
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', board: 'one', channel: 'top', limit: 10 })),
    );
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as { seq?: number; changes?: { playerId: string }[] };
      if (frame.seq !== undefined) seqs.push(frame.seq);
      for (const { playerId } of frame.changes ?? []) players.add(playerId);
    });
    await expect.poll(() => seqs.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await submit('one', [['live', 9000]]);
    await expect.poll(() => players.has('live'), { timeout: 10_000 }).toBe(true);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    socket.close();
  });

  it('goes on with what may be read near while the master is out of reach, and says how old it is', async () => {
    const before = await untilNear('one');
    toMaster.cut();
    await sleep(3000);
    const cut = (await read(`one/entries?${NEAR}`)).body;
    expect(cut.accuracy).toBe('estimated');
    expect(cut.total).toBeGreaterThanOrEqual(before.total);
    expect(cut.boardVersion).toBeGreaterThanOrEqual(before.boardVersion);
    expect(Date.now() - Date.parse(cut.asOf)).toBeGreaterThan(2500);
    expect(await read('one/players/p3')).toMatchObject({ status: 503, body: { code: 'PROJECTION_UNAVAILABLE' } });
    toMaster.mend();
    await expect.poll(async () => (await read('one/players/p3')).status, { timeout: 20_000 }).toBe(200);
  });

  it('reads at home what the replica has lost, or what it does not follow, and near again afterwards', async () => {
    await untilNear('four');
    const { boardVersion, total } = await latest('four');
    const redis = new Redis(replica.port, '127.0.0.1');
    await redis.replicaof('NO', 'ONE');
    await redis.flushall();
    for (let reads = 0; reads < 20; reads += 1) {
      const { status, body } = await read(`four/entries?${NEAR}`);
      expect([status, body.accuracy, body.total]).toEqual([200, 'exact', total]);
      expect(body.boardVersion).toBeGreaterThanOrEqual(boardVersion);
    }
    expect(api.output()).toMatch(/The replica is not read: it (lacks|does not follow)/);
    await redis.replicaof('127.0.0.1', stream.port);
    redis.disconnect();
    expect((await untilNear('four')).total).toBe(total);
  });

  it('shows no part of a list once the master has lost all, and all of it near again when it is back', async () => {
    await untilNear('one');
    const before = await latest('one');
    await expect.poll(async () => (await read(`one/entries?${NEAR}`)).body.boardVersion).toBe(before.boardVersion);
    // What is thrown in a poll is waited for.
    const faults: string[] = [];
    const whole = async (): Promise<Shown> => {
      const shown = await read(`one/entries?${NEAR}`);
      const { accuracy, total, boardVersion } = shown.body;
      if (shown.status === 200 && (total !== before.total || boardVersion < before.boardVersion)) {
        faults.push(`${accuracy}: total ${total} after ${before.total}, ${boardVersion} after ${before.boardVersion}`);
      }
      return shown;
    };
    // Nobody brings it back for a while.
    home.process.kill('SIGSTOP');
    try {
      const redis = new Redis(master.port, '127.0.0.1');
      await redis.flushall();
      redis.disconnect();
      await expect
        .poll(async () => (await whole()).body.accuracy, { timeout: 10_000, interval: 20 })
        .not.toBe('estimated');
      for (let reads = 0; reads < 20; reads += 1) expect((await whole()).body.accuracy).not.toBe('estimated');
    } finally {
      home.process.kill('SIGCONT');
    }
    const nearNow = async (): Promise<boolean> => {
      const { status, body } = await whole();
      return status === 200 && body.accuracy === 'estimated' && body.boardVersion > before.boardVersion;
    };
    await expect.poll(nearNow, { timeout: 60_000, interval: 20 }).toBe(true);
    expect(faults).toEqual([]);
  });
});

/** Whether the api had anything of the kind from the replica. */
async function nearReadsOf(kind: string): Promise<'some' | 'none'> {
  const text = await (await fetch(`http://127.0.0.1:${ports.metricsPort}/metrics`)).text();
  return text.includes(`laddercast_replica_reads_total{kind="${kind}",from="replica"} `) ? 'some' : 'none';
}

/** The list as it is now, exactly. */
const latest = async (board: string): Promise<Shown['body']> =>
  (await readAt(home, `${board}/entries?offset=150&limit=1`)).body;
