// Real: an api and a projector process against one PostgreSQL, one Redis and each log; the projector is killed with SIGKILL
// again and again while it rates and feeds boards, and games are voided, boards added and reset, and rules changed meanwhile.
import type { FedColumn, FedValue } from '@laddercast/domain';
import {
  createTestDatabase,
  eloSteps,
  emptyTestRedis,
  fedBoardOracle,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type Installation,
  type PlayedGame,
  type RefundedGame,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const BATCH = 50;
const PLAYERS = 20;
const WINDOWS = ['alltime', 'daily'] as const;
const COLUMNS = { a: 'games', b: 'wins', c: 'winRate', d: 'peak' } satisfies Record<string, FedColumn>;
const VALUES = ['rating', 'peak', 'gain', 'games', 'wins'] satisfies FedValue[];
const PROVISIONAL_GAMES = 10;

interface Game {
  gameId: string;
  position: number;
  playedAt: string;
  voided: string | null;
  players: { playerId: string; place: number }[];
  rated: { players: { playerId: string; before: number; after: number }[] };
}

interface Entries {
  entries: { playerId: string; score: number; rank: number }[];
}

describe.each(logsUnderTest())('ratings and the boards of their pool on the log %s', (log) => {
  let testDatabase: TestDatabase;
  let api: RunningApp;
  let projector: RunningApp;
  let installation: Installation;
  let admin: RestClient;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const settings = settingsOfLog(log);
    installation = { ...newInstallation(testDatabase.url, await emptyTestRedis()), settings };
    api = await startApp('api', installation);
    projector = await startApp('projector', installation);
    admin = new RestClient(api.url, installation.adminKey);
  }, 120_000);

  afterAll(async () => {
    await projector?.stop();
    await api?.stop();
    await testDatabase?.drop();
  });

  const poolNow = async (): Promise<{ games: number; pending: number }> =>
    (await admin.get('/v1/pools/blitz')).body as { games: number; pending: number };

  const done = ({ status, text }: Response): void => expect(status, text).toBeLessThan(300);
  const putBoard = async (value: FedValue): Promise<void> => {
    const columns = Object.keys(COLUMNS).map((name) => ({ name, order: 'desc' }));
    done(await admin.put(`/v1/boards/${value}`, { order: 'desc', operator: 'latest', windows: WINDOWS, columns }));
  };
  const putPool = async (values: readonly FedValue[], gamesMin: number): Promise<void> => {
    const boards = values.map((value) => ({ board: value, value, columns: COLUMNS }));
    const rules = { provisional: { games: PROVISIONAL_GAMES }, rankable: { gamesMin } };
    done(await admin.put('/v1/pools/blitz', { algorithm: 'elo', ...rules, boards }));
  };

  /** All games in the order of their positions. */
  const allGames = async (): Promise<Game[]> => {
    const games: Game[] = [];
    for (let cursor = ''; ;) {
      const { body } = await admin.get(`/v1/pools/blitz/games?limit=100${cursor}`);
      const page = body as { games: Game[]; next: string | null };
      games.push(...page.games);
      if (page.next === null) return games.reverse();
      cursor = `&cursor=${page.next}`;
    }
  };

  /** Of all players: where among the games points were given back, and of which game. */
  const refunds = async (): Promise<Map<string, number>> => {
    const found = new Map<string, number>();
    for (let player = 0; player < PLAYERS; player += 1) {
      for (let cursor = ''; ;) {
        const { body } = await admin.get(`/v1/pools/blitz/players/p${player}/history?limit=100${cursor}`);
        const page = body as { changes: { kind: string; gameId: string; position: number }[]; next: string | null };
        for (const { kind, gameId, position } of page.changes) if (kind === 'refund') found.set(gameId, position);
        if (page.next === null) break;
        cursor = `&cursor=${page.next}`;
      }
    }
    return found;
  };

  /** Kills the projector while something is done, and starts another. @returns where the pool was between the two */
  const actAndKill = async (act: () => Promise<void>): Promise<{ games: number; pending: number }> => {
    const acting = act();
    await sleep(100);
    projector.process.kill('SIGKILL');
    await once(projector.process, 'exit');
    const between = await poolNow();
    projector = await startApp('projector', installation);
    await acting;
    return between;
  };

  /** What a reader sees at any time: an order without gaps, each player once, or that it is not there now. */
  const readTop = async (value: FedValue): Promise<void> => {
    const { status, body, text } = await admin.get(`/v1/boards/${value}/entries?limit=100`);
    if (status === 503 || status === 404) return;
    expect(status, text).toBe(200);
    const { entries } = body as Entries;
    expect(new Set(entries.map(({ playerId }) => playerId)).size).toBe(entries.length);
    const scores = entries.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  };

  it('are those of a plain replay, whenever the projector is killed', async () => {
    for (const value of VALUES) await putBoard(value);
    await putPool(['rating', 'peak', 'games'], 3);
    let sent = 0;
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        const games = Array.from({ length: BATCH }, (_, index) => {
          const n = sent + index;
          const [a, b] = [n % PLAYERS, (n * 7 + 1) % PLAYERS];
          const other = a === b ? (b + 1) % PLAYERS : b;
          const players = [
            { playerId: `p${a}`, place: 1 },
            { playerId: `p${other}`, place: 1 + (n % 3 === 0 ? 0 : 1) },
          ];
          return { pool: 'blitz', gameId: `g${n}`, players };
        });
        const response = await admin.post('/v1/games', { games });
        expect(response.status, response.text).toBe(200);
        sent += BATCH;
        await Promise.all(VALUES.map(readTop));
        await sleep(50);
      }
    })();

    const voidGames = (gameIds: string[], mode: string): Promise<Response> =>
      admin.post('/v1/pools/blitz/voids', { gameIds, mode, reason: 'a test' });
    const acts = [
      () => putPool(VALUES, 20),
      async () => {
        done(await voidGames(['g1', 'g30', 'g77'], 'recompute'));
        done(await admin.post('/v1/admin/boards/peak/reset', {}));
      },
    ];
    const rated: number[] = [];
    for (const act of acts) {
      const before = await poolNow();
      const ratedBefore = before.games - before.pending;
      // Some of them: then it is at work.
      await expect
        .poll(async () => poolNow().then(({ games, pending }) => games - pending), { timeout: 30_000, interval: 20 })
        .toBeGreaterThan(ratedBefore + 2 * BATCH);
      const { games, pending } = await actAndKill(act);
      rated.push(games - pending);
    }
    isOver = true;
    await sending;
    // No later game makes good what the boards miss of these.
    await actAndKill(async () => done(await voidGames(['g2'], 'recompute')));
    await actAndKill(async () => done(await voidGames(['g50', 'g90'], 'refund')));
    expect(rated).toEqual([...rated].sort((a, b) => a - b));
    await expect.poll(async () => (await poolNow()).pending, { timeout: 60_000, interval: 100 }).toBe(0);

    const games = await allGames();
    expect(games.map(({ gameId }) => gameId)).toEqual(Array.from({ length: sent }, (_, n) => `g${n}`));
    expect(games.filter(({ voided }) => voided !== null).map(({ gameId }) => gameId)).toEqual([
      'g1',
      'g2',
      'g30',
      'g50',
      'g77',
      'g90',
    ]);
    const given = await refunds();
    expect([...given.keys()].sort()).toEqual(['g50', 'g90']);
    const played = new Map<string, PlayedGame>();
    const moves: { position: number; move: PlayedGame | RefundedGame }[] = [];
    for (const { gameId, position, playedAt, voided, players } of games) {
      if (voided === 'recompute') continue;
      const [winner, loser] = players.map(({ playerId }) => playerId) as [string, string];
      const isDraw = players[0]!.place === players[1]!.place;
      const game = { winner, loser, isDraw, playedAtMs: Date.parse(playedAt) };
      played.set(gameId, game);
      moves.push({ position, move: game });
    }
    for (const [gameId, position] of given) moves.push({ position, move: { refundOf: played.get(gameId)! } });
    const inOrder = moves.sort((a, b) => a.position - b.position).map(({ move }) => move);

    const { steps, ratings } = eloSteps(inOrder);
    const counted = new Map<string, number>();
    for (const { gameId, voided, players, rated: changes } of games) {
      if (voided === 'recompute') continue;
      for (const { playerId } of players) {
        const at = counted.get(playerId) ?? 0;
        counted.set(playerId, at + 1);
        const { before, after } = steps.get(playerId)![at]!;
        const change = changes.players.find((player) => player.playerId === playerId)!;
        expect(change.before, gameId).toBeCloseTo(before, 7);
        expect(change.after, gameId).toBeCloseTo(after, 7);
      }
    }
    for (const [playerId, rating] of ratings) {
      const { body } = await admin.get(`/v1/pools/blitz/players/${playerId}`);
      expect((body as { rating: number }).rating).toBeCloseTo(rating, 7);
    }
    const rules = { windows: WINDOWS, gamesMin: 20, provisionalGames: PROVISIONAL_GAMES };
    for (const value of VALUES) {
      const rows = fedBoardOracle(value, inOrder, rules);
      expect(rows.length).toBeGreaterThan(PLAYERS);
      for (const window of new Set(rows.map((row) => row.window))) {
        const shown = async (): Promise<string[]> => {
          const { body } = await admin.get(`/v1/boards/${value}/entries?limit=100&window=${window}`);
          return (body as Entries).entries.map(({ playerId, score }) => `${playerId} ${score.toFixed(6)}`).sort();
        };
        const expected = rows.filter((row) => row.window === window);
        await expect
          .poll(shown, { timeout: 60_000, interval: 100, message: `${value} ${window}` })
          .toEqual(expected.map(({ playerId, score }) => `${playerId} ${score.toFixed(6)}`).sort());
      }
    }
  }, 300_000);
});
