// Real: PostgreSQL and the ledgers of two processes, of which one hears of a raise only where it is refused; the ledger's clock
// is the test's.
import { laneOf, withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { RestatedEntries, SanctionClock, Sanctions, WindowRestater } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IntegrityNode } from '../nodes/integrity-node.js';
import { submissionOf, type LedgerNode } from '../nodes/ledger-node.js';
import { LimitNode } from '../nodes/limit-node.js';
import { PeopleNode } from '../nodes/people-node.js';
import { gameOf, PoolNode } from '../nodes/pool-node.js';
import { deafen, misplaced, movedId, raiseLanes, SCATTERED } from '../nodes/raises.js';
import { RestateNode } from '../nodes/restate-node.js';
import { RunNode } from '../nodes/run-node.js';
import { holding, TimeNode } from '../nodes/time-node.js';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const IN_EUROPE = { displayName: null, region: 'EU', avatarUrl: null, attributes: {}, listed: true };
const never = new AbortController().signal;
const mover = SCATTERED[3]!;

let testDatabase: TestDatabase;
let clock: DatabaseClock;
let nodes: LedgerNode[];

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  nodes = [];
});
afterEach(async () => {
  await clock?.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await testDatabase.drop();
});

/** A process, and one that will hear of nothing; on a ledger whose clock stands. */
async function both<Node extends LedgerNode>(make: new (url: string) => Node): Promise<{ node: Node; deaf: Node }> {
  const [node, deaf] = [new make(testDatabase.url), new make(testDatabase.url)];
  nodes.push(node, deaf);
  await node.start();
  await deaf.start();
  clock = await DatabaseClock.of(testDatabase.url);
  await clock.stopAt(NOON);
  return { node, deaf };
}

/** Raises the lanes; the other process knows the boards as they are then, and still 2 lanes. */
async function raiseUnheard({ node, deaf }: { node: LedgerNode; deaf: LedgerNode }): Promise<void> {
  await deafen(deaf);
  await raiseLanes(node, 8);
  expect(deaf.lanes.count).toBe(2);
}

async function put(node: LedgerNode, definition: Partial<BoardDefinition>, id = 'board'): Promise<Board> {
  const { board } = await node.registry.put(
    id,
    withBoardDefaults({ order: 'desc', operator: 'best', ...definition } as never),
  );
  await node.boards.refresh();
  return board;
}

/** Submits as many points for each as its place says. */
async function submitAll(node: LedgerNode, board: Board, players: readonly string[] = SCATTERED): Promise<void> {
  for (const [at, player] of players.entries()) {
    await node.ledger.write(
      submissionOf(node.boards.byId(board.id)!, player, at + 1, { submissionId: `${player}-${at}` }),
    );
  }
}

const standing = async ({ database }: LedgerNode): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await database.query<{ id: string; score: number }>(
        'SELECT player_id AS id, score FROM entries WHERE NOT removed AND NOT unranked ORDER BY player_id',
      )
    ).map(({ id, score }) => [id, score]),
  );

const scores = (of: readonly number[]): Record<string, number> =>
  Object.fromEntries(SCATTERED.map((player, at) => [player, of[at]!]));

/** How many log positions of these topics are in each lane from the raise on. */
const lanesTold = async ({ database }: LedgerNode, topic: string): Promise<number[]> =>
  (
    await database.query<{ lane: number }>(
      `SELECT DISTINCT lane FROM outbox WHERE topic = $1 AND position > (SELECT max(since) FROM lane_maps) ORDER BY lane`,
      [topic],
    )
  ).map(({ lane }) => lane);

