// Real: PostgreSQL, its log, and the ledgers of two processes; a correction takes as long as the test lets it.
import { RatePoolsHandler } from '@laddercast/commands';
import { PostgresEventLog } from '@laddercast/event-log';
import { CorrectionFold, recordPoolEvent, type Pool, type PoolEventFold } from '@laddercast/ledger';
import { RatingSaga } from '@laddercast/sagas';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import type { CommandBus } from '@nestjs/cqrs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const SOON = { timeout: 20_000, interval: 10 };
const PLACES = { ada: 1, bob: 2 };

/** Corrections of a process, each held before it begins until the test lets all of them go. */
class HeldCorrections {
  /** Of which pools one was begun. */
  readonly begun: number[] = [];
  private readonly fold: CorrectionFold;
  private readonly at: number;
  private letGo = (): void => undefined;
  private readonly going = new Promise<void>((resolve) => (this.letGo = resolve));

  constructor(private readonly node: PoolNode) {
    this.at = node.folds.findIndex((fold) => fold instanceof CorrectionFold);
    this.fold = node.folds[this.at] as CorrectionFold;
    const held: PoolEventFold = {
      type: this.fold.type,
      fold: async (...given) => {
        this.begun.push(given[1].uid);
        await this.going;
        return this.fold.fold(...given);
      },
    };
    node.folds.splice(this.at, 1, held);
  }

  end(): void {
    this.node.folds.splice(this.at, 1, this.fold);
    this.letGo();
  }
}

