import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LadderError } from '@laddercast/domain';
import { nameOfRef } from '@laddercast/projections';
import type { ResolvedList } from '@laddercast/queries';
import { eventually, ListWriter, plainDetails, TestBoards, TestProfiles } from '../../test/boards.js';
import { MemoryAnnouncements, MemoryRankProjection, MemorySnapshotStore } from '../../test/memory-ports.js';
import { RankDeltaPublisher } from './rank-delta.publisher.js';
import { refOf, SnapshotTick } from './snapshot-tick.js';
import { AllTickSlots, slotOf, TickSlots } from './tick-slots.js';

let boards: TestBoards;
let projection: MemoryRankProjection;
let store: MemorySnapshotStore;
let announcements: MemoryAnnouncements;
let publishers: RankDeltaPublisher[];

beforeEach(() => {
  projection = new MemoryRankProjection();
  boards = new TestBoards(projection);
  store = new MemorySnapshotStore();
  announcements = new MemoryAnnouncements();
  publishers = [];
});

afterEach(() => Promise.all(publishers.map((publisher) => publisher.stop())));

function start(slots: TickSlots = new AllTickSlots(), details = plainDetails()): RankDeltaPublisher {
  const tick = new SnapshotTick(store, details);
  const publisher = new RankDeltaPublisher(store, boards.resolver, tick, slots, announcements);
  publisher.start();
  publishers.push(publisher);
  return publisher;
}

async function listInUse(id: string, intervalMs = 20, top = 100): Promise<ResolvedList> {
  boards.create(id, { order: 'desc', operator: 'best', push: { intervalMs, top } });
  const resolved = await boards.resolver.resolve({ boardId: id });
  await store.markInUse([refOf(resolved)], Date.now() + 60_000);
  return resolved;
}

const historyOf = (resolved: ResolvedList) => store.history.get(nameOfRef(refOf(resolved))) ?? [];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a list in use', () => {
  it('is published once, and again only when it changed', async () => {
    const list = await listInUse('a');
    const writer = ListWriter.of(projection, list);
    start();
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    await pause(150);
    expect(historyOf(list)).toHaveLength(1);
    await writer.write({ ada: 1 });
    await eventually('a second snapshot', () => historyOf(list).length === 2);
    expect(await store.deltasSince(refOf(list), historyOf(list)[0]!.seq)).toMatchObject([
      { seq: historyOf(list)[1]!.seq, total: 1, changes: [{ playerId: 'ada', rank: 1, previousRank: null }] },
    ]);
  });

  it('is published also when the change is below its top, for those who watch a player there', async () => {
    const list = await listInUse('a', 20, 2);
    const writer = ListWriter.of(projection, list);
    await writer.write({ ada: 10, bob: 9, cy: 8 });
    start();
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    await writer.write({ cy: 8.5 });
    await eventually('a second snapshot', () => historyOf(list).length === 2);
    const [delta] = (await store.deltasSince(refOf(list), historyOf(list)[0]!.seq))!;
    expect(delta).toMatchObject({ changes: [], total: 3 });
  });

  it('is ticked no more often than its board says, and all changes of an interval are one', async () => {
    const list = await listInUse('a', 200);
    const writer = ListWriter.of(projection, list);
    start();
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    for (let score = 1; score <= 50; score += 1) {
      await writer.write({ ada: score });
      await pause(10);
    }
    expect(historyOf(list).length).toBeLessThanOrEqual(5);
    await eventually('the last score', () => historyOf(list).at(-1)!.entries[0]?.score === 50);
  });

  it('is ticked no more once it is out of use, or its board is gone', async () => {
    const [unused, gone, used] = [await listInUse('a'), await listInUse('b'), await listInUse('c')];
    const publisher = start();
    await eventually('all are ticked', () => publisher.stats().advanced >= 3);
    store.inUse.set(nameOfRef(refOf(unused)), { list: refOf(unused), untilMs: 0 });
    boards.delete('b');
    await eventually('one list less is in use', () => publisher.stats().lists === 2);
    // A board is looked up once a second.
    await pause(2000);
    for (const list of [unused, gone, used]) await ListWriter.of(projection, list).write({ ada: 1 });
    await eventually('the used one is published', () => historyOf(used).length === 2);
    await pause(100);
    expect([historyOf(unused).length, historyOf(gone).length]).toEqual([1, 1]);
    expect(publisher.stats().lists).toBe(2);
  });

  it('says for how long no tick has confirmed what is shown', async () => {
    await listInUse('a');
    const publisher = start();
    await eventually('it is ticked', () => publisher.stats().advanced === 1);
    await pause(300);
    await expect.poll(() => publisher.stats().unconfirmedSeconds).toBeLessThan(0.3);
    projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    await pause(700);
    expect(publisher.stats().unconfirmedSeconds).toBeGreaterThan(0.6);
    projection.failure = null;
    await eventually('it is ticked again', () => publisher.stats().unconfirmedSeconds < 0.3);
  });

  it('shows a new length of the top without waiting for a score', async () => {
    const list = await listInUse('a', 20, 1);
    await ListWriter.of(projection, list).write({ ada: 1, bob: 2 });
    start();
    await eventually('a first snapshot', () => historyOf(list)[0]?.entries.length === 1);
    boards.redefine('a', { push: { intervalMs: 20, top: 2 } });
    await eventually('both rows', () => historyOf(list).at(-1)!.entries.length === 2);
  });

  it('shows a new name soon though nobody scores and its ticks are rare, and is else left alone', async () => {
    const profiles = new TestProfiles(announcements);
    const [list, other] = [await listInUse('a', 60_000), await listInUse('b', 60_000)];
    await ListWriter.of(projection, list).write({ ada: 1, bob: 2 });
    await ListWriter.of(projection, other).write({ cy: 1 });
    start(new AllTickSlots(), profiles.details());
    await eventually('first snapshots', () => historyOf(list).length === 1 && historyOf(other).length === 1);
    await profiles.set('ada', { displayName: 'Ada' });
    await eventually('the name', () => historyOf(list).at(-1)!.entries[1]!.displayName === 'Ada');
    await profiles.set('bob', { listed: false });
    await eventually(
      'a gap',
      () =>
        historyOf(list)
          .at(-1)!
          .entries.map(({ rank }) => rank)
          .join() === '2',
    );
    await profiles.set('bob', { listed: true });
    await eventually(
      'no gap',
      () =>
        historyOf(list)
          .at(-1)!
          .entries.map(({ rank }) => rank)
          .join() === '1,2',
    );
    await pause(1500);
    expect([historyOf(list).length, historyOf(other).length]).toEqual([4, 1]);
  });

  it('that comes into use again shows names that changed while nobody looked', async () => {
    const profiles = new TestProfiles(announcements);
    const list = await listInUse('a');
    await ListWriter.of(projection, list).write({ ada: 1 });
    await new SnapshotTick(store, profiles.details()).run(list, { last: undefined, seqFloor: 0 });
    await profiles.set('ada', { displayName: 'Ada' });
    start(new AllTickSlots(), profiles.details());
    await eventually('the name', () => historyOf(list).at(-1)!.entries[0]!.displayName === 'Ada');
  });

  it('goes on from what another process published', async () => {
    const list = await listInUse('a');
    start();
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    const [first] = historyOf(list);
    const theirs = { ...first!, seq: first!.seq + 1000, listVersion: -1 };
    await store.publish(refOf(list), first!.seq, theirs, { ...theirs, previousSeq: first!.seq, changes: [] });
    await ListWriter.of(projection, list).write({ ada: 1 });
    await eventually('a third snapshot', () => historyOf(list).length === 3);
    expect(historyOf(list)[2]!.seq).toBeGreaterThan(theirs.seq);
  });

  it('gets a new history above the old numbers when the store forgot it', async () => {
    const list = await listInUse('a');
    start();
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    const { inUse } = store;
    const uses = [...inUse];
    store.lose();
    for (const [key, use] of uses) inUse.set(key, use);
    await ListWriter.of(projection, list).write({ ada: 1 });
    await eventually('a new first snapshot', () => historyOf(list).length === 2);
    expect(historyOf(list)[1]!.seq).toBeGreaterThan(historyOf(list)[0]!.seq);
    expect(await store.deltasSince(refOf(list), historyOf(list)[0]!.seq)).toBeNull();
  });
});

