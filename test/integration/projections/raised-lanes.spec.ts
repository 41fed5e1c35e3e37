// Real: PostgreSQL with the ledgers of two processes, Redis or Valkey, the saga and recovery; the log is fed by hand.
import { laneOf } from '@laddercast/domain';
import { StaleBoardError, type SubmitReceipt } from '@laddercast/ledger';
import { RedisLaneMarks, RedisRankProjection, RestoredLedgerCheck } from '@laddercast/projections';
import { createTestDatabase, Dice, emptyTestRedis, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';
import { dumped, RaisedNode, restored, type RedisDump } from '../nodes/raised-node.js';
import { Redis } from '../nodes/redis-client.js';

const never = new AbortController().signal;
const PLAYERS = Array.from({ length: 24 }, (_, index) => `p${index}`);
const ADMIN = 'admin';
const BOARD = 'board';
/** A player who changes its lane when 2 lanes become 8. */
const mover = PLAYERS.find((player) => laneOf(player, 8) >= 2)!;

let testDatabase: TestDatabase;
let redisUrl: string;
let redis: Redis;
let node: RaisedNode;
/** A process that hears of nothing but what it is refused. */
let deaf: LedgerNode;
let scores: number;
/** What each player ever had: the version of each score. */
let versions: Map<string, Map<number, number>>;

beforeEach(async () => {
  redisUrl = await emptyTestRedis();
  redis = new Redis(redisUrl);
  testDatabase = await createTestDatabase();
  await start();
  await node.put(BOARD, { sharding: { by: 'hash', count: 3 } });
  await deaf.boards.refresh();
  scores = 0;
  versions = new Map();
});

async function start(): Promise<void> {
  node = new RaisedNode(testDatabase.url, redisUrl);
  await node.start();
  deaf = new LedgerNode(testDatabase.url);
  await deaf.start();
  deaf.boards.stop();
}

async function stop(): Promise<void> {
  await deaf.stop();
  await node.stop();
}

afterEach(async () => {
  await stop();
  redis.disconnect();
  await testDatabase.drop();
});

async function submit(by: LedgerNode, playerId: string): Promise<void> {
  const score = (scores += 1);
  const write = (): Promise<SubmitReceipt> => by.ledger.write(submissionOf(by.boards.byId(BOARD)!, playerId, score));
  const { answer } = await write().catch(async (error: unknown) => {
    if (!(error instanceof StaleBoardError)) throw error;
    await by.boards.refresh();
    return write();
  });
  const ofPlayer = versions.get(playerId) ?? new Map<number, number>();
  versions.set(playerId, ofPlayer.set(score, answer.version));
}

/** As a process reads it that was not there before. */
async function standing(): Promise<Map<string, number>> {
  const { entries } = await new RedisRankProjection(node.redis).page(await node.listOf(BOARD), 0, 500, 'ordinal');
  return new Map(entries.map(({ playerId, score }) => [playerId, score]));
}

/** Nothing that was handled is missing, and nobody stands older than that, or with what it never had. */
async function expectHandledIsThere(): Promise<void> {
  const found = await standing();
  for (const [playerId, score] of found)
    expect([playerId, versions.get(playerId)?.has(score)]).toEqual([playerId, true]);
  const missing = [...node.told].filter(([playerId, version]) => {
    const at = versions.get(playerId)!.get(found.get(playerId) ?? NaN) ?? 0;
    return at < version;
  });
  expect(missing).toEqual([]);
}

async function expectTheLedger(): Promise<void> {
  const rows = await node.database.query<{ id: string; score: number }>('SELECT player_id AS id, score FROM entries');
  const found = await standing();
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(rows.map(({ id, score }) => [id, score])));
}

