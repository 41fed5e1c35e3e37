import { NO_EXTENSIONS } from '@laddercast/extension';
import type { SqlRunner } from '@laddercast/ledger';
import { nameOfRef } from '@laddercast/projections';
import { EntryDetails, type ResolvedList } from '@laddercast/queries';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, ListWriter, plainDetails, TestBoards } from '../../test/boards.js';
import { MemoryAnnouncements, MemoryRankProjection, MemorySnapshotStore } from '../../test/memory-ports.js';
import { RankDeltaPublisher } from './rank-delta.publisher.js';
import { refOf, SnapshotTick } from './snapshot-tick.js';
import { AllTickSlots } from './tick-slots.js';

let boards: TestBoards;
let projection: MemoryRankProjection;
let store: MemorySnapshotStore;
let publishers: RankDeltaPublisher[];

beforeEach(() => {
  projection = new MemoryRankProjection();
  boards = new TestBoards(projection);
  store = new MemorySnapshotStore();
  publishers = [];
});

afterEach(() => Promise.all(publishers.map((publisher) => publisher.stop())));

const fresh = { last: undefined, seqFloor: 0 };
const historyOf = (resolved: ResolvedList) => store.history.get(nameOfRef(refOf(resolved))) ?? [];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function tickWith(details: EntryDetails): SnapshotTick {
  return new SnapshotTick(store, details);
}

async function start(list: ResolvedList, details: EntryDetails): Promise<void> {
  await store.markInUse([refOf(list)], Date.now() + 60_000);
  const publisher = new RankDeltaPublisher(
    store,
    boards.resolver,
    tickWith(details),
    new AllTickSlots(),
    new MemoryAnnouncements(),
  );
  publisher.start();
  publishers.push(publisher);
}

/** A database that knows of one run of ada's, or fails, as told. */
class OneRun implements SqlRunner {
  isAway = false;
  asked = 0;

  async query<Row>(sql: string): Promise<Row[]> {
    if (!sql.includes('FROM entries')) return [];
    this.asked += 1;
    if (this.isAway) throw new Error('PostgreSQL is away.');
    const run = {
      player_id: 'ada',
      score: 1,
      achieved_at_ms: 1_700_000_000_001,
      metadata: '{"replay":"r1"}',
      members: null,
    };
    return [run] as Row[];
  }
}

describe('a list whose version is the snapshot’s', () => {
  it.each([
    ['longer', 1, 2],
    ['shorter', 2, 1],
  ])('shows a top that was made %s while nobody looked', async (_how, before, after) => {
    boards.create('a', { order: 'desc', operator: 'best', push: { intervalMs: 20, top: before } });
    const old = await boards.resolver.resolve({ boardId: 'a' });
    await ListWriter.of(projection, old).write({ ada: 1, bob: 2, cy: 3 });
    const tick = tickWith(plainDetails());
    expect((await tick.run(old, fresh)).entries).toHaveLength(before);
    boards.redefine('a', { push: { intervalMs: 20, top: after } });
    const now = await boards.resolver.resolve({ boardId: 'a' });
    const snapshot = await tick.run(now, fresh);
    expect(snapshot.entries).toHaveLength(after);
    expect((await tick.run(now, fresh)).seq).toBe(snapshot.seq);
  });

  it('with fewer entries than its top is not published again', async () => {
    boards.create('a', { order: 'desc', operator: 'best' });
    const list = await boards.resolver.resolve({ boardId: 'a' });
    await ListWriter.of(projection, list).write({ ada: 1 });
    const tick = tickWith(plainDetails());
    const { seq } = await tick.run(list, fresh);
    expect((await tick.run(list, fresh)).seq).toBe(seq);
    expect(historyOf(list)).toHaveLength(1);
  });
});

describe('a board whose lists moved to another generation', () => {
  const inGeneration = (list: ResolvedList, generation: number): ResolvedList => ({
    ...list,
    list: { ...list.list, generation },
  });

  it('is published once more, and not again from the generation before by who has not heard', async () => {
    boards.create('a', { order: 'desc', operator: 'best' });
    const list = await boards.resolver.resolve({ boardId: 'a' });
    const writer = ListWriter.of(projection, list);
    await writer.write({ ada: 1 });
    const tick = tickWith(plainDetails());
    const before = await tick.run(list, fresh);
    await writer.write({ ada: 2 });
    const after = await tick.run(inGeneration(list, 2), fresh);
    expect(after.seq).toBeGreaterThan(before.seq);
    await writer.write({ ada: 3 });
    for (const options of [{}, { readAnew: true }, { force: true }]) {
      expect(await tick.run(list, fresh, options)).toEqual(after);
    }
    expect(historyOf(list)).toHaveLength(2);
    expect((await tick.run(inGeneration(list, 2), fresh)).entries).toMatchObject([{ score: 3 }]);
  });
});

describe('rows that could not be completed', () => {
  let list: ResolvedList;
  let database: OneRun;

  beforeEach(async () => {
    boards.create('a', { order: 'desc', operator: 'best', push: { intervalMs: 20, top: 10 } });
    list = await boards.resolver.resolve({ boardId: 'a' });
    await ListWriter.of(projection, list).write({ ada: 1 });
    database = new OneRun();
    database.isAway = true;
  });

  it('are completed by the next tick that can, without a new score, and then left alone', async () => {
    await start(list, new EntryDetails(database, NO_EXTENSIONS));
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    expect(historyOf(list)[0]!.entries).toMatchObject([{ playerId: 'ada', metadata: null }]);
    database.isAway = false;
    await eventually('the metadata', () => historyOf(list).length === 2);
    const [first, second] = historyOf(list);
    expect(second!.entries).toMatchObject([{ playerId: 'ada', metadata: { replay: 'r1' } }]);
    expect(await store.deltasSince(refOf(list), first!.seq)).toEqual([
      expect.objectContaining({ changes: [expect.objectContaining({ metadata: { replay: 'r1' } })] }),
    ]);
    const { asked } = database;
    await pause(1300);
    expect(historyOf(list)).toHaveLength(2);
    expect(database.asked).toBe(asked);
  });

  it('are completed by whichever process ticks the list next', async () => {
    const details = () => new EntryDetails(database, NO_EXTENSIONS);
    await tickWith(details()).run(list, fresh);
    database.isAway = false;
    expect((await tickWith(details()).run(list, fresh)).entries).toMatchObject([{ metadata: { replay: 'r1' } }]);
  });

  it('are asked for some four times a second while they cannot be had, and not published again', async () => {
    await start(list, new EntryDetails(database, NO_EXTENSIONS));
    await eventually('a first snapshot', () => historyOf(list).length === 1);
    const { asked } = database;
    await pause(1000);
    expect(historyOf(list)).toHaveLength(1);
    expect(database.asked - asked).toBeGreaterThan(0);
    expect(database.asked - asked).toBeLessThanOrEqual(5);
  });
});
