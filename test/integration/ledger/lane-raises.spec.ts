// Real: PostgreSQL and the ledgers of two processes, of which one hears of a raise only where it is refused.
import { randomUUID } from 'node:crypto';
import { laneOf, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { ADVISORY_LOCKS, LaneRaiser, settleLanes, takeLane, type SubmitReceipt } from '@laddercast/ledger';
import { createTestDatabase, Dice, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lanesWaitedFor } from '../nodes/lanes-waited-for.js';
import { LedgerNode, submissionOf } from '../nodes/ledger-node.js';
import { PeopleNode } from '../nodes/people-node.js';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const PLAYERS = Array.from({ length: 40 }, (_, index) => `p${index}`);
const ADMIN = 'admin';

let testDatabase: TestDatabase;
let nodes: LedgerNode[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  nodes = [];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await testDatabase.drop();
});

async function started<Node extends LedgerNode>(node: Node): Promise<Node> {
  nodes.push(node);
  await node.start();
  return node;
}

/** A process, and one that hears of nothing but what it is refused. */
async function both<Node extends LedgerNode>(make: new (url: string) => Node): Promise<{ node: Node; deaf: Node }> {
  const node = await started(new make(testDatabase.url));
  const deaf = await started(new make(testDatabase.url));
  return { node, deaf };
}

const raiserOf = ({ allLanes, lanes }: LedgerNode): LaneRaiser => new LaneRaiser(allLanes, lanes);

async function boardOf(node: LedgerNode, definition: Partial<BoardDefinition> = {}): Promise<Board> {
  const full = withBoardDefaults({ order: 'desc', ...definition } as never);
  const { board } = await node.registry.put(`b-${randomUUID().slice(0, 8)}`, full);
  for (const one of nodes) {
    await one.boards.refresh();
    one.boards.stop();
  }
  return board;
}

/** Does something while another transaction holds a lane; the result is there once it is free again. */
async function holding<T>({ database, lanes }: LedgerNode, lane: number, work: () => Promise<T>): Promise<T> {
  let result!: T;
  await database.transaction(async (transaction) => {
    await takeLane(transaction, lanes.place(lane));
    result = await work();
  });
  return result;
}

/** A player who changes its lane when 2 lanes become 8. */
const mover = PLAYERS.find((player) => laneOf(player, 8) >= 2)!;

interface OutboxRow {
  lane: number;
  position: number;
  key: string;
}

const outboxOf = ({ database }: LedgerNode): Promise<OutboxRow[]> =>
  database.query<OutboxRow>(`SELECT lane, position, key FROM outbox WHERE topic = 'entry-changed' ORDER BY position`);

/** Everything that was told is in the lane that was its player's at that position, and entries say that lane. */
async function expectPlaced(node: LedgerNode): Promise<void> {
  await node.lanes.refresh(node.database);
  const maps = await node.database.query<{ count: number; since: number }>(
    'SELECT count, since FROM lane_maps ORDER BY number',
  );
  const laneAt = (id: string, position: number): number =>
    laneOf(id, maps.findLast(({ since }) => since <= position)!.count);
  const rows = await outboxOf(node);
  expect(rows.map(({ lane }) => lane)).toEqual(rows.map(({ key, position }) => laneAt(key, position)));
  const entries = await node.database.query<{ id: string; lane: number; version: number }>(
    'SELECT player_id AS id, lane, version FROM entries',
  );
  expect(entries.length).toBeGreaterThan(0);
  expect(entries.map(({ lane }) => lane)).toEqual(entries.map(({ id, version }) => laneAt(id, version)));
}

