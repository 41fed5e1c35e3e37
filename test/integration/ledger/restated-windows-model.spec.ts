// Real: PostgreSQL and the ledgers of two processes; their clock is the test's. The other side is a pool whose games were
// never voided, because they were never played: its windows closed by themselves.
import type { Board, BoardDefinition, FedColumn, FedValue } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  Dice,
  fedBoardOracle,
  seedOfRun,
  type PlayedGame,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOf } from '../nodes/pool-node.js';
import { ALWAYS_LAID, RestateNode } from '../nodes/restate-node.js';

const HOUR_MS = 3_600_000;
const MIDNIGHT_MS = Date.parse('2026-11-20T00:00:00Z');
const DAY = 'daily:2026-11-20';
const PLAYERS = 8;
const VALUES: FedValue[] = ['rating', 'conservative', 'peak', 'gain', 'games', 'wins'];
const COLUMNS: Record<string, FedColumn> = { a: 'games', b: 'wins', c: 'winRate', d: 'peak' };
const PROVISIONAL_GAMES = 3;
/** Where a revision is written whole, and where it is laid over. */
const LIMITS = [ALWAYS_LAID, { rowsMax: 0, partMax: 0 }];

interface Played extends PlayedGame {
  id: string;
}

describe('a restated window shows what it would, had the void games never been', () => {
  let testDatabase: TestDatabase;
  let node: RestateNode;
  let other: RestateNode;
  let clock: DatabaseClock;
  const seed = seedOfRun();

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new RestateNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    other = new RestateNode(testDatabase.url);
    await other.start();
  });
  afterAll(async () => {
    await clock.close();
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  /** A pool, and a board for each value. */
  async function feeding(id: string): Promise<{ pool: Pool; boards: Map<FedValue, Board> }> {
    const definition = {
      windows: ['daily'],
      graceSeconds: 0,
      scopes: ['global', 'region', 'guild'],
      guildAggregate: { kind: 'top', k: 2, onLeave: 'keep' },
      columns: Object.keys(COLUMNS).map((name) => ({ name, order: 'desc' as const })),
    } as Partial<BoardDefinition>;
    for (const value of VALUES) await node.makeBoard(`${id}-${value}`, definition);
    const named = VALUES.map((value) => ({ board: `${id}-${value}`, value, columns: COLUMNS }));
    const pool = await node.makePool(id, { provisional: { games: PROVISIONAL_GAMES }, boards: named });
    await node.boards.refresh();
    return { pool, boards: new Map(VALUES.map((value) => [value, node.boards.byId(`${id}-${value}`)!])) };
  }

  it.each([0, 1, 2])(
    `in every value, list, column and style (SEED=${seed}, history %i)`,
    { timeout: 120_000 },
    async (history) => {
      const { below } = new Dice(seed + history);
      const id = `h${history}`;
      await clock.stopAt(MIDNIGHT_MS + HOUR_MS);
      const voided = await feeding(`${id}-voided`);
      const twin = await feeding(`${id}-twin`);
      for (const guild of ['red', 'blue']) await node.guilds.put(`${id}-${guild}`, null);
      const player = (at: number): string => `${id}-p${at}`;
      for (let at = 0; at < PLAYERS; at += 1) {
        const profile = {
          displayName: null,
          region: at % 2 === 0 ? 'EU' : 'US',
          avatarUrl: null,
          attributes: {},
          listed: true,
        };
        await node.players.put(player(at), profile as never);
        if (at % 3 > 0) await node.guilds.join(`${id}-${at % 3 === 1 ? 'red' : 'blue'}`, player(at));
      }
      const games: Played[] = [];
      const isVoid = new Set<string>();
      // Who will be voided is known beforehand: the twin never hears of it.
      const playAt = async (hour: number): Promise<void> => {
        const playedAtMs = MIDNIGHT_MS + hour * HOUR_MS + below(HOUR_MS);
        await clock.stopAt(playedAtMs);
        const winner = below(PLAYERS);
        const loser = (winner + 1 + below(PLAYERS - 1)) % PLAYERS;
        const isDraw = below(4) === 0;
        const game = { id: `g${games.length}`, winner: player(winner), loser: player(loser), isDraw, playedAtMs };
        games.push(game);
        if (below(5) === 0) isVoid.add(game.id);
        const places = { [game.winner]: 1, [game.loser]: isDraw ? 1 : 2 };
        await node.games.record(gameOf(voided.pool.id, game.id, places, { playedAtMs }));
        if (!isVoid.has(game.id)) await node.games.record(gameOf(twin.pool.id, game.id, places, { playedAtMs }));
        await node.play(voided.pool, twin.pool);
      };
      for (let hour = 2; hour < 24; hour += 1) {
        await playAt(hour);
        // A leaver's part stays with its guild.
        if (hour === 12) await node.guilds.leave(`${id}-red`, player(1));
      }
      for (let hour = 24; hour < 28; hour += 1) await playAt(hour);
      await node.closeWindows();
      await clock.stopAt(MIDNIGHT_MS + 30 * HOUR_MS);
      const first = new Map<FedValue, unknown>();
      for (const [value, board] of voided.boards) first.set(value, await node.shown(board, DAY));
      const selection = { gameIds: [...isVoid], playerId: null, fromMs: null, toMs: null };
      if (isVoid.size > 0) {
        await node.corrections.record(voided.pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
      }
      await node.play(voided.pool);
      const nowhere = games.filter((game) => !isVoid.has(game.id));
      const rules = { windows: ['daily'] as const, gamesMin: 1, provisionalGames: PROVISIONAL_GAMES };
      for (const [value, board] of voided.boards) {
        // Until it is asked for, the window stays as it was written.
        expect(await node.shown(board, DAY)).toEqual(first.get(value));
        const windowUid = await node.windowUid(board, DAY);
        const by = below(2) === 0 ? node : other;
        const { isDone, entries, edition } = await by.restate(windowUid, LIMITS[below(2)]);
        const expected = await node.shown(twin.boards.get(value)!, DAY);
        expect(await other.shown(board, DAY), value).toEqual(expected);
        const differs = JSON.stringify(expected) !== JSON.stringify(first.get(value));
        expect([isDone, edition], value).toEqual([true, differs ? 2 : 1]);
        expect(entries! > 0 || !differs).toBe(true);
        // And what a plain replay says.
        const replayed = fedBoardOracle(value, nowhere, rules).filter(({ window }) => window === DAY);
        const rows = (await node.entriesOf(board.id)).filter(({ window }) => window === DAY);
        expect(
          rows.map(({ playerId, score, achievedAtMs }) => [playerId, score.toFixed(6), achievedAtMs]),
          value,
        ).toEqual(replayed.map(({ playerId, score, achievedAtMs }) => [playerId, score.toFixed(6), achievedAtMs]));
        // The same again changes nothing.
        expect(await by.restate(windowUid)).toMatchObject({ entries: 0, edition, isDone: true });
        expect(await node.shown(board, DAY, 1)).toEqual(first.get(value));
      }
    },
  );
});