describe('ranks of lanes that are raised', () => {
  const seed = seedOfRun();
  it.each(Array.from({ length: 8 }, (_, run) => seed + run))(
    'have all that was handled whenever they are read, whatever Redis loses (seed %i)',
    async (ofRun) => {
      const dice = new Dice(ofRun);
      const dumps: RedisDump[] = [];
      const raises = dice.isUnder(0.5) ? [8] : [4, 8];
      const acts: Record<string, () => Promise<unknown>> = {
        submit: async () => {
          for (let left = dice.from(1, 8); left > 0; left -= 1) {
            await submit(dice.isUnder(0.3) ? deaf : node, dice.oneOf(PLAYERS));
          }
        },
        // Refused for as long as what came before is not there: it comes again.
        feed: () => node.feed(dice.oneOf(node.lanes.all), dice.from(1, 6)).catch(() => undefined),
        recover: () => node.recovery.check(dice.oneOf(node.lanes.all), never),
        recoverAll: () => node.recoverAll(),
        dump: async () => dumps.push(await dumped(redis)),
        empty: () => redis.flushall(),
        restore: async () => dumps.length > 0 && restored(redis, dice.oneOf(dumps)),
      };
      const often = ['submit', 'submit', 'feed', 'feed', 'feed', 'recover', 'recoverAll', 'dump', 'empty', 'restore'];
      await submit(node, mover);
      let readings = 0;
      for (const count of [2, ...raises]) {
        if (count > 2) await node.raiser.raise(count, ADMIN);
        for (let left = 40; left > 0; left -= 1) {
          await acts[dice.oneOf(often)]!();
          if (!(await node.isWhole())) continue;
          readings += 1;
          await expectHandledIsThere();
        }
      }
      await node.recoverAll();
      await node.feedAll();
      expect(await node.isWhole()).toBe(true);
      await expectTheLedger();
      expect(readings).toBeGreaterThan(0);
    },
    60_000,
  );

  it('keep a player whose move to a new lane is not handled yet, though Redis was emptied', async () => {
    await submit(node, mover);
    await node.feedAll();
    await node.raiser.raise(8, ADMIN);
    await submit(node, mover);
    await redis.flushall();
    await node.recoverAll();
    expect(await node.isWhole()).toBe(true);
    await expectHandledIsThere();
  });

  it('are whole though the log was lost before anything of a new lane was handled', async () => {
    await submit(node, mover);
    await node.feedAll();
    await node.raiser.raise(8, ADMIN);
    for (const player of PLAYERS) await submit(node, player);
    await node.recoverAll();
    for (const lane of node.lanes.all) await node.projection.dropMark(lane);
    await node.recoverAll();
    expect(await node.isWhole()).toBe(true);
    await expectTheLedger();
  });

  it('keep what a new lane brought, though Redis goes back to where the old lane alone was as far', async () => {
    const old = laneOf(mover, 2);
    const stays = PLAYERS.find((player) => laneOf(player, 8) === old)!;
    for (const player of [mover, stays]) await submit(node, player);
    await node.feedAll();
    await node.raiser.raise(8, ADMIN);
    await node.recoverAll();
    for (const player of [mover, stays]) await submit(node, player);
    await node.feed(old);
    const dump = await dumped(redis);
    await node.feedAll();
    await restored(redis, dump);
    expect(await node.isWhole()).toBe(false);
    await node.recoverAll();
    expect(await node.isWhole()).toBe(true);
    await expectHandledIsThere();
  });

  it('keep a player who moved to a lane that was begun with since Redis was emptied', async () => {
    const lane = laneOf(mover, 8);
    const newcomer = Array.from({ length: 200 }, (_, at) => `n${at}`).find((player) => laneOf(player, 8) === lane)!;
    await submit(node, mover);
    await node.feedAll();
    await node.raiser.raise(8, ADMIN);
    await submit(node, newcomer);
    await submit(node, mover);
    await redis.flushall();
    await node.recovery.check(lane, never);
    expect(await node.feed(lane, 1)).toBe(1);
    await node.recoverAll();
    expect(await node.isWhole()).toBe(true);
    await expectHandledIsThere();
  });

  it('are read right after a raise', async () => {
    for (const player of PLAYERS) await submit(node, player);
    await node.feedAll();
    expect(await node.isWhole()).toBe(true);
    await node.raiser.raise(8, ADMIN);
    node.watch.assertWhole();
    await node.watch.prove();
    expect(await node.isWhole()).toBe(true);
    await expectTheLedger();
  });

  it.each(['before', 'after'])('are proven %s a raise in a generation that was opened before it', async (when) => {
    for (const player of PLAYERS) await submit(node, player);
    await node.feedAll();
    const board = await node.put(BOARD, { sharding: { by: 'hash', count: 2 } });
    expect(board.layouts.opening).not.toBeNull();
    if (when === 'after') await node.raiser.raise(8, ADMIN);
    for (const player of PLAYERS.slice(0, 12)) await submit(node, player);
    await node.recoverAll();
    await node.feedAll();
    const early = await dumped(redis);
    const built = node.builder.build(board.uid, never);
    const barrier = async (): Promise<unknown> => (await node.layoutsOf(BOARD)).opening?.filledAt;
    await expect.poll(barrier, { interval: 10 }).toBeDefined();
    if (when === 'before') await node.raiser.raise(8, ADMIN);
    for (const player of PLAYERS.slice(6, 18)) await submit(deaf, player);
    let isServing = false;
    const serving = built.then(() => (isServing = true));
    while (!isServing) {
      await node.recoverAll();
      await node.feedAll();
    }
    await serving;
    expect((await node.layoutsOf(BOARD)).serving.generation).toBe(board.layouts.opening!.generation);
    await expectTheLedger();
    const late = await dumped(redis);
    const losses = [() => restored(redis, early), () => redis.flushall(), () => restored(redis, late)];
    for (const lose of losses) {
      await lose();
      await node.recoverAll();
      expect(await node.isWhole()).toBe(true);
      await expectTheLedger();
      for (const player of PLAYERS.slice(0, 3)) await submit(node, player);
      await node.feedAll();
    }
  });

  it('are emptied where the ledger was restored to before the raise, and only new lanes are ahead of it', async () => {
    for (const player of PLAYERS) await submit(node, player);
    await node.feedAll();
    await stop();
    await testDatabase.backUp();
    await start();
    await node.raiser.raise(8, ADMIN);
    await node.recoverAll();
    for (const player of PLAYERS) if (laneOf(player, 8) >= 2) await submit(node, player);
    await node.feedAll();
    await stop();
    await testDatabase.restore();
    await start();
    const check = new RestoredLedgerCheck(node.database, node.store, new RedisLaneMarks(node.redis));
    expect(await check.isAhead()).toBe(true);
    await check.empty(never);
    expect(await check.isAhead()).toBe(false);
    await node.recoverAll();
    expect(await node.isWhole()).toBe(true);
    await expectTheLedger();
    await stop();
    await start();
    await node.raiser.raise(8, ADMIN);
    for (const player of PLAYERS) await submit(deaf, player);
    await node.recoverAll();
    await node.feedAll();
    expect(await node.isWhole()).toBe(true);
    await expectTheLedger();
  });
});
