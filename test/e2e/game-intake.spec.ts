// Real: the built service in one process, PostgreSQL, Redis and a Kafka broker.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Problem } from '@laddercast/domain';
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
import { writeMessages } from './kafka-messages.js';
import { RestClient } from './rest-client.js';

const brokers = optionalService('TEST_KAFKA_BROKERS');
const SKIPPED = 'games by Kafka: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';
if (brokers === undefined) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

const prefix = `test-${randomBytes(6).toString('hex')}`;
const SETTLED = { timeout: 60_000, interval: 100 };
const PLAYERS = 12;

interface Game {
  gameId: string;
  pool: string;
  players: { playerId: string; place: number }[];
}

/** Games `from` to before `to` of a pool; places and players follow from the number. */
const gamesOf = (pool: string, from: number, to: number): Game[] =>
  Array.from({ length: to - from }, (_, index) => {
    const n = from + index;
    const first = n % PLAYERS;
    const second = (first + 1 + (n % (PLAYERS - 1))) % PLAYERS;
    const places = n % 5 === 0 ? [1, 1] : [1, 2];
    return {
      ...{ gameId: `g${n}`, pool },
      players: [first, second].map((player, at) => ({ playerId: `p${player}`, place: places[at]! })),
    };
  });

/** What elo, K 32, makes of games in this order. */
function replayed(games: readonly Game[]): Map<string, number> {
  const ratings = new Map<string, number>();
  for (const { players } of games) {
    const [a, b] = players as [Game['players'][0], Game['players'][0]];
    const [ofA, ofB] = [ratings.get(a.playerId) ?? 1500, ratings.get(b.playerId) ?? 1500];
    const moved = 32 * ((a.place === b.place ? 0.5 : 1) - 1 / (1 + 10 ** ((ofB - ofA) / 400)));
    ratings.set(a.playerId, ofA + moved).set(b.playerId, ofB - moved);
  }
  return ratings;
}

