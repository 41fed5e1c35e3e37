import { setImmediate as turn } from 'node:timers/promises';
import { Dice, seedOfRun } from '@laddercast/testing';
import { afterEach, expect, it, vi } from 'vitest';
import type { OutboxReading, OutboxRecord } from './postgres-outbox.js';
import { PostgresSharedReadings } from './postgres-shared-readings.js';
import { TOPICS } from '../topics.js';

const seed = seedOfRun();
const dice = new Dice(seed);

/** One lane in memory, answered some turns after it was looked at, as the outbox answers, with a word for each record. */
class Lane {
  readonly records: OutboxRecord[] = [];
  readings = 0;
  limit = 20;
  failsNext = false;

  write(): void {
    const position = (this.records.at(-1)?.position ?? 0) + dice.from(1, 3);
    const topic = dice.oneOf(TOPICS);
    this.records.push({ lane: 0, position, topic, key: 'ada', payload: '{}', createdAtMs: 0 });
  }

  words(): number {
    return this.records.length;
  }

  async read(_lane: number, after: number, topics: readonly string[]): Promise<OutboxReading> {
    this.readings += 1;
    const last = this.records.at(-1)?.position ?? after;
    const wanted = this.records.filter((record) => record.position > after && topics.includes(record.topic));
    const records = wanted.slice(0, this.limit);
    const through = records.length === this.limit ? records.at(-1)!.position : Math.max(after, last);
    const fails = this.failsNext;
    this.failsNext = false;
    for (let turns = dice.below(4); turns > 0; turns -= 1) await turn();
    if (fails) throw new Error('away');
    return { records, through, more: through < last, nextSpan: 1 };
  }
}

const groups: (readonly string[])[] = [
  ['entry-changed'],
  ['entry-changed', 'window-closed'],
  ['board-changed'],
  [...TOPICS],
];

/** From here to the end of the test time passes when the test says so. */
const startFakeTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
afterEach(() => void vi.useRealTimers());

it(`gives every group every record of its topics once and in order, whoever reads when (SEED=${seed})`, async () => {
  startFakeTime();
  const lane = new Lane();
  const readings = new PostgresSharedReadings(lane, lane);
  let isWriting = true;
  let asked = 0;
  const follow = async (topics: readonly string[]): Promise<number[]> => {
    let seen: number[] = [];
    for (let position = 0; isWriting || position < (lane.records.at(-1)?.position ?? 0);) {
      // Now and then one falls behind, is failed, or begins anew at an older place as after a restart.
      for (let turns = dice.isUnder(0.1) ? 30 : 1; turns > 0; turns -= 1) await turn();
      if (dice.isUnder(0.02)) lane.failsNext = true;
      if (dice.isUnder(0.02)) {
        readings.forget(0);
        position = seen.length > 0 ? dice.oneOf(seen) : 0;
        seen = seen.filter((one) => one <= position);
      }
      asked += 1;
      const reading = await readings.read(0, position, topics, 1, topics.join()).catch(() => null);
      if (reading === null) continue;
      seen.push(...reading.records.map((record) => record.position));
      position = reading.through;
    }
    return seen;
  };
  let left = groups.length;
  const followed = groups.map((topics) => follow(topics).finally(() => (left -= 1)));
  for (let step = 0; left > 0; step += 1) {
    if (step < 4000) lane.write();
    else isWriting = false;
    await turn();
    if (dice.isUnder(0.3)) await vi.advanceTimersByTimeAsync(dice.below(5));
  }
  const seen = await Promise.all(followed);
  groups.forEach((topics, at) => {
    const expected = lane.records.filter(({ topic }) => topics.includes(topic)).map(({ position }) => position);
    expect(seen[at]).toEqual(expected);
  });
  // They were followed while they were written, and shared.
  expect(lane.readings).toBeGreaterThan(300);
  expect(lane.readings).toBeLessThan(asked);
});

it('says of what is kept how many words were heard before it was looked at, as later ones may not be in it', async () => {
  const lane = new Lane();
  const readings = new PostgresSharedReadings(lane, lane);
  lane.write();
  const first = await readings.read(0, 0, TOPICS, 1, 'a');
  lane.write();
  expect(await readings.read(0, 0, TOPICS, 1, 'b')).toEqual(first);
  expect(first).toMatchObject({ words: 1, more: false });
});

it('gives those who come later what the first has read, several looks of it at once', async () => {
  const lane = new Lane();
  const readings = new PostgresSharedReadings(lane, lane);
  let position = 0;
  for (let looks = 0; looks < 5; looks += 1) {
    for (let written = 0; written < 10; written += 1) lane.write();
    position = (await readings.read(0, position, ['entry-changed'], 1, 'a')).through;
  }
  const late = await readings.read(0, lane.records[3]!.position, TOPICS, 1, 'b');
  expect(late).toMatchObject({ through: position, more: false });
  expect(late.records).toEqual(lane.records.slice(4));
  expect(lane.readings).toBe(5);
  readings.forget(0);
  await readings.read(0, 0, TOPICS, 1, 'a');
  expect(lane.readings).toBe(6);
});

