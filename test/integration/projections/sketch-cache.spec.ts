// Real: the cache of sketches and what makes them. In memory: ranks and the store; time is the test's own.
import { GLOBAL_SCOPE, LadderError, type BoardOrdering } from '@laddercast/domain';
import { FIRST_GENERATION, nameOfRef, SketchBuilder, SketchCache, type RankList } from '@laddercast/projections';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ListWriter } from '../../../libs/realtime/test/boards.js';
import { MemoryRankProjection } from '../../../libs/realtime/test/memory-ports.js';
import { MemorySketchStore } from '../../../libs/realtime/test/memory-sketch-store.js';

const ORDERING: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
const LIST: RankList = {
  boardUid: 1,
  windowUid: 1,
  scope: GLOBAL_SCOPE,
  ordering: ORDERING,
  shards: 1,
  ...FIRST_GENERATION,
};

/** Counts what is asked of it, and fails or hangs on demand. */
class CountedStore extends MemorySketchStore {
  reads = 0;
  looks = 0;
  isAway = false;
  hangs: Promise<void> | null = null;

  override async read(...args: Parameters<MemorySketchStore['read']>) {
    this.reads += 1;
    await this.hangs;
    this.assertThere();
    return super.read(...args);
  }

  override async stamps(...args: Parameters<MemorySketchStore['stamps']>) {
    if (args[0].length > 0) this.looks += 1;
    this.assertThere();
    return super.stamps(...args);
  }

  private assertThere(): void {
    if (this.isAway) throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
  }
}

class CountedProjection extends MemoryRankProjection {
  markReadings = 0;

  override async readMarks(...args: Parameters<MemoryRankProjection['readMarks']>) {
    this.markReadings += 1;
    return super.readMarks(...args);
  }
}

describe('the cache of sketches', () => {
  let projection: CountedProjection;
  let store: CountedStore;
  let builder: SketchBuilder;
  let cache: SketchCache;
  let version = 0;

  const put = (playerId: string, score: number): Promise<void> =>
    ListWriter.put(projection, LIST, playerId, { score, achievedAtMs: 1 }, (version += 1));
  const totalOf = async (): Promise<number | null> => (await cache.get(LIST))?.sketch.total ?? null;
  /** As the process does that ticks the list. */
  const publish = async () => builder.renew(LIST, (await store.stamps([LIST]))[0]!);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
    projection = new CountedProjection();
    store = new CountedStore();
    builder = new SketchBuilder(projection, store);
    cache = new SketchCache(store, builder);
    cache.start();
  });
  afterEach(async () => {
    await cache.stop();
    vi.useRealTimers();
  });

  it('makes the first sketch itself where none is published, and asks nobody again', async () => {
    await put('ada', 5);
    expect(await totalOf()).toBe(1);
    expect(projection.markReadings).toBe(1);
    expect(store.stored.size).toBe(1);
    const { reads } = store;
    for (let asked = 0; asked < 100; asked += 1) expect(await totalOf()).toBe(1);
    expect([store.reads, projection.markReadings]).toEqual([reads, 1]);
  });

  it('takes what is published, within a second and at most once a second', async () => {
    await put('ada', 5);
    await publish();
    expect(await totalOf()).toBe(1);
    expect(projection.markReadings).toBe(1);
    for (const total of [2, 3, 4]) {
      await put(`p${total}`, total);
      await publish();
      expect(await totalOf()).toBe(total - 1);
      const { reads } = store;
      await vi.advanceTimersByTimeAsync(1000);
      expect(await totalOf()).toBe(total);
      expect(store.reads).toBe(reads + 1);
    }
    // Nothing changed: the version is looked at, and nothing fetched.
    const { reads } = store;
    for (let second = 0; second < 4; second += 1) {
      await publish();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(store.reads).toBe(reads);
    expect(projection.markReadings).toBe(4);
    expect((await cache.get(LIST))!.asOfMs).toBeGreaterThan(Date.now() - 1500);
    expect(store.inUse.has(nameOfRef(LIST))).toBe(true);
  });

  it('makes sketches itself, every five seconds, where nobody publishes any', async () => {
    await put('ada', 5);
    expect(await totalOf()).toBe(1);
    await put('bob', 6);
    for (let second = 0; second < 6; second += 1) await vi.advanceTimersByTimeAsync(1000);
    expect(await totalOf()).toBe(2);
    expect(projection.markReadings).toBe(2);
  });

  it('looks anew for a list that nobody asked for in a while, before it says what was', async () => {
    await put('ada', 5);
    expect(await totalOf()).toBe(1);
    // Followed for 30 s, and then no more.
    await vi.advanceTimersByTimeAsync(31_000);
    await put('bob', 6);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await totalOf()).toBe(2);
  });

  it('says what it knew for thirty seconds while the store is away, and then nothing', async () => {
    await put('ada', 5);
    const { asOfMs } = (await cache.get(LIST))!;
    store.isAway = true;
    projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    for (let second = 0; second < 29; second += 1) {
      await vi.advanceTimersByTimeAsync(1000);
      expect((await cache.get(LIST))!.asOfMs).toBe(asOfMs);
    }
    await vi.advanceTimersByTimeAsync(2000);
    expect(await cache.get(LIST)).toBeNull();
    store.isAway = false;
    projection.failure = null;
    await vi.advanceTimersByTimeAsync(1000);
    expect(await totalOf()).toBe(1);
  });

  it('follows no list that nobody used for thirty seconds', async () => {
    await put('ada', 5);
    await totalOf();
    for (let second = 0; second < 32; second += 1) await vi.advanceTimersByTimeAsync(1000);
    const { looks, reads } = store;
    for (let second = 0; second < 5; second += 1) await vi.advanceTimersByTimeAsync(1000);
    expect([store.looks, store.reads]).toEqual([looks, reads]);
  });

  it('takes no older sketch for a newer one', async () => {
    await put('ada', 5);
    await publish();
    const old = store.stored.get(nameOfRef(LIST))!;
    await vi.advanceTimersByTimeAsync(1000);
    await put('bob', 6);
    await publish();
    expect(await totalOf()).toBe(2);
    store.stored.set(nameOfRef(LIST), old);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await totalOf()).toBe(2);
  });

  it('answers with none of an earlier version than before, also by a clock that is ahead', async () => {
    await put('ada', 5);
    await publish();
    const old = store.stored.get(nameOfRef(LIST))!;
    await put('bob', 6);
    await publish();
    expect(await totalOf()).toBe(2);
    store.stored.set(nameOfRef(LIST), { ...old, asOfMs: Date.now() + 3000 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(await totalOf()).toBe(2);
    // Many others make it forget the list.
    for (let scope = 1; scope <= 500; scope += 1) await cache.get({ ...LIST, scope });
    expect(await totalOf()).toBeNull();
    await put('cy', 7);
    await publish();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await totalOf()).toBe(3);
  });

  it('lets nobody wait long for the first', async () => {
    vi.useRealTimers();
    let go = (): void => undefined;
    store.hangs = new Promise((resolve) => (go = resolve));
    const startedAtMs = performance.now();
    expect(await Promise.all([cache.get(LIST), cache.get(LIST)])).toEqual([null, null]);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    // Those who come later do not wait at all: as long as the first, they would take two seconds.
    const laterAtMs = performance.now();
    for (let asked = 0; asked < 20; asked += 1) expect(await cache.get(LIST)).toBeNull();
    expect(performance.now() - laterAtMs).toBeLessThan(1000);
    go();
    await expect.poll(() => totalOf()).toBe(0);
    expect(store.reads).toBe(1);
  });
});
