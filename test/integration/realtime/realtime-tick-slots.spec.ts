// Real: PostgreSQL with its leases. Each LeasedTickSlots stands for one process.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PostgresDatabase, PostgresLeases } from '@laddercast/ledger';
import { LeasedTickSlots, TICK_SLOTS } from '@laddercast/realtime';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { eventually } from '../../../libs/realtime/test/boards.js';

const SLOTS = Array.from({ length: TICK_SLOTS }, (_, slot) => slot);

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let processes: LeasedTickSlots[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  processes = [];
});

afterEach(async () => {
  await Promise.all(processes.map((slots) => slots.stop()));
  await database.close();
  await testDatabase.drop();
});

function process(): LeasedTickSlots {
  const slots = new LeasedTickSlots(new PostgresLeases(database));
  processes.push(slots);
  slots.start();
  return slots;
}

const heldBy = (slots: LeasedTickSlots): number[] => SLOTS.filter((slot) => slots.holds(slot));

it('are all ticked from the first moment, each by one process after a while, and taken over when that ends', async () => {
  const [a, b] = [process(), process()];
  expect(heldBy(a)).toEqual(SLOTS);
  const isSharedOut = (): boolean => heldBy(a).length + heldBy(b).length === TICK_SLOTS;
  await eventually('each slot has one process', isSharedOut);
  expect(SLOTS.every((slot) => a.holds(slot) !== b.holds(slot))).toBe(true);
  expect(heldBy(a).length).toBeGreaterThan(0);
  expect(heldBy(b).length).toBeGreaterThan(0);
  await a.stop();
  await eventually('the other has them all', () => heldBy(b).length === TICK_SLOTS);
});

it('are all ticked by everyone while PostgreSQL is away', async () => {
  const [a, b] = [process(), process()];
  await eventually('some are shared out', () => heldBy(a).length + heldBy(b).length < 2 * TICK_SLOTS);
  await database.close();
  const own = heldBy(a);
  expect(own.length).toBeGreaterThan(0);
  await eventually('a ticks all', () => heldBy(a).length === TICK_SLOTS);
});