/** What a process that has not heard of a raise does, and what is so afterwards. */
const WORK: [string, () => Promise<{ node: LedgerNode; deaf: LedgerNode; topic: string; lanes: number[] }>][] = [
  [
    'a sanction, and the parts of it that follow',
    async () => {
      const { node, deaf } = await both(PeopleNode);
      const board = await put(node, {});
      await submitAll(node, board);
      await node.database.query(
        `WITH made AS (
           INSERT INTO windows (board_uid, window_id, kind) SELECT $1, 'w' || n, 'daily' FROM generate_series(1, 1500) n
           RETURNING window_uid)
         INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms)
         SELECT window_uid, $2, $1, $3, 1, false, 1, '{}', 0 FROM made`,
        [board.uid, mover, laneOf(mover, 2)],
      );
      const ban = { kind: 'ban', reason: 'r', publicReason: null, untilMs: null, boards: null } as const;
      const begun = await new Sanctions(node.database, node.lanes, node.work).put(mover, ban, 'mod');
      expect(begun.pending).toBe(true);
      await raiseUnheard({ node, deaf });
      await new SanctionClock(deaf.database, new Sanctions(deaf.database, deaf.lanes, deaf.work)).goOn(never);
      const left = await node.database.query('SELECT 1 FROM entries WHERE player_id = $1 AND NOT unranked', [mover]);
      expect(left).toEqual([]);
      return { node, deaf, topic: 'entry-changed', lanes: [6] };
    },
  ],
  [
    'the turn of a pool',
    async () => {
      const { node, deaf } = await both(PoolNode);
      const poolId = movedId((at) => `pool-${at}`);
      const pool = await node.makePool(poolId);
      await node.games.record(gameOf(poolId, 'g', { ada: 1, bob: 2 }));
      await raiseUnheard({ node, deaf });
      await deaf.rater.rate(pool.uid);
      expect(await node.ratingOf(pool, 'ada')).toBe(1516);
      return { node, deaf, topic: 'rating-changed', lanes: [laneOf(poolId, 8)] };
    },
  ],
  [
    'the totals of guilds',
    async () => {
      const { node, deaf } = await both(PeopleNode);
      const guildId = movedId((at) => `guild-${at}`);
      const board = await put(node, { operator: 'sum', scopes: ['global', 'guild'] });
      await node.guilds.put(guildId, 'G');
      for (const player of SCATTERED) await node.guilds.join(guildId, player);
      await submitAll(node, board);
      await raiseUnheard({ node, deaf });
      const windowUid = (await node.windows.find(board.uid, 'alltime'))!.uid;
      expect(await deaf.totals.recompute([{ windowUid, guildId }])).toBe(1);
      const totals = await node.database.query('SELECT guild_id AS id, score, lane FROM guild_totals');
      expect(totals).toEqual([{ id: guildId, score: 10, lane: laneOf(guildId, 8) }]);
      return { node, deaf, topic: 'entry-changed', lanes: [laneOf(guildId, 8)] };
    },
  ],
  [
    'the removal of entries that are too many',
    async () => {
      const { node, deaf } = await both(LimitNode);
      const board = await node.best({ limits: withBoardDefaults({ limits: { entriesMax: 1 } } as never).limits });
      await submitAll(node, board);
      await raiseUnheard({ node, deaf });
      await deaf.trimmer.run(never);
      expect(await standing(node)).toEqual({ [mover]: 4 });
      return { node, deaf, topic: 'entry-changed', lanes: [0, 2, 4] };
    },
  ],
  [
    'the end of entries that nobody renewed',
    async () => {
      const { node, deaf } = await both(LimitNode);
      const board = await node.best({
        limits: withBoardDefaults({ limits: { entryLifetimeSeconds: 3600 } } as never).limits,
      });
      await submitAll(node, board);
      await raiseUnheard({ node, deaf });
      await clock.stopAt(NOON + 2 * HOUR_MS);
      await deaf.lifetimes.run(never);
      expect(await standing(node)).toEqual({});
      return { node, deaf, topic: 'entry-changed', lanes: [0, 2, 4, 6] };
    },
  ],
  [
    'the beginning of limits',
    async () => {
      const { node, deaf } = await both(LimitNode);
      const board = await node.best({});
      await submitAll(node, board);
      const { limits } = withBoardDefaults({ limits: { entryLifetimeSeconds: 3600 } } as never);
      await node.put({ ...board.definition, limits }, board.id);
      await raiseUnheard({ node, deaf });
      await deaf.marker.run(never);
      const marked = await node.database.query('SELECT 1 FROM entries WHERE renewed_at_ms IS NOT NULL');
      expect(marked).toHaveLength(SCATTERED.length);
      return { node, deaf, topic: 'entry-changed', lanes: [] };
    },
  ],
  [
    "the move of entries into a board's new scopes",
    async () => {
      const { node, deaf } = await both(PeopleNode);
      const board = await put(node, {});
      for (const player of SCATTERED) await node.players.put(player, IN_EUROPE);
      await submitAll(node, board);
      await put(node, { scopes: ['global', 'region'] });
      await raiseUnheard({ node, deaf });
      await deaf.scopeMigration.run(never);
      const scoped = await node.database.query(`SELECT 1 FROM entries WHERE scopes <> '{}'`);
      expect(scoped).toHaveLength(SCATTERED.length);
      return { node, deaf, topic: 'entry-changed', lanes: [0, 2, 4, 6] };
    },
  ],
  [
    'an act on a run',
    async () => {
      const { node, deaf } = await both(RunNode);
      const board = await put(node, { runs: { keepDays: 7 } } as never);
      await submitAll(node, board);
      await raiseUnheard({ node, deaf });
      await deaf.void(board, `${mover}-3`);
      expect(await standing(node)).toEqual({ ...scores([1, 2, 3, 4]), [mover]: undefined });
      return { node, deaf, topic: 'entry-changed', lanes: [6] };
    },
  ],
  [
    'the hours that leave a rolling window',
    async () => {
      const { node, deaf } = await both(TimeNode);
      const board = await put(node, { operator: 'sum', windows: [{ rolling: '3h' }] });
      await submitAll(node, board);
      await clock.stopAt(NOON + HOUR_MS);
      await raiseUnheard({ node, deaf });
      await submitAll(node, board, [...SCATTERED].reverse());
      expect(await standing(node)).toEqual(scores([5, 5, 5, 5]));
      await clock.stopAt(NOON + 3 * HOUR_MS);
      expect(await deaf.expirer.run(never)).toBe(4);
      expect(await standing(node)).toEqual(scores([4, 3, 2, 1]));
      await clock.stopAt(NOON + 4 * HOUR_MS);
      expect(await deaf.expirer.run(never)).toBe(4);
      expect(await standing(node)).toEqual({});
      expect(await node.database.query('SELECT 1 FROM rolling_hours')).toEqual([]);
      return { node, deaf, topic: 'entry-changed', lanes: [0, 2, 4, 6] };
    },
  ],
  [
    'a decision about runs of many players',
    async () => {
      const { node, deaf } = await both(IntegrityNode);
      const board = await node.put('decided', {});
      const runs = await Promise.all(SCATTERED.map((player) => node.record(board, player, 7)));
      await node.flags.raise({
        ...{ boardUid: board.uid, rule: 'rate', severity: 'low', playerId: null, subject: 'all', key: 'k' },
        ...{ summary: 's', details: {}, runs },
      });
      const [flag] = await node.flagged();
      await raiseUnheard({ node, deaf });
      await deaf.decide(flag!, 'void');
      const voided = await node.database.query('SELECT 1 FROM runs WHERE voided');
      expect(voided).toHaveLength(SCATTERED.length);
      return { node, deaf, topic: 'entry-changed', lanes: [] };
    },
  ],
];