describe('lanes that are raised', () => {
  it('lose, double and misplace no write of two processes that go on writing, from 2 to 4 to 8', async () => {
    const { node, deaf } = await both(LedgerNode);
    const board = await boardOf(node, { operator: 'sum' });
    const dice = new Dice(7);
    const expected = new Map<string, number>();
    let goesOn = true;
    const receipts: SubmitReceipt[] = [];
    const write = async (by: LedgerNode): Promise<void> => {
      const [playerId, score] = [dice.oneOf(PLAYERS), 1 + dice.below(9)];
      expected.set(playerId, (expected.get(playerId) ?? 0) + score);
      receipts.push(await by.ledger.write(submissionOf(board, playerId, score)));
    };
    const writers = [node, deaf].map(async (by) => {
      while (goesOn) await Promise.all(Array.from({ length: 20 }, () => write(by)));
    });
    for (const count of [4, 8]) {
      const before = receipts.length;
      await expect.poll(() => receipts.length - before, { interval: 10 }).toBeGreaterThan(200);
      expect((await raiserOf(node).raise(count, ADMIN)).map((map) => map.count)).toEqual(
        count === 4 ? [2, 4] : [2, 4, 8],
      );
    }
    const before = receipts.length;
    await expect.poll(() => receipts.length - before, { interval: 10 }).toBeGreaterThan(200);
    goesOn = false;
    await Promise.all(writers);
    expect(deaf.lanes.count).toBe(8);
    const entries = await node.database.query<{ id: string; score: number }>(
      'SELECT player_id AS id, score FROM entries',
    );
    expect(Object.fromEntries(entries.map(({ id, score }) => [id, score]))).toEqual(Object.fromEntries(expected));
    expect(new Set(receipts.map(({ answer }) => answer.version)).size).toBe(receipts.length);
    await expectPlaced(node);
  });

  it('are noticed by a writer that remembers all that it needs', async () => {
    const { node, deaf } = await both(LedgerNode);
    const board = await boardOf(node, { operator: 'sum' });
    await deaf.ledger.write(submissionOf(board, mover, 1));
    await deaf.ledger.write(submissionOf(board, mover, 1));
    await raiserOf(node).raise(8, ADMIN);
    await node.ledger.write(submissionOf(board, mover, 1));
    expect((await deaf.ledger.write(submissionOf(board, mover, 1))).answer).toMatchObject({ score: 4 });
    await expectPlaced(node);
  });

  it('leave what waits in the order in which it came', async () => {
    const { node, deaf } = await both(LedgerNode);
    const board = await boardOf(node, { operator: 'latest' });
    const numbers = Array.from({ length: 600 }, (_, index) => index);
    let raised!: Promise<unknown>;
    const written = await holding(node, node.lanes.of(mover), async () => {
      raised = raiserOf(node).raise(8, ADMIN);
      await expect.poll(() => lanesWaitedFor(node), { interval: 10 }).toBe(1);
      // Behind the raise.
      const writes = numbers.map((score) => deaf.ledger.write(submissionOf(board, mover, score)));
      await expect.poll(() => lanesWaitedFor(node), { interval: 10 }).toBe(2);
      return writes;
    });
    await Promise.all([raised, ...written]);
    const rows = await node.database.query<{ score: number }>(
      'SELECT score FROM submissions ORDER BY (answer::json ->> 0)::bigint',
    );
    expect(rows.map(({ score }) => score)).toEqual(numbers);
    await expectPlaced(node);
  });

  it('are all taken by who changes a board and has not heard of them', async () => {
    const { node, deaf } = await both(LedgerNode);
    const board = await boardOf(node);
    await raiserOf(node).raise(8, ADMIN);
    expect(deaf.lanes.count).toBe(2);
    await deaf.allLanes.change(async (transaction) => {
      const [row] = await transaction.query<{ lanes: number }>(
        `SELECT count(*)::int AS lanes FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1
           AND pid = pg_backend_pid()`,
        [ADVISORY_LOCKS.lanes],
      );
      expect(row).toEqual({ lanes: 8 });
    });
    await deaf.registry.put(board.id, { ...board.definition, displayName: 'Other' } as BoardDefinition);
    const told = await node.database.query<{ lane: number }>(
      `SELECT lane FROM outbox WHERE topic = 'board-changed' AND position > (SELECT max(since) FROM lane_maps) ORDER BY lane`,
    );
    expect(told.map(({ lane }) => lane)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('take along guilds, profiles and the entries of their players', async () => {
    const { node, deaf } = await both(PeopleNode);
    const board = await boardOf(node, { operator: 'best', scopes: ['region', 'guild'] } as never);
    const guildId = 'reds';
    await deaf.guilds.put(guildId, 'Reds');
    for (const player of PLAYERS) await deaf.ledger.write(submissionOf(board, player, 5));
    await raiserOf(node).raise(8, ADMIN);
    for (const player of PLAYERS.slice(0, 20)) await deaf.guilds.join(guildId, player);
    await deaf.lanes.refresh(deaf.database);
    await expectPlaced(node);
    const [told] = await node.database.query<OutboxRow>(
      `SELECT lane, position, key FROM outbox WHERE key = $1 AND topic = 'player-changed' ORDER BY position DESC LIMIT 1`,
      [guildId],
    );
    expect(told!.lane).toBe(laneOf(guildId, 2));
    await deaf.guilds.put(guildId, 'Redder');
    const [again] = await node.database.query<OutboxRow>(
      `SELECT lane, position, key FROM outbox WHERE key = $1 AND topic = 'player-changed' ORDER BY position DESC LIMIT 1`,
      [guildId],
    );
    expect(again!.lane).toBe(laneOf(guildId, 8));
  });

  it('keep the games of a pool in the order in which they came', async () => {
    const { node, deaf } = await both(PoolNode);
    await boardOf(node);
    const poolId = Array.from({ length: 20 }, (_, index) => `pool-${index}`).find((id) => laneOf(id, 8) >= 2)!;
    await node.makePool(poolId);
    const ids = Array.from({ length: 30 }, (_, index) => `g${index}`);
    const record = (gameId: string): Promise<unknown> => deaf.games.record(gameOf(poolId, gameId, { ada: 1, bob: 2 }));
    await raiserOf(node).raise(8, ADMIN);
    const recorded = await holding(node, laneOf(poolId, 2), async () => {
      const first = ids.slice(0, 20).map(record);
      // They wait for the lane that was theirs.
      await expect.poll(() => lanesWaitedFor(node), { interval: 10 }).toBe(1);
      await deaf.lanes.refresh(deaf.database);
      return [...first, ...ids.slice(20).map(record)];
    });
    await Promise.all(recorded);
    const rows = await node.database.query<{ id: string }>('SELECT game_id AS id FROM games ORDER BY position');
    expect(rows.map(({ id }) => id)).toEqual(ids);
    const lanes = await node.database.query(`SELECT DISTINCT lane FROM outbox WHERE topic = 'game-recorded'`);
    expect(lanes).toEqual([{ lane: laneOf(poolId, 8) }]);
  });

  it.each([
    [1, 'only raised'],
    [3, 'a multiple of that, up to 64, so that players leave lanes for new ones alone. Next is 4.'],
    [128, 'Next is 4.'],
  ])('are refused for %i', async (count, why) => {
    const node = await started(new LedgerNode(testDatabase.url));
    await expect(raiserOf(node).raise(count, ADMIN)).rejects.toMatchObject({ code: 'LANES_NOT_RAISED' });
    await expect(raiserOf(node).raise(count, ADMIN)).rejects.toThrow(why);
    expect(await raiserOf(node).raise(2, ADMIN)).toEqual([{ number: 0, count: 2, since: 0 }]);
  });

  it('let processes start that were set up with any number that there was, and no others', async () => {
    const node = await started(new LedgerNode(testDatabase.url));
    await raiserOf(node).raise(4, ADMIN);
    await settleLanes(node.database, 2);
    await settleLanes(node.database, 4);
    await expect(settleLanes(node.database, 8)).rejects.toThrow(/made with LEDGER_LANES=2; set it back/);
  });

  it('refuse what a release writes that knows of none', async () => {
    const node = await started(new LedgerNode(testDatabase.url));
    const board = await boardOf(node);
    await node.ledger.write(submissionOf(board, 'ada', 1));
    await raiserOf(node).raise(4, ADMIN);
    await expect(node.database.query('UPDATE entries SET score = 2')).rejects.toThrow(/must not write any more/);
  });
  it('end a process whose ledger went back to before them', async () => {
    const { node, deaf } = await both(LedgerNode);
    await raiserOf(node).raise(4, ADMIN);
    let ended = 0;
    node.boards.onOtherHistory(() => (ended += 1));
    await node.boards.refresh();
    await deaf.boards.refresh();
    expect([ended, deaf.lanes.count]).toEqual([0, 4]);
    await deaf.database.query('DELETE FROM lane_maps WHERE number = 1');
    await expect(node.boards.refresh()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    expect(ended).toBe(1);
  });
});