describe('trouble with one list', () => {
  it('delays no other, and its ticks never overlap', async () => {
    const [slow, quick] = [await listInUse('slow'), await listInUse('quick')];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let inside = 0;
    let insideMax = 0;
    projection.beforePage = async (list) => {
      if (list.boardUid !== slow.board.uid) return;
      inside += 1;
      insideMax = Math.max(insideMax, inside);
      await held;
      inside -= 1;
    };
    start();
    await eventually('the slow one hangs', () => inside === 1);
    const writer = ListWriter.of(projection, quick);
    for (let score = 1; score <= 5; score += 1) {
      await writer.write({ ada: score });
      await eventually('the quick one goes on', () => historyOf(quick).at(-1)?.entries[0]?.score === score);
    }
    expect([insideMax, historyOf(slow).length]).toEqual([1, 0]);
    release();
    await eventually('the slow one is published', () => historyOf(slow).length === 1);
  });

  it('ends nothing: the next tick tries again', async () => {
    const list = await listInUse('a');
    await ListWriter.of(projection, list).write({ ada: 1 });
    projection.failure = new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
    start();
    await pause(400);
    expect(historyOf(list)).toHaveLength(0);
    projection.failure = null;
    await eventually('it is published', () => historyOf(list).length === 1);
  });
});

describe('slots', () => {
  it('leave to others what they hold', async () => {
    const lists = await Promise.all(Array.from({ length: 20 }, (_, index) => listInUse(`b${index}`)));
    class OddSlots extends TickSlots {
      override holds(slot: number): boolean {
        return slot % 2 === 1;
      }
    }
    start(new OddSlots());
    const odd = lists.filter((list) => slotOf(refOf(list)) % 2 === 1);
    await eventually('the odd ones are ticked', () => odd.every((list) => historyOf(list).length === 1));
    await pause(100);
    expect(odd.length).toBeGreaterThan(0);
    expect(lists.filter((list) => historyOf(list).length > 0)).toEqual(odd);
  });
});