describe('lanes that are raised under work', () => {
  it.each(WORK)('have %s done where it belongs by a process that did not hear of it', async (_what, work) => {
    const { node, deaf, topic, lanes } = await work();
    expect(deaf.lanes.count).toBe(8);
    expect(await lanesTold(node, topic)).toEqual(lanes);
    expect(await misplaced(node.database)).toEqual([]);
  });

  it('have old runs pruned at the second look of a process that did not hear of it', async () => {
    const { node, deaf } = await both(RunNode);
    const board = await put(node, { operator: 'sum', runs: { keepDays: 7 } } as never);
    await submitAll(node, board);
    await raiseUnheard({ node, deaf });
    await clock.stopAt(NOON + 8 * DAY_MS);
    await expect(deaf.oldRuns.run(never)).rejects.toThrow();
    await deaf.boards.refresh();
    await deaf.oldRuns.run(never);
    expect(await node.database.query('SELECT 1 FROM runs')).toEqual([]);
    expect(await standing(node)).toEqual(scores([1, 2, 3, 4]));
    expect(await misplaced(node.database)).toEqual([]);
  });

  it('have standings sealed that were being written', async () => {
    const { node, deaf } = await both(TimeNode);
    let board = await put(node, { windows: ['daily'], graceSeconds: 0 }, 'b0');
    for (let at = 1; laneOf(String(board.uid), 8) < 2; at += 1) {
      board = await put(node, { windows: ['daily'], graceSeconds: 0 }, `b${at}`);
    }
    await submitAll(node, board);
    await deafen(deaf);
    await clock.stopAt(NOON + DAY_MS);
    await deaf.closer.closeDue(never);
    const written = await holding(node, 'LOCK TABLE standings IN SHARE MODE');
    const settled = deaf.closer.settleClosed(never);
    const waiting = `SELECT 1 FROM pg_locks WHERE relation = 'standings'::regclass AND NOT granted`;
    await expect.poll(() => node.database.query(waiting), { interval: 10 }).toHaveLength(1);
    await raiseLanes(node, 8);
    expect(deaf.lanes.count).toBe(2);
    await written.end();
    expect(await settled).toBe(1);
    const [closed] = await node.events('window-closed', board);
    expect(closed!.lane).toBe(laneOf(String(board.uid), 8));
    expect(await misplaced(node.database)).toEqual([]);
  });

  it('have a window restated whose rows were read before', async () => {
    const { node, deaf } = await both(RestateNode);
    await clock.stopAt(NOON - 11 * HOUR_MS);
    await node.makeBoard('fed', { windows: ['daily'], graceSeconds: 0 });
    const pool = await node.makePool('fed', { board: 'fed' });
    await node.boards.refresh();
    const play = async (gameId: string, winner: string, loser: string): Promise<void> => {
      await node.games.record(
        gameOf(pool.id, gameId, { [winner]: 1, [loser]: 2 }, { playedAtMs: NOON - 11 * HOUR_MS }),
      );
      await node.play(pool);
    };
    const [a, b, c, d] = SCATTERED as [string, string, string, string];
    await play('g1', a, b);
    await play('g2', b, c);
    await play('g3', c, d);
    await clock.stopAt(NOON + 13 * HOUR_MS);
    await node.boards.refresh();
    await node.closeWindows();
    const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await node.play(pool);
    const board = node.boards.byId('fed')!;
    const windowUid = await node.windowUid(board, 'daily:2026-11-20');
    await node.restatements.ask(windowUid, { actor: 'test', reason: 'r' });
    // One that ends once it has read.
    const dying = { write: () => Promise.reject(new Error('killed')) } as unknown as RestatedEntries;
    const first = new WindowRestater(node.database, node.lanes, node.algorithms, dying);
    await expect(first.run(never)).rejects.toThrow();
    const staged = await node.database.query<{ lane: number }>('SELECT DISTINCT lane FROM restated_entries');
    expect(staged).toEqual([{ lane: laneOf(mover, 2) }]);
    await raiseUnheard({ node, deaf });
    await deaf.restater.run(never);
    expect(await node.database.query('SELECT 1 FROM restated_entries')).toEqual([]);
    await node.revise();
    const players = (await node.standingsOf(board, 'daily:2026-11-20')).map((line) => line.split(' ')[0]);
    expect([...players].sort()).toEqual([b, c, d].sort());
    expect(await misplaced(node.database)).toEqual([]);
  });
});