describe('a correction that takes long', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let other: PoolNode;
  let held: HeldCorrections;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    other = new PoolNode(testDatabase.url);
    await other.start();
  });
  beforeEach(() => {
    held = new HeldCorrections(node);
  });
  afterEach(() => held.end());
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const play = (pool: Pool, gameId: string): Promise<unknown> => node.games.record(gameOf(pool.id, gameId, PLACES));
  const makeVoid = async (pool: Pool): Promise<unknown> => {
    const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
    return node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
  };
  const pendingOf = async ({ id }: Pool): Promise<number> => (await node.pools.get(id)).pending;
  /** All in one lane of the log, each with a game that is rated. */
  const poolsOfOneLane = async (count: number): Promise<Pool[]> => {
    const pools: Pool[] = [];
    while (pools.length < count) {
      const id = `p${(made += 1)}`;
      if (node.lanes.of(id) !== 0) continue;
      const pool = await node.makePool(id);
      await play(pool, 'g1');
      await node.rater.rate(pool.uid);
      pools.push(pool);
    }
    return pools;
  };
  /** g2 alone counts, from 1500 each. */
  const expectCorrected = async (pool: Pool): Promise<void> => {
    await expect.poll(() => pendingOf(pool), SOON).toBe(0);
    expect(await node.pools.get(pool.id)).toMatchObject({ games: 2, players: 2 });
    expect(await node.playerRating(pool, 'ada')).toMatchObject({ games: 1, state: { rating: 1516 } });
  };

  it('holds up no game, and no other pool', async () => {
    const [pool, beside] = (await poolsOfOneLane(2)) as [Pool, Pool];
    await makeVoid(pool);
    const rating = node.rater.rate(pool.uid);
    await expect.poll(() => held.begun, SOON).toEqual([pool.uid]);
    await play(pool, 'g2');
    await play(beside, 'g2');
    // A doorbell of the pool whose turn it is passes by; another pool is rated.
    await node.rater.rate(pool.uid);
    await node.rater.rate(beside.uid);
    expect(await node.pools.get(beside.id)).toMatchObject({ pending: 0, games: 2 });
    expect(await node.pools.get(pool.id)).toMatchObject({ pending: 1, games: 2 });
    expect(await node.ratingOf(pool, 'ada')).toBe(1516);
    held.end();
    await rating;
    await expectCorrected(pool);
  });

  it('holds up neither the lane of the log nor the sweep, however many of them there are', async () => {
    const [beside, swept, ...pools] = (await poolsOfOneLane(6)) as [Pool, Pool, ...Pool[]];
    const handler = new RatePoolsHandler(node.rater);
    const commands = { execute: (command: never) => handler.execute(command) } as unknown as CommandBus;
    const saga = new RatingSaga(commands);
    const log = new PostgresEventLog(node.database, { lanes: node.lanes, log: () => undefined });
    try {
      await log.consume('rating', ['game-recorded'], (batch) => saga.rate(batch));
      const waiting = async (): Promise<number> => {
        const lanes = await log.lag('rating');
        return lanes.reduce((sum, { events }) => sum + events, 0);
      };
      await expect.poll(waiting, SOON).toBe(0);
      const [unheard, ...heard] = pools as [Pool, ...Pool[]];
      for (const pool of heard) await makeVoid(pool);
      for (const pool of heard) await play(pool, 'g2');
      await play(beside, 'g2');
      await expect.poll(() => pendingOf(beside), SOON).toBe(0);
      await expect.poll(waiting, SOON).toBe(0);
      // Two of them have places; the third waits for one.
      await expect.poll(() => held.begun.length, SOON).toBe(2);
      expect(await Promise.all(heard.map(pendingOf))).toEqual([1, 1, 1]);

      await log.close();
      await makeVoid(unheard);
      for (const pool of [unheard, swept]) await play(pool, 'g2');
      await node.rater.sweep(new AbortController().signal);
      expect(await Promise.all([unheard, swept].map(pendingOf))).toEqual([1, 0]);
    } finally {
      held.end();
      await log.close();
    }
    for (const pool of pools) await expectCorrected(pool);
  });

  it.each([
    ['entries-ended', { playerIds: ['ada'] }],
    ['rules-changed', {}],
    ['history-pruned', {}],
  ])('holds up no pool of which a quick event is next, though none has room beside it: %s', async (type, payload) => {
    const [small, ...long] = (await poolsOfOneLane(3)) as [Pool, ...Pool[]];
    for (const pool of long) {
      await makeVoid(pool);
      await play(pool, 'g2');
      await node.rater.ring(pool.uid);
    }
    await expect.poll(() => held.begun.length, SOON).toBe(2);
    await node.work.holding(small.id, (transaction, lane) =>
      recordPoolEvent(transaction, { poolUid: small.uid, lane }, { type, payload }),
    );
    await play(small, 'g2');
    expect(await node.rater.ring(small.uid)).toBe(false);
    expect(await node.pools.get(small.id)).toMatchObject({ pending: 0, games: 2 });
    expect(await Promise.all(long.map(pendingOf))).toEqual([1, 1]);
    held.end();
    for (const pool of long) await expectCorrected(pool);
  });

  it('is broken off by a stop, and is another process’s from its beginning', async () => {
    const stopped = new PoolNode(testDatabase.url);
    await stopped.start();
    const theirs = new HeldCorrections(stopped);
    const [pool] = (await poolsOfOneLane(1)) as [Pool];
    await makeVoid(pool);
    await play(pool, 'g2');
    expect(await stopped.rater.ring(pool.uid)).toBe(false);
    await expect.poll(() => theirs.begun, SOON).toEqual([pool.uid]);
    const stopping = stopped.rater.stop();
    theirs.end();
    await stopping;
    await stopped.stop();
    expect(await pendingOf(pool)).toBe(1);
    await other.rater.rate(pool.uid);
    await expectCorrected(pool);
  });

  it('is tried again by the sweep where it failed', async () => {
    const [pool] = (await poolsOfOneLane(1)) as [Pool];
    await makeVoid(pool);
    await play(pool, 'g2');
    const { folds } = other;
    const known = folds.splice(0, folds.length);
    await other.rater.ring(pool.uid);
    await other.rater.settled();
    expect(await pendingOf(pool)).toBe(1);
    folds.push(...known);
    await other.rater.sweep(new AbortController().signal);
    await other.rater.settled();
    await expectCorrected(pool);
  });
});
