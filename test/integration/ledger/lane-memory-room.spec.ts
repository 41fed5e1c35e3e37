// Real: PostgreSQL and the ledgers of two processes.
import { withBoardDefaults, type Board } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';

let testDatabase: TestDatabase;
let node: LedgerNode;
let other: LedgerNode;
let board: Board;
let before: Found;

/** How many entries commits looked at, by where they had them from. */
interface Found {
  memory: number;
  ledger: number;
}

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  node = new LedgerNode(testDatabase.url);
  other = new LedgerNode(testDatabase.url);
  await node.start();
  await other.start();
  const definition = withBoardDefaults({ order: 'desc', operator: 'sum' });
  ({ board } = await node.registry.put('room', definition));
  await other.boards.refresh();
});
beforeEach(async () => {
  before = await allFound();
});
afterAll(async () => {
  await Promise.all([node?.stop(), other?.stop()]);
  await testDatabase?.drop();
});

async function allFound(): Promise<Found> {
  const { values } = await metrics.laneEntries.get();
  const of = (from: string): number => values.find(({ labels }) => labels.from === from)?.value ?? 0;
  return { memory: of('memory'), ledger: of('ledger') };
}

/** Those of the commits since this was asked last. */
async function found(): Promise<Found> {
  const [then, now] = [before, await allFound()];
  before = now;
  return { memory: now.memory - then.memory, ledger: now.ledger - then.ledger };
}

const submit = (playerId: string, by = node): Promise<unknown> => by.ledger.write(submissionOf(board, playerId, 1));

/** Players of one lane. */
function playersOf(lane: number, count: number): string[] {
  const players: string[] = [];
  for (let n = 0; players.length < count; n += 1) if (node.lanes.of(`p${n}`) === lane) players.push(`p${n}`);
  return players;
}

it('counts entries by where commits have them from', async () => {
  const [ada, bob] = playersOf(0, 2) as [string, string];
  // Before the first answer it is not known when it is, and so of what windows to read.
  await submit(ada);
  expect(await found()).toEqual({ memory: 0, ledger: 1 });
  await submit(ada);
  expect(await found()).toEqual({ memory: 1, ledger: 0 });
  await Promise.all([submit(ada), submit(bob)]);
  expect(await found()).toEqual({ memory: 1, ledger: 1 });
  await submit(ada, other);
  expect(await found()).toEqual({ memory: 0, ledger: 1 });
  // What was remembered holds no more.
  await Promise.all([submit(ada), submit(bob)]);
  expect(await found()).toEqual({ memory: 0, ledger: 2 });
});

it('remembers as much as it may, be it all of one lane', async () => {
  const small = new LedgerNode(testDatabase.url, undefined, 8);
  await small.start();
  const [first, ...others] = playersOf(0, 8) as [string, ...string[]];
  for (const player of [first, ...others]) await submit(player, small);
  await found();
  for (const player of [first, ...others]) await submit(player, small);
  expect(await found()).toEqual({ memory: 8, ledger: 0 });
  // The one used longest ago makes room, whatever its lane.
  await submit(playersOf(1, 1)[0]!, small);
  for (const player of others) await submit(player, small);
  expect(await found()).toEqual({ memory: 7, ledger: 1 });
  await submit(first, small);
  expect(await found()).toEqual({ memory: 0, ledger: 1 });
  await small.stop();
});
