// Real: PostgreSQL, its clock in the test's hands, and the ledger of two processes; the other side is a plain model, which
// replays all games. The random histories print their seed; SEED=… repeats them.
import type { BoardDefinition, FedColumn, FedValue } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  Dice,
  fedBoardOracle,
  seedOfRun,
  type FedOracleRow,
  type PlayedGame,
  type RefundedGame,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOf } from '../nodes/pool-node.js';
import { RestateNode } from '../nodes/restate-node.js';

const HOUR_MS = 3_600_000;
const GRACE_SECONDS = 7200;
const WINDOWS = ['alltime', 'daily', 'weekly'] as const;
const RULES = { windows: WINDOWS, gamesMin: 1, provisionalGames: 4, graceSeconds: GRACE_SECONDS };
const VALUES: FedValue[] = ['rating', 'peak', 'gain', 'games'];
const COLUMNS: Record<string, FedColumn> = { a: 'games', b: 'wins', c: 'winRate', d: 'peak' };
const DEFINITION = {
  windows: [...WINDOWS],
  graceSeconds: GRACE_SECONDS,
  columns: Object.keys(COLUMNS).map((name) => ({ name, order: 'desc' as const })),
} satisfies Partial<BoardDefinition>;
const STEPS = 150;
const NEVER = new AbortController().signal;

const rounded = (rows: readonly FedOracleRow[]): string[] =>
  rows
    .map(({ window, playerId, score, columns, achievedAtMs }) =>
      [window, playerId, score.toFixed(6), ...columns.map((value) => value.toFixed(6)), achievedAtMs].join(' '),
    )
    .sort();

describe('windows of fed boards that end', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let nodes: RestateNode[];
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new RestateNode(testDatabase.url), new RestateNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    for (const node of nodes) await node.stop();
    await testDatabase.drop();
  });

  it.each([0, 1, 2])(
    `hold what was recorded in time, however late they hear of it (SEED=${seed}, history %i)`,
    async (history) => {
      const dice = new Dice(seed + history);
      const [node] = nodes as [RestateNode, RestateNode];
      let nowMs = Date.parse('2026-03-02T12:00:00Z') + history * 100 * 24 * HOUR_MS;
      const goOn = (ms: number): Promise<void> => clock.stopAt((nowMs += ms));
      await goOn(0);
      const boardOf = (value: FedValue): string => `h${history}-${value}`;
      for (const value of VALUES) await node.makeBoard(boardOf(value), DEFINITION);
      const boards = VALUES.map((value) => ({ board: boardOf(value), value, columns: COLUMNS }));
      const pool: Pool = await node.makePool(`h${history}`, { provisional: { games: RULES.provisionalGames }, boards });
      for (const one of nodes) await one.boards.refresh();
      await node.fill();

      const games: PlayedGame[] = [];
      const moves: (PlayedGame | RefundedGame)[] = [];
      const play = async (): Promise<void> => {
        const [winner, loser] = dice.shuffled(['ada', 'bob', 'cid', 'dan', 'eve', 'fay']);
        const playedAtMs = nowMs - dice.below(dice.isUnder(0.5) ? HOUR_MS : 30 * HOUR_MS);
        const game = { winner: winner!, loser: loser!, isDraw: dice.isUnder(0.2), playedAtMs, recordedAtMs: nowMs };
        games.push(game);
        moves.push(game);
        const places = { [game.winner]: 1, [game.loser]: game.isDraw ? 1 : 2 };
        await node.games.record(gameOf(pool.id, `g${games.length}`, places, { playedAtMs }));
      };
      const refund = async (): Promise<void> => {
        const at = games.findIndex((game) => !moves.some((move) => 'refundOf' in move && move.refundOf === game));
        if (at < 0) return;
        const selection = { gameIds: [`g${at + 1}`], playerId: null, fromMs: null, toMs: null };
        await node.corrections.record(pool.id, { selection, mode: 'refund', reason: 'r' }, 'test');
        moves.push({ refundOf: games[at]! });
      };
      /** What follows comes in its order, some of it again after a process was killed. */
      let told = 0;
      const deliver = async (to: RestateNode, most: number): Promise<void> => {
        const events = await node.ratingEvents(pool.uid);
        const first = dice.isUnder(0.2) ? dice.below(told + 1) : told;
        const end = Math.min(events.length, told + most);
        await to.deliver(events.slice(first, end));
        told = end;
      };
      const close = async (by: RestateNode): Promise<void> => {
        await by.lastFeeds.run(NEVER);
        await by.closeFed();
        for (const one of nodes) await one.boards.refresh();
      };
      for (let step = 0; step < STEPS; step += 1) {
        const one = dice.oneOf(nodes);
        const what = dice.below(100);
        if (what < 45) await play();
        else if (what < 48) await refund();
        else if (what < 60) await one.rater.rate(pool.uid);
        else if (what < 75) await deliver(one, dice.below(12));
        else if (what < 88) await close(one);
        else if (what < 90) await one.fill();
        else if (what < 98) await goOn(dice.below(dice.isUnder(0.8) ? 4 * HOUR_MS : 40 * HOUR_MS));
        else {
          // A day of which nobody hears while it runs.
          await goOn(24 * HOUR_MS);
          await play();
          await goOn(27 * HOUR_MS);
        }
      }
      for (let round = 0; round < 3; round += 1) {
        await node.rater.rate(pool.uid);
        await deliver(node, Infinity);
        await node.fill();
        await goOn(round === 0 ? 10 * 24 * HOUR_MS : 61_000);
        await close(node);
      }

      const states = await node.database.query<{ state: string }>(
        `SELECT DISTINCT state FROM windows JOIN boards USING (board_uid) WHERE board_id LIKE $1 AND ends_at <= ladder_now()`,
        [`h${history}-%`],
      );
      expect(states).toEqual([{ state: 'settled' }]);
      for (const value of VALUES) {
        const expected = fedBoardOracle(value, moves, RULES);
        const entries = await node.entriesOf(boardOf(value));
        expect(rounded(entries), value).toEqual(rounded(expected));
        const ended = new Set(expected.map(({ window }) => window).filter((id) => id !== 'alltime'));
        for (const window of ended) {
          const final = await node.standingsOf(node.boards.byId(boardOf(value))!, window);
          const ofWindow = entries.filter((row) => row.window === window);
          expect(final.sort()).toEqual(ofWindow.map(({ playerId, score }) => `${playerId} ${score}`).sort());
        }
      }
    },
  );
});
