import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LadderError } from '@laddercast/domain';
import { EMPTY_BOARD, MemoryList, MemoryStore } from '../../test/snapshot-ports.js';
import { SnapshotCache } from './snapshot-cache.js';

let store: MemoryStore;
let list: MemoryList;
let cache: SnapshotCache;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'Date', 'performance'] });
  store = new MemoryStore();
  list = new MemoryList(EMPTY_BOARD);
  cache = new SnapshotCache(store);
  cache.start();
});

afterEach(async () => {
  await cache.stop();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** As the publisher does on a tick: what the projection shows now. */
const tick = (): Promise<unknown> => store.publishNow(list);

describe('a list that is read', () => {
  it('is served from memory within two seconds of its first read, which only starts following it', async () => {
    list.set({ ada: 1 });
    await tick();
    expect(cache.latest(list.resolved)).toBeUndefined();
    // Names may have changed while nobody ticked it.
    await pass(900);
    expect(cache.latest(list.resolved)).toBeUndefined();
    await pass(1200);
    expect(cache.latest(list.resolved)).toMatchObject({ total: 1, listVersion: 1 });
    const { reads, deltaReads } = store;
    for (let read = 0; read < 1000; read += 1) cache.latest(list.resolved);
    await pass(20);
    expect([store.reads, store.deltaReads]).toEqual([reads, deltaReads]);
  });

  it('is not served while the stored snapshot is known to be old, and is after the next tick', async () => {
    list.set({ ada: 1 });
    await tick();
    list.set({ ada: 2 });
    cache.latest(list.resolved);
    await pass(20);
    expect(cache.latest(list.resolved)).toBeUndefined();
    await tick();
    await pass(1);
    expect(cache.latest(list.resolved)).toMatchObject({ listVersion: 2 });
  });

  it('changes with each tick, by the deltas alone', async () => {
    await tick();
    cache.latest(list.resolved);
    await pass(20);
    for (let score = 1; score <= 20; score += 1) {
      list.set({ ada: score });
      await tick();
      await pass(1);
      expect(cache.latest(list.resolved)!.entries).toEqual(store.stored!.snapshot.entries);
    }
    expect(store.reads).toBe(1);
  });

  it('misses no tick that comes just as it has taken the one before', async () => {
    await tick();
    cache.latest(list.resolved);
    await pass(20);
    const missed: number[] = [];
    for (let turns = 0; turns < 40; turns += 1) {
      list.set({ ada: turns, bob: 1 });
      await tick();
      for (let turn = 0; turn < turns; turn += 1) await null;
      list.set({ ada: turns, bob: 2 });
      await tick();
      await pass(1);
      if (cache.latest(list.resolved)?.listVersion !== list.reading().listVersion) missed.push(turns);
    }
    expect(missed).toEqual([]);
  });

  it('is marked in use once in ten seconds, until thirty seconds after its last read', async () => {
    for (let second = 0; second < 60; second += 1) {
      cache.latest(list.resolved);
      await pass(1000);
      expect(store.inUseUntilMs).toBeGreaterThanOrEqual(Date.now() + 28_000);
    }
    expect(store.marks).toBeLessThanOrEqual(7);
    await pass(45_000);
    expect(store.inUseUntilMs).toBeLessThan(Date.now());
  });
});

describe('a list that nobody read for half a minute', () => {
  it('is no longer followed, and its next read finds no snapshot', async () => {
    list.set({ ada: 1 });
    await tick();
    cache.latest(list.resolved);
    await pass(20);
    await pass(31_000);
    const { reads, deltaReads } = store;
    list.set({ ada: 2 });
    await tick();
    await pass(10);
    expect([store.reads, store.deltaReads]).toEqual([reads, deltaReads]);
    expect(cache.latest(list.resolved)).toBeUndefined();
    await pass(2100);
    expect(cache.latest(list.resolved)).toMatchObject({ listVersion: 2 });
  });
});

describe('when hints are lost', () => {
  beforeEach(async () => {
    list.set({ ada: 1 });
    await tick();
    cache.latest(list.resolved);
    await pass(2100);
    store.isDeaf = true;
  });

  /** Reads each 100 ms, as a busy process does. @returns the last answer */
  async function readFor(ms: number) {
    for (let passed = 0; passed < ms; passed += 100) {
      cache.latest(list.resolved);
      await pass(100);
    }
    return cache.latest(list.resolved);
  }

  it('a change still shows within about five seconds', async () => {
    list.set({ ada: 2 });
    await tick();
    expect(await readFor(6200)).toMatchObject({ listVersion: 2 });
  });

  it('and nothing is published any more, a snapshot found behind is no longer served', async () => {
    list.set({ ada: 2 });
    expect(await readFor(12_000)).toBeUndefined();
    expect(cache.lastKnown(list.resolved)).toMatchObject({ listVersion: 1 });
  });

  it('and Redis is away, the snapshot counts as current for ten seconds, and stays known after that', async () => {
    list.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    store.failure = list.failure;
    expect(await readFor(4000)).toMatchObject({ listVersion: 1 });
    expect(await readFor(12_000)).toBeUndefined();
    expect(cache.lastKnown(list.resolved)).toMatchObject({ listVersion: 1 });
    list.failure = null;
    store.failure = null;
    expect(await readFor(7000)).toMatchObject({ listVersion: 1 });
  });
});

it('keeps at most a thousand lists, and drops the one read longest ago', async () => {
  await tick();
  cache.latest(list.resolved);
  await pass(20);
  const others = Array.from({ length: 1000 }, (_, index) => list.like(index + 2));
  for (const other of others.slice(0, 999)) cache.latest(other);
  expect(cache.lastKnown(list.resolved)).toBeDefined();
  cache.latest(others[999]!);
  expect(cache.lastKnown(list.resolved)).toBeUndefined();
});