describe.skipIf(brokers === undefined)('games that another system writes to Kafka', () => {
  let testDatabase: TestDatabase;
  let installation: Installation;
  let app: RunningApp;
  let admin: RestClient;

  async function start(settings: Record<string, string>): Promise<void> {
    const kafka = { KAFKA_BROKERS: brokers!, KAFKA_PREFIX: prefix };
    app = await startApp('standalone', { ...installation, settings: { ...kafka, ...settings } });
    admin = new RestClient(app.url, installation.adminKey);
  }
  const write = (messages: readonly (Game | object | string)[], partition = 0): Promise<void> =>
    writeMessages(
      `${prefix}.in.games`,
      messages.map((message) => {
        const value = typeof message === 'string' ? message : JSON.stringify(message);
        return { partition, key: 'pool', value };
      }),
    );
  const poolNow = async (pool: string): Promise<{ games: number; pending: number }> =>
    (await admin.get(`/v1/pools/${pool}`)).body as { games: number; pending: number };
  const untilRated = (pool: string, games: number): Promise<void> =>
    expect.poll(() => poolNow(pool), SETTLED).toMatchObject({ games, pending: 0 });
  const expectRatings = async (pool: string, games: readonly Game[]): Promise<void> => {
    const expected = replayed(games);
    const { body } = await admin.post(`/v1/pools/${pool}/lookups`, { playerIds: [...expected.keys()] });
    const { ratings } = body as { ratings: { playerId: string; rating: number }[] };
    ratings.forEach(({ playerId, rating }) => expect(rating, playerId).toBeCloseTo(expected.get(playerId)!, 7));
  };
  const letters = async (): Promise<{ id: string; position: number; lane: number; topic: string; cause: string }[]> => {
    const { body } = await admin.get('/v1/admin/dead-letters?group=in.games');
    const { deadLetters } = body as { deadLetters: Awaited<ReturnType<typeof letters>> };
    return deadLetters.sort((a, b) => a.position - b.position);
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    await start({ KAFKA_IN_GAMES_KEY: installation.adminKey });
  }, 120_000);
  afterAll(async () => {
    await app?.stop();
    await testDatabase?.drop();
  });

  it('are rated in the order of their partition, and once where they are written again', async () => {
    await admin.put('/v1/pools/blitz', { algorithm: 'elo' });
    const games = gamesOf('blitz', 0, 1500);
    await write(games.slice(0, 700));
    await write(games.slice(400, 1100));
    await write(games.slice(1000));
    await untilRated('blitz', games.length);
    await expectRatings('blitz', games);
    expect(await letters()).toEqual([]);
  });

  it('are parked with their problem when they are refused, and recorded by a replay once they can be', async () => {
    await admin.put('/v1/pools/pairs', { algorithm: 'glicko2' });
    const [good, after] = gamesOf('pairs', 0, 2) as [Game, Game];
    const [late] = gamesOf('later', 0, 1) as [Game];
    const refused: [code: string, message: object | string][] = [
      ['MALFORMED_JSON', '{"pool":"pairs",'],
      ['VALIDATION_FAILED', { ...good, gameId: undefined }],
      ['VALIDATION_FAILED', { games: [good] }],
      ['VALIDATION_FAILED', { ...good, gameId: 'twice', players: [good.players[0], good.players[0]] }],
      ['PLAYERS_NOT_SUPPORTED', { ...good, gameId: 'three', players: [...good.players, { playerId: 'x', place: 3 }] }],
      ['METADATA_TOO_LARGE', { ...good, gameId: 'large', metadata: { note: 'x'.repeat(2000) } }],
      ['POOL_NOT_FOUND', late],
      ['GAME_ID_REUSED', { ...good, weight: 1, metadata: { another: true } }],
    ];
    await write([good, ...refused.map(([, message]) => message), after], 1);
    await untilRated('pairs', 2);
    await expect.poll(async () => (await letters()).length, SETTLED).toBe(refused.length);
    const parked = await letters();
    const codesOf = parked.map(({ cause }) => (JSON.parse(cause) as Problem).code);
    expect(codesOf).toEqual(expect.arrayContaining(refused.map(([code]) => code)));
    expect(parked.every(({ topic, lane }) => topic === 'in.games' && lane === 1)).toBe(true);
    expect((JSON.parse(parked[1]!.cause) as Problem).errors).toMatchObject([{ pointer: '/gameId' }]);

    const waiting = parked.find(({ cause }) => cause.includes('POOL_NOT_FOUND'))!;
    const replay = async (): Promise<unknown> =>
      (await admin.post(`/v1/admin/dead-letters/${waiting.id}/replay`)).body as object;
    expect(await replay()).toMatchObject({ outcome: 'refused', problem: { code: 'POOL_NOT_FOUND' } });
    await admin.put('/v1/pools/later', { algorithm: 'elo' });
    for (let n = 0; n < 2; n += 1) expect(await replay()).toMatchObject({ outcome: 'replayed' });
    await untilRated('later', 1);
  });

  it('are recorded once each and in order when the service is killed in the middle', async () => {
    await admin.put('/v1/pools/killed', { algorithm: 'elo' });
    const count = 6000;
    const games = gamesOf('killed', 0, count);
    for (let from = 0; from < count; from += 1000) await write(games.slice(from, from + 1000));
    for (let kill = 0; kill < 2; kill += 1) {
      const before = (await poolNow('killed')).games;
      await expect
        .poll(async () => (await poolNow('killed')).games, { timeout: 60_000, interval: 20 })
        .toBeGreaterThan(Math.min(before, count - 1));
      app.process.kill('SIGKILL');
      await once(app.process, 'exit');
      await start({ KAFKA_IN_GAMES_KEY: installation.adminKey });
    }
    await untilRated('killed', count);
    await expectRatings('killed', games);
  });

  it('are not read without the right, and wait', async () => {
    await admin.put('/v1/pools/waiting', { algorithm: 'elo' });
    const readOnly = await admin.makeKey('read');
    await app.stop();
    await start({ KAFKA_IN_GAMES_KEY: readOnly });
    await expect
      .poll(async () => (await admin.get('/health/ready')).body as object, SETTLED)
      .toMatchObject({ status: 'ok', notes: [expect.stringMatching(/^in\.games is not read: .*scores:write/)] });
    await write(gamesOf('waiting', 0, 3));
    await app.stop();
    await start({ KAFKA_IN_GAMES_KEY: await writerKey() });
    await untilRated('waiting', 3);

    async function writerKey(): Promise<string> {
      await start({});
      const key = await admin.makeKey('scores:write');
      expect(await poolNow('waiting')).toMatchObject({ games: 0 });
      await app.stop();
      return key;
    }
  });
});
