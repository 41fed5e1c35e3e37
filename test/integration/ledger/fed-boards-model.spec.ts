// Real: PostgreSQL and the ledger of two processes; the other side is a plain model, which replays all games.
import { windowAt, type BoardDefinition, type FedColumn, type FedValue } from '@laddercast/domain';
import type { Pool } from '@laddercast/ledger';
import { createTestDatabase, Dice, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode, type FedRow } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const WINDOWS = ['alltime', 'daily', 'weekly'] as const;
const PROVISIONAL_GAMES = 4;
const GAMES_MIN = 2;

interface PlayedGame {
  winner: string;
  loser: string;
  isDraw: boolean;
  playedAtMs: number;
}

/** A game as one of its players sees it. */
interface Step {
  before: number;
  after: number;
  isWin: boolean;
  playedAtMs: number;
  /** The games of the player up to this one. */
  games: number;
}

/** All games one after the other by Elo, as anybody would write it down. */
function stepsOf(games: readonly PlayedGame[]): Map<string, Step[]> {
  const steps = new Map<string, Step[]>();
  const add = (playerId: string, step: Omit<Step, 'games'>): void => {
    const known = steps.get(playerId) ?? [];
    steps.set(playerId, [...known, { ...step, games: known.length + 1 }]);
  };
  const of = (playerId: string): number => steps.get(playerId)?.at(-1)?.after ?? 1500;
  for (const { winner, loser, isDraw, playedAtMs } of games) {
    const [a, b] = [of(winner), of(loser)];
    const expected = 1 / (1 + 10 ** ((b - a) / 400));
    const delta = 32 * ((isDraw ? 0.5 : 1) - expected);
    add(winner, { before: a, after: a + delta, isWin: !isDraw, playedAtMs });
    add(loser, { before: b, after: b - delta, isWin: false, playedAtMs });
  }
  return steps;
}

/** The entry that a player's games in a window make; undefined: none. */
function entryOf(value: FedValue, steps: readonly Step[]): Omit<FedRow, 'window' | 'playerId'> | undefined {
  const counting = steps.filter(({ games }) => games >= PROVISIONAL_GAMES);
  const best = counting.reduce<Step | undefined>((a, b) => (a && a.after >= b.after ? a : b), undefined);
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const wins = steps.filter(({ isWin }) => isWin).length;
  const scores: Record<FedValue, number | undefined> = {
    rating: last.after,
    conservative: last.after,
    peak: best?.after,
    gain: last.after - first.before,
    games: steps.length,
    wins,
  };
  const score = scores[value];
  if (score === undefined) return undefined;
  const latest = Math.max(...steps.map(({ playedAtMs }) => playedAtMs));
  return {
    score,
    columns: [steps.length, wins, wins / steps.length, best?.after ?? last.after],
    achievedAtMs: value === 'peak' ? best!.playedAtMs : latest,
  };
}

function rowsOf(value: FedValue, games: readonly PlayedGame[], players: (id: string) => boolean): FedRow[] {
  const rows: FedRow[] = [];
  for (const [playerId, steps] of stepsOf(games)) {
    if (!players(playerId) || steps.length < GAMES_MIN) continue;
    const byWindow = new Map<string, Step[]>();
    for (const step of steps) {
      for (const spec of WINDOWS) {
        const { id } = windowAt(spec, 'UTC', step.playedAtMs)!;
        byWindow.set(id, [...(byWindow.get(id) ?? []), step]);
      }
    }
    for (const [window, ofWindow] of byWindow) {
      const entry = entryOf(value, ofWindow);
      if (entry) rows.push({ window, playerId, ...entry });
    }
  }
  return rows.sort(byPlace);
}

const byPlace = (a: FedRow, b: FedRow): number => (`${a.window} ${a.playerId}` < `${b.window} ${b.playerId}` ? -1 : 1);

const rounded = (rows: readonly FedRow[]): FedRow[] =>
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
    const rules = { provisional: { games: PROVISIONAL_GAMES }, rankable: { gamesMin: GAMES_MIN } };
    // Two are named when there are games already.
    const pool: Pool = await node.makePool(`s${seed}`, { ...rules, boards: named.slice(2) });
    await other.boards.refresh();
    const games: PlayedGame[] = [];
    const delivered: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const nowMs = Date.now();
      // Two around the last midnight are in every batch: they belong to two days.
      const midnightMs = Math.floor(nowMs / (24 * HOUR_MS)) * 24 * HOUR_MS;
      for (let n = 0; n < 1 + below(6); n += 1) {
        const winner = `p${below(6)}`;
        const loser = `p${(Number(winner[1]) + 1 + below(5)) % 6}`;
        const playedAtMs = n < 2 ? midnightMs - n : nowMs - below(70 * HOUR_MS);
        games.push({ winner, loser, isDraw: below(4) === 0, playedAtMs });
        const { isDraw } = games.at(-1)!;
        const places = { [winner]: 1, [loser]: isDraw ? 1 : 2 };
        await node.games.record(gameOf(pool.id, `g${games.length}`, places, { playedAtMs }));
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
      const expected = rowsOf(value, games, () => true);
      expect(rounded(await node.entriesOf(boardOf(value))), value).toEqual(rounded(expected));
    }
  });
});
