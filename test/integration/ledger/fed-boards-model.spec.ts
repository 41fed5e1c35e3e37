// Real: PostgreSQL and the ledger of two processes; the other side is a plain model, which replays all games.
import type { BoardDefinition, FedColumn, FedValue } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import {
  createTestDatabase,
  Dice,
  fedBoardOracle,
  type FedOracleRow,
  type PlayedGame,
  type RefundedGame,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const WINDOWS = ['alltime', 'daily', 'weekly'] as const;
const RULES = { windows: WINDOWS, gamesMin: 2, provisionalGames: 4 };

const byPlace = (a: FedOracleRow, b: FedOracleRow): number =>
  `${a.window} ${a.playerId}` < `${b.window} ${b.playerId}` ? -1 : 1;

const rounded = (rows: readonly FedOracleRow[]): FedOracleRow[] =>
  [...rows].sort(byPlace).map((row) => ({
    ...row,
    score: Number(row.score.toFixed(6)),
    columns: row.columns.map((value) => Number(value.toFixed(6))),
  }));

describe('fed boards are as a plain replay of all games says', () => {
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let other: FeedNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    other = new FeedNode(testDatabase.url);
    await other.start();
  });
  afterAll(async () => {
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const VALUES: FedValue[] = ['rating', 'conservative', 'peak', 'gain', 'games', 'wins'];
  const COLUMNS: Record<string, FedColumn> = { a: 'games', b: 'wins', c: 'winRate', d: 'peak' };
  const DEFINITION = {
    windows: [...WINDOWS],
    columns: Object.keys(COLUMNS).map((name) => ({ name, order: 'desc' as const })),
  } satisfies Partial<BoardDefinition>;

  it.each([1, 2, 3])('in every window, however events are delivered (seed %i)', async (seed) => {
    const { next: random, below } = new Dice(seed);
    const boardOf = (value: FedValue): string => `s${seed}-${value}`;
    for (const value of VALUES) await node.makeBoard(boardOf(value), DEFINITION);
    const named = VALUES.map((value) => ({ board: boardOf(value), value, columns: COLUMNS }));
    const rules = { provisional: { games: RULES.provisionalGames }, rankable: { gamesMin: RULES.gamesMin } };
    // Two are named when there are games already.
    const pool: Pool = await node.makePool(`s${seed}`, { ...rules, boards: named.slice(2) });
    await other.boards.refresh();
    const games: PlayedGame[] = [];
    const moves: (PlayedGame | RefundedGame)[] = [];
    const delivered: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const nowMs = Date.now();
      // Two around the last midnight are in every batch: they belong to two days.
      const midnightMs = Math.floor(nowMs / (24 * HOUR_MS)) * 24 * HOUR_MS;
      for (let n = 0; n < 1 + below(6); n += 1) {
        const winner = `p${below(6)}`;
        const loser = `p${(Number(winner[1]) + 1 + below(5)) % 6}`;
        const playedAtMs = n < 2 ? midnightMs - n : nowMs - below(70 * HOUR_MS);
        moves.push({ winner, loser, isDraw: below(4) === 0, playedAtMs });
        const game = moves.at(-1) as PlayedGame;
        games.push(game);
        const { isDraw } = game;
        const places = { [winner]: 1, [loser]: isDraw ? 1 : 2 };
        await node.games.record(gameOf(pool.id, `g${games.length}`, places, { playedAtMs }));
      }
      if (round % 4 === 3) {
        const at = games.findIndex((game) => !moves.some((move) => 'refundOf' in move && move.refundOf === game));
        const selection = { gameIds: [`g${at + 1}`], playerId: null, fromMs: null, toMs: null };
        await node.corrections.record(pool.id, { selection, mode: 'refund', reason: 'r' }, 'test');
        moves.push({ refundOf: games[at]! });
      }
      if (round % 3 !== 2) await (round % 2 === 0 ? node : other).rater.rate(pool.uid);
      const events = await node.ratingEvents(pool.uid);
      // Some of them, in any order, some twice, by two processes at once; the others later.
      const picked = events.map((event, index) => ({ event, index })).filter(() => below(3) > 0);
      delivered.push(...picked.map(({ index }) => index));
      const shuffled = picked.map(({ event }) => ({ event, by: random() })).sort((a, b) => a.by - b.by);
      const some = shuffled.map(({ event }) => event);
      await Promise.all([node.deliver(some.slice(below(some.length + 1))), other.deliver(some)]);
      if (round === 5) await node.makePool(pool.id, { ...rules, boards: named });
      if (round === 6) await Promise.all([node.fill(), other.fill()]);
      if (round === 8) await node.registry.reset(boardOf('gain'), 'test');
      if (round === 9) await other.fill();
    }
    await node.rater.rate(pool.uid);
    const events = await node.ratingEvents(pool.uid);
    await node.deliver(events.filter((_, index) => !delivered.includes(index)).reverse());
    for (const value of VALUES) {
      const expected = fedBoardOracle(value, moves, RULES);
      expect(rounded(await node.entriesOf(boardOf(value))), value).toEqual(rounded(expected));
    }
  });
});