it('keeps no more than two batches, and gives no more than one at once', async () => {
  const lane = new Lane();
  lane.limit = 400;
  const readings = new PostgresSharedReadings(lane, lane);
  for (let written = 0; written < 10_000; written += 1) lane.write();
  let position = 0;
  const end = lane.records.at(-1)!.position;
  while (position < end) position = (await readings.read(0, position, TOPICS, 1, 'a')).through;
  expect(lane.readings).toBe(25);
  // Gone from memory: it reads for itself.
  await readings.read(0, 0, TOPICS, 1, 'b');
  expect(lane.readings).toBe(26);
  const late = await readings.read(0, lane.records[7999]!.position, TOPICS, 1, 'b');
  expect(late.records).toEqual(lane.records.slice(8000, 8800));
  expect(late).toMatchObject({ through: lane.records[8799]!.position, more: true });
  expect(lane.readings).toBe(26);
});

it('waits a little for a group that is about to lose what is kept for it, unless that seems stuck', async () => {
  startFakeTime();
  const lane = new Lane();
  lane.limit = 1000;
  const readings = new PostgresSharedReadings(lane, lane);
  for (let written = 0; written < 20_000; written += 1) lane.write();
  const positions = { fast: 0, slow: 0 };
  const reads = async (who: 'fast' | 'slow'): Promise<void> => {
    positions[who] = (await readings.read(0, positions[who], TOPICS, 1, who)).through;
  };
  const tookMs = async (reading: Promise<void>): Promise<number> => {
    let isDone = false;
    void reading.then(() => (isDone = true));
    const beganAtMs = performance.now();
    // Each look at the lane takes some turns, no time.
    for (let step = 0; !isDone; step += 1) {
      await turn();
      if (step % 10 === 9) await vi.advanceTimersByTimeAsync(5);
    }
    return performance.now() - beganAtMs;
  };
  for (const who of ['slow', 'fast', 'fast'] as const) expect(await tookMs(reads(who))).toBe(0);
  expect(await tookMs(reads('fast'))).toBe(50);
  // What came after the first batch is gone for the slow one, and is not waited for any more.
  expect(await tookMs(reads('fast'))).toBe(0);
  positions.slow = positions.fast;
  expect(await tookMs(reads('slow'))).toBe(0);
  for (let batch = 0; batch < 2; batch += 1) expect(await tookMs(reads('fast'))).toBe(0);
  const waiting = reads('fast');
  await vi.advanceTimersByTimeAsync(20);
  await reads('slow');
  expect(await tookMs(waiting)).toBe(5);
  expect(positions.fast).toBeGreaterThan(positions.slow);
  // At the end of the lane nobody waits for the slow one.
  while (positions.fast < lane.records.at(-1)!.position) await tookMs(reads('fast'));
  lane.write();
  await vi.advanceTimersByTimeAsync(30);
  positions.slow = lane.records[18_000]!.position;
  await reads('slow');
  expect(await tookMs(reads('fast'))).toBe(0);
});

it('leaves what comes next to gather, the longer the more came', async () => {
  startFakeTime();
  const lane = new Lane();
  lane.limit = 100;
  const readings = new PostgresSharedReadings(lane, lane);
  let position = 0;
  const looksAfter = async (ms: number, records: number): Promise<void> => {
    for (let written = 0; written < records; written += 1) lane.write();
    const before = lane.readings;
    const reading = readings.read(0, position, TOPICS, 1, 'a');
    if (ms > 0) await vi.advanceTimersByTimeAsync(ms - 1);
    expect(lane.readings).toBe(ms > 0 ? before : before + 1);
    await vi.advanceTimersByTimeAsync(1);
    position = (await reading).through;
    expect(lane.readings).toBe(before + 1);
  };
  await looksAfter(0, 1);
  await looksAfter(4, 10);
  await looksAfter(15, 90);
  await looksAfter(30, 1);
  await vi.advanceTimersByTimeAsync(5);
  await looksAfter(0, 1);
});

it('reads the end of a lane once for all who stand there', async () => {
  const lane = new Lane();
  const readings = new PostgresSharedReadings(lane, lane);
  for (let written = 0; written < 10; written += 1) lane.write();
  const all = await Promise.all(groups.map((topics) => readings.read(0, 0, topics, 1, topics.join())));
  expect(lane.readings).toBe(1);
  expect(all.map(({ through }) => through)).toEqual(groups.map(() => lane.records.at(-1)!.position));
});

it('takes a look that found nothing as good for all who ask at that moment, until something is notified', async () => {
  startFakeTime();
  const lane = new Lane();
  let words = 0;
  const readings = new PostgresSharedReadings(lane, { words: () => words });
  const ask = (): Promise<unknown[]> =>
    Promise.all(groups.map((topics) => readings.read(0, 0, topics, 1, topics.join())));
  const asking = ask();
  while (lane.readings < 1) await turn();
  for (const reading of await asking) expect(reading).toMatchObject({ records: [], through: 0, more: false, words: 0 });
  expect(lane.readings).toBe(1);
  // Committed, and not notified: whoever comes a little later has not seen it yet.
  lane.write();
  await vi.advanceTimersByTimeAsync(40);
  expect(await readings.read(0, 0, TOPICS, 1, 'late')).toMatchObject({ through: 0 });
  expect(lane.readings).toBe(1);
  words += 1;
  expect(await readings.read(0, 0, TOPICS, 1, 'woken')).toMatchObject({ through: lane.records[0]!.position, words: 1 });
  expect(lane.readings).toBe(2);
});

it('looks again for those who ask later, though nothing was notified', async () => {
  startFakeTime();
  const lane = new Lane();
  const readings = new PostgresSharedReadings(lane, { words: () => 0 });
  await readings.read(0, 0, TOPICS, 1, 'a');
  lane.write();
  await vi.advanceTimersByTimeAsync(50);
  expect(await readings.read(0, 0, TOPICS, 1, 'b')).toMatchObject({ through: lane.records[0]!.position });
});
