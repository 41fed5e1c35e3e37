// Real: PostgreSQL, the ledgers of several processes, TCP between them, and proxies on the ways.
import { laneOf, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import {
  decodeResults,
  encodeMessage,
  GuildTotals,
  LaneQueue,
  PATIENCE_MS,
  StateRepublisher,
  takeLane,
} from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { createTestDatabase, openTcpProxy, type TcpProxy, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';
import { gameOf, PoolNode } from '../nodes/pool-node.js';
import { deafen, misplaced, raiseLanes, SCATTERED } from '../nodes/raises.js';

const mover = SCATTERED[3]!;

let testDatabase: TestDatabase;
let nodes: LedgerNode[];
let proxies: TcpProxy[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  nodes = [];
  proxies = [];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await testDatabase.drop();
});

async function started<Node extends LedgerNode>(node: Node): Promise<Node> {
  nodes.push(node);
  await node.start();
  return node;
}

async function boardOf(node: LedgerNode, definition: Partial<BoardDefinition> = {}): Promise<Board> {
  const full = withBoardDefaults({ order: 'desc', operator: 'sum', ...definition } as never);
  const { board } = await node.registry.put('board', full);
  for (const one of nodes) await deafen(one);
  return board;
}

const scoreOf = async ({ database }: LedgerNode, playerId: string): Promise<number | undefined> =>
  (await database.query<{ score: number }>('SELECT score FROM entries WHERE player_id = $1', [playerId]))[0]?.score;

/** PostgreSQL behind a proxy, for one process. */
async function proxied(): Promise<{ url: string; proxy: TcpProxy }> {
  const target = new URL(testDatabase.url);
  const proxy = await openTcpProxy(target.hostname, Number(target.port));
  proxies.push(proxy);
  target.port = String(proxy.port);
  return { url: target.href, proxy };
}

describe('writes on their way while lanes are raised', () => {
  it.each(['first', 'second'])('count once where nobody answered their commit: the %s of a player', async (which) => {
    const { url, proxy } = await proxied();
    const node = await started(new LedgerNode(testDatabase.url));
    const cut = await started(new LedgerNode(url));
    const board = await boardOf(node);
    // What the second is made from is remembered: its commit is one trip.
    if (which === 'second') for (const score of [1, 2]) await cut.ledger.write(submissionOf(board, mover, score));
    const before = (await scoreOf(node, mover)) ?? 0;
    const unanswered = proxy.cutAfter('COMMIT');
    const written = cut.ledger.write(submissionOf(board, mover, 5));
    await unanswered;
    proxy.cut();
    expect(await scoreOf(node, mover)).toBe(before + 5);
    await raiseLanes(node, 8);
    proxy.mend();
    expect(await written).toMatchObject({ replayed: false, answer: { score: before + 5 } });
    expect(cut.lanes.count).toBe(8);
    expect(await scoreOf(node, mover)).toBe(before + 5);
    expect(await misplaced(node.database)).toEqual([]);
  });

  it.each([
    ['neither owner nor sender has heard', false, false],
    ['only the owner has', true, false],
    ['only the sender has', false, true],
  ])('are made once and answered where %s', async (_who, ownerHears, senderHears) => {
    const node = await started(new LedgerNode(testDatabase.url));
    const owner = await started(new LedgerNode(testDatabase.url));
    await owner.ledger.start(true);
    const sender = await started(new LedgerNode(testDatabase.url));
    await sender.ledger.start(false);
    await expect.poll(() => owner.owners.own.length, { interval: 50 }).toBe(2);
    await expect.poll(() => sender.owners.ownerOf(1), { interval: 50 }).not.toBeNull();
    const board = await boardOf(node);
    await sender.ledger.write(submissionOf(board, mover, 1));
    // The owner of lanes that it has not heard of, as a look says that comes from another process.
    const known = sender.owners.ownerOf(0);
    vi.spyOn(sender.owners, 'ownerOf').mockReturnValue(known);
    await raiseLanes(node, 8);
    if (ownerHears) await owner.lanes.refresh(owner.database);
    if (senderHears) await sender.lanes.refresh(sender.database);
    const writes = [2, 3].map((score) => sender.ledger.write(submissionOf(board, mover, score)));
    const receipts = await Promise.all(writes);
    expect(receipts.map(({ answer }) => answer.score)).toEqual([3, 6]);
    expect(receipts.map(({ replayed }) => replayed)).toEqual([false, false]);
    expect(await scoreOf(node, mover)).toBe(6);
    expect(await misplaced(node.database)).toEqual([]);
  });

  it('are taken by an owner that has heard, in a message for the lane that their player left', async () => {
    const node = await started(new LedgerNode(testDatabase.url));
    const board = await boardOf(node);
    await raiseLanes(node, 8);
    const lane = laneOf(mover, 2);
    const message = encodeMessage({
      lane,
      sentAtMs: node.boards.clock.nowMs(),
      writes: [submissionOf(board, mover, 1)],
    });
    expect(decodeResults(await node.inbox.take(message), 1)).toMatchObject([{ receipt: { replayed: false } }]);
    expect(await misplaced(node.database)).toEqual([]);
  });

  it('are not said to be not taken where nobody answered their commit, and they have waited too long since', async () => {
    const { url, proxy } = await proxied();
    const node = await started(new LedgerNode(testDatabase.url));
    const cut = await started(new LedgerNode(url));
    const board = await boardOf(node);
    const lane = laneOf(mover, 2);
    const writes = [submissionOf(board, mover, 5, { idFromClient: false, handOverId: 'a' })];
    const unanswered = proxy.cutAfter('COMMIT');
    const taken = cut.inbox.take(encodeMessage({ lane, sentAtMs: cut.boards.clock.nowMs(), writes }));
    await unanswered;
    proxy.cut();
    expect(await scoreOf(node, mover)).toBe(5);
    await raiseLanes(node, 8);
    await node.database.transaction(async (transaction) => {
      await takeLane(transaction, node.lanes.place(lane));
      proxy.mend();
      await sleep(2 * PATIENCE_MS);
    });
    expect(decodeResults(await taken, 1)).toEqual([{ again: 'not known' }]);
  });

  it('are refused in time by who knows of a raise that the ledger has lost', async () => {
    const node = await started(new PoolNode(testDatabase.url));
    const board = await boardOf(node);
    await node.makePool('pool');
    await raiseLanes(node, 8);
    await node.database.query('DELETE FROM lane_maps WHERE number > 0');
    const refused = await Promise.allSettled([
      node.ledger.write(submissionOf(board, mover, 1)),
      node.games.record(gameOf('pool', 'g', { ada: 1, bob: 2 })),
    ]);
    const reason = { code: 'LEDGER_UNAVAILABLE' };
    expect(refused).toMatchObject([{ reason }, { reason }]);
  }, 20_000);

  it('say again in its lane what an event said that failed, by who has not heard', async () => {
    const node = await started(new LedgerNode(testDatabase.url));
    const deaf = await started(new LedgerNode(testDatabase.url));
    const board = await boardOf(node);
    await raiseLanes(node, 8);
    const { database, lanes, notifier, scopes } = deaf;
    const totals = new GuildTotals(database, lanes, scopes, notifier);
    const republisher = new StateRepublisher(new LaneQueue(database, lanes, notifier), totals);
    expect(await republisher.emitBoard(board.uid, 1)).toBe(true);
    const told = await node.database.query(
      `SELECT lane FROM outbox WHERE topic = 'board-changed' AND position > (SELECT max(since) FROM lane_maps)`,
    );
    expect(told).toEqual([{ lane: 1 }]);
  });
});
