// Real: api, projector and gateway processes, PostgreSQL, Kafka, and a Redis of the scenario's own, which loses all its
// keys, or one alone, while every connection to it lives; under load, readers and spectators.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call } from '../call.js';
import { longOr } from '../chance.js';
import { openMarks } from '../lane-marks.js';
import { openRedis } from '../redis-session.js';
import { RedisServer } from '../redis-server.js';
import { Scenario } from '../scenario.js';

const FLUSHES = longOr(12, 2);
/** How often a key of each kind is deleted. */
const ROUNDS = longOr(6, 1);
const LIFE_MS = { least: 500, most: 1500 };
const WHOLE_WITHIN_MS = 60_000;
/** Submissions between what was shown first and the first loss. */
const ANSWERED_MIN = 50;
/** What ranks are made of, and what tells that they are there: the least of kinds that must have been deleted. */
const OF_SHARDS = ['entries', 'counter', 'index bucket', 'distinct values', 'list of keys', 'mark'];

describe.each(logsUnderTest())('Redis that loses keys on a living connection, over the log in %s', (log) => {
  let scenario: Scenario;
  let server: RedisServer;
  let redis: ReturnType<typeof openRedis>;
  beforeEach(async () => {
    server = await RedisServer.start();
    redis = openRedis(server.url);
  });
  afterEach(async () => {
    redis.disconnect();
    await scenario?.stop();
    await server.stop();
  });

  /** Resolves once something was shown of every list: only who has seen something can miss it. */
  const start = async (fault: string): Promise<void> => {
    scenario = await Scenario.start({ fault, log, redisUrl: server.url, apis: 2, gateways: 2 });
    const { spectators, load } = scenario;
    const unseen = (): number => spectators.filter(({ held }) => held.total <= 0).length;
    await expect.poll(unseen, { timeout: WHOLE_WITHIN_MS }).toBe(0);
    const answered = load.answered.size;
    await expect.poll(() => load.answered.size - answered, { timeout: WHOLE_WITHIN_MS }).toBeGreaterThan(ANSWERED_MIN);
  };

  /** Ends the scenario: nothing was shown that was not so, and nothing went back. */
  async function prove(tried: string): Promise<void> {
    await scenario.prove(tried, { withinMs: WHOLE_WITHIN_MS });
    const { load, spectators } = scenario;
    expect(load.count(503) + load.count(0), 'a submission was refused because of Redis').toBe(0);
    expect(spectators.map(({ wentBack }) => wentBack).filter(Boolean), 'numbers fell').toEqual([]);
  }

  it(
    'shows no empty list after FLUSHALL, and has all again by itself',
    async () => {
      await start('2 Redis emptied on living connections');
      const { chance, installation, readers } = scenario;
      const marks = await openMarks(installation.databaseUrl, server.url);
      for (let flush = 0; flush < FLUSHES; flush += 1) {
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        // By turns a tick comes upon the emptied store, or nobody fills it before it was read.
        const paused = flush % 2 === 1 ? installation.projectors : [];
        for (const projector of paused) projector.pause();
        const { refused } = readers.all.player;
        await redis.flushall();
        if (paused.length > 0) {
          await expect.poll(() => readers.all.player.refused, { timeout: WHOLE_WITHIN_MS }).toBeGreaterThan(refused);
        }
        for (const projector of paused) projector.resume();
        await expect.poll(marks.behind, { timeout: WHOLE_WITHIN_MS }).toBe(0);
      }
      await marks.close();
      await prove(`${FLUSHES} × FLUSHALL`);
    },
    longOr(600_000, 300_000),
  );

  it(
    'shows nothing wrong when a single key is gone, and has it again by itself',
    async () => {
      await start('2 single keys lost in Redis');
      const { chance } = scenario;
      const deleted = new Map<string, number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        for (const kind of [...(await keysByKind(redis)).keys()].sort()) {
          const keys = (await keysByKind(redis)).get(kind) ?? [];
          if (keys.length === 0 || (await redis.del(chance.oneOf(keys))) === 0) continue;
          deleted.set(kind, 1 + (deleted.get(kind) ?? 0));
          // By itself: who reads and writes has found what is missing by then, and it is there again.
          await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
          await expect.poll(() => lostShards(redis), { timeout: WHOLE_WITHIN_MS, message: kind }).toBe(0);
        }
      }
      expect([...deleted.keys()]).toEqual(expect.arrayContaining(OF_SHARDS));
      expect(await restoredShards(scenario), 'no shard was brought back').toBeGreaterThan(0);
      await prove([...deleted].map(([kind, times]) => `${times} × ${kind}`).join(', '));
    },
    longOr(1_200_000, 300_000),
  );
});

/** What each key is, by how its name ends or begins; see `redis-keys.ts`. */
const KINDS: [kind: string, name: RegExp][] = [
  ['entries', /:z$/],
  ['counter', /:v$/],
  ['list of keys', /:k$/],
  ['index bucket', /:i:\d+$/],
  ['distinct values', /:u$/],
  ['checkpoints', /:(c|seen)\d*(:\w+)?$/],
  ['crossings', /:[mxpw]$/],
  ['snapshot', /:s$/],
  ['deltas', /:d$/],
  ['trace notes', /:t$/],
  ['sketch', /:q$/],
  ['mark', /ladder:mark:/],
  ['proof', /ladder:proof:/],
  ['stamp', /ladder:stamp$/],
  ['lists in use', /ladder:(in-use|estimated)$/],
  ['tokens', /ladder:tokens:/],
];

async function keysByKind(redis: ReturnType<typeof openRedis>): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const key of (await redis.keys('*')).sort()) {
    const kind = KINDS.find(([, name]) => name.test(key))?.[0];
    if (kind !== undefined) found.set(kind, [...(found.get(kind) ?? []), key]);
    // A shard that is noted as lost is on its way back.
    else expect(key).toMatch(/ladder:lost$/);
  }
  return found;
}

/** How many shards are known to have lost a key. */
async function lostShards(redis: ReturnType<typeof openRedis>): Promise<number> {
  const [key] = await redis.keys('*ladder:lost');
  return key === undefined ? 0 : redis.scard(key);
}

/** How many shards the projectors have brought back. */
async function restoredShards({ installation }: Scenario): Promise<number> {
  const pages = await Promise.all(installation.projectors.map(({ metricsUrl }) => call(metricsUrl)));
  const found = pages.flatMap(({ body }) => /^laddercast_restored_shards_total (\d+)$/m.exec(String(body))?.[1] ?? []);
  return found.reduce((sum, count) => sum + Number(count), 0);
}
