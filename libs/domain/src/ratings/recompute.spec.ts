import {
  Dice,
  foldWithRefunds,
  MemoryRatedHistory,
  playersByPlace,
  poolGame,
  randomGames,
  ratingPool,
  seedOfRun,
  type GivenPoints,
} from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldGames } from './fold.js';
import type { PoolGame } from './game.js';
import { PositionHeap } from './position-heap.js';
import { newcomer } from './player-rating.js';
import type { RatingPool } from './pool.js';
import { isSameState, type RatingAlgorithm } from './rating-algorithm.js';
import { recompute, type Corrections } from './recompute.js';

const DAY_MS = 86_400_000;
const elo = ratingPool('elo');
const printed = (rating: number): number => Math.round(rating * 1e6) / 1e6;

const three = [poolGame(1, { ada: 1, bob: 2 }), poolGame(2, { bob: 1, cy: 2 }), poolGame(3, { ada: 1, bob: 1 })];

/** What a fold of all games with the corrections makes of them, from the first on. */
const replay = (
  pool: RatingPool,
  games: readonly PoolGame[],
  corrections: Corrections,
  given: readonly GivenPoints[] = [],
): ReturnType<typeof foldWithRefunds> => {
  const corrected = games.flatMap((game) => {
    const correction = corrections.get(game.position);
    return correction === undefined ? [game] : correction === null ? [] : [correction];
  });
  return foldWithRefunds(pool, corrected, given);
};

describe('a void game', () => {
  it('leaves the ratings that would be had it never been', async () => {
    const history = new MemoryRatedHistory(elo, three);
    const { players, games, gamesReached, touched } = await recompute(elo, history, new Map([[1, null]]), 100);
    const after = Object.fromEntries([...players].map(([id, one]) => [id, printed(one.after.rating)]));
    expect(after).toEqual({ ada: 1500.736307, bob: 1515.263693, cy: 1484 });
    const before = Object.fromEntries([...players].map(([id, one]) => [id, printed(one.before.rating)]));
    expect(before).toEqual({ ada: 1515.297533, bob: 1501.438774, cy: 1483.263693 });
    expect(games.map(({ before: { game }, after: rated }) => [game.position, rated === null])).toEqual([
      [1, true],
      [2, false],
      [3, false],
    ]);
    expect(gamesReached).toBe(3);
    expect([...touched].sort()).toEqual(['ada', 'bob', 'cy']);
  });

  it('cannot be undone by its own points alone: who met its players later is wrong, too', () => {
    const folded = foldGames(elo, new Map(), three);
    const undone = Object.fromEntries([...folded.players].map(([id, { state }]) => [id, state.rating]));
    for (const { playerId, before, after } of folded.games[0]!.changes)
      undone[playerId]! -= after.rating - before.rating;
    expect(Object.fromEntries(Object.entries(undone).map(([id, rating]) => [id, printed(rating)]))).toEqual({
      ada: 1499.297533,
      bob: 1517.438774,
      cy: 1483.263693,
    });
  });

  it('reaches no game of players who come out as they were', async () => {
    // A draw of equals moves nobody: the void of it is over at once.
    const games = [poolGame(1, { ada: 1, bob: 1 }), ...three.map((game) => ({ ...game, position: game.position + 1 }))];
    const history = new MemoryRatedHistory(elo, games);
    const { players, gamesReached, touched } = await recompute(elo, history, new Map([[1, null]]), 1);
    expect(players.size).toBe(0);
    expect(gamesReached).toBe(1);
    expect([...touched].sort()).toEqual(['ada', 'bob']);
  });

  it('is refused where too many games are reached, and changes nothing', async () => {
    const history = new MemoryRatedHistory(elo, three);
    const known = [...history.games];
    await expect(recompute(elo, history, new Map([[1, null]]), 2)).rejects.toMatchObject({
      code: 'RECOMPUTE_TOO_LARGE',
      extensions: { gamesMax: 2 },
    });
    expect(history.games).toEqual(known);
    await recompute(elo, history, new Map([[1, null]]), 3);
  });

  it('is refused where the games that come out differently have too many players to hold', async () => {
    const pool = ratingPool('weng-lin');
    const place = (player: number, at: number): [string, number] => [`p${player}`, ((player * (at + 3)) % 40) + 1];
    const games = Array.from({ length: 10 }, (_, at) =>
      poolGame(at + 1, Object.fromEntries(Array.from({ length: 40 }, (_, player) => place(player, at)))),
    );
    const history = new MemoryRatedHistory(pool, games);
    await expect(recompute(pool, history, new Map([[1, null]]), 20)).rejects.toMatchObject({
      code: 'RECOMPUTE_TOO_LARGE',
      extensions: { gamesMax: 20 },
    });
    await recompute(pool, history, new Map([[1, null]]), 40);
    // One game is always held, however large it is.
    await recompute(pool, history, new Map([[10, null]]), 1);
  });

  it('is forgotten by K rules as soon as they stop to count games', async () => {
    const pool = ratingPool('elo', { k: [{ gamesBelow: 2, k: 40 }, { k: 10 }], floor: 1500 });
    const games = Array.from({ length: 10 }, (_, at) => poolGame(at + 1, { ada: 1, bob: 1 }));
    const history = new MemoryRatedHistory(pool, games);
    const { gamesReached } = await recompute(pool, history, new Map([[1, null]]), 100);
    expect(gamesReached).toBe(3);
  });
});

describe('a corrected result', () => {
  it('counts in its old place, also with other players', async () => {
    const correction = { ...three[0]!, players: playersByPlace({ cy: 1, di: 2 }) };
    const corrections = new Map([[1, correction]]);
    const history = new MemoryRatedHistory(elo, three);
    const { players } = await recompute(elo, history, corrections, 100);
    const { games: expected } = replay(elo, three, corrections);
    for (const [id, { after }] of players) {
      const last = expected.findLast(({ changes }) => changes.some(({ playerId }) => playerId === id));
      const state = last?.changes.find(({ playerId }) => playerId === id)!.after;
      expect(state === undefined ? after.rating : state.rating).toBe(after.rating);
    }
    expect([...players.keys()].sort()).toEqual(['ada', 'bob', 'cy', 'di']);
  });

  it('lets a game count that was refused because of it', async () => {
    // An Elo that cannot say 1530 or more.
    const { algorithm } = elo;
    const rate: RatingAlgorithm['rate'] = (parameters, game) =>
      algorithm.rate!(parameters, game).map((one) =>
        one.after.rating < 1530 ? one : { ...one, after: { ...one.after, rating: Number.NaN } },
      );
    const short: RatingPool = { ...elo, algorithm: { ...algorithm, rate } };
    const games = [1, 2, 3, 4].map((position) => poolGame(position, { ada: 1, [`x-${position}`]: 2 }));
    const history = new MemoryRatedHistory(short, games);
    expect(history.games.map(({ unrated }) => unrated)).toEqual([null, 'NUMERIC', 'NUMERIC', 'NUMERIC']);
    const corrections = new Map([[1, null]]);
    history.apply(await recompute(short, history, corrections, 100));
    expect(history.games.map(({ unrated }) => unrated)).toEqual([null, 'NUMERIC', 'NUMERIC']);
    expect(history.games).toEqual(replay(short, games, corrections).games);
  });
});

/** For some who played, one or more between later games. */
function randomPoints(
  dice: Dice,
  pool: RatingPool,
  games: readonly PoolGame[],
): (GivenPoints & { gamePosition: number })[] {
  return foldGames(pool, new Map(), games).games.flatMap(({ game, changes }) =>
    changes
      .filter(() => dice.isUnder(0.05))
      .map(({ playerId }, at) => ({
        ...{ playerId, gamePosition: game.position, points: dice.from(1, 40) },
        position: game.position + dice.from(0, 5) + (at + 1) / 10,
      })),
  );
}

describe('a refund', () => {
  it('is of the same points, whatever the game of it comes to later', async () => {
    // bob lost 16 points in game 1, and was given them before game 2.
    const given = [{ playerId: 'bob', position: 1.5, points: 16 }];
    const history = new MemoryRatedHistory(elo, [...three, poolGame(4, { di: 1, ada: 2 })], given);
    expect(history.states.get('bob')!.rating).toBe(1516);
    const { players, refunds } = await recompute(elo, history, new Map([[2, null]]), 100);
    expect(refunds).toEqual([]);
    expect(players.get('bob')).toBeDefined();
    const earlier = new MemoryRatedHistory(elo, [poolGame(0, { bob: 1, cy: 2 }), ...three], given);
    const moved = await recompute(elo, earlier, new Map([[0, null]]), 100);
    expect(moved.refunds.map(({ before, after }) => [printed(before.rating), printed(after.rating)])).toEqual([
      [1484, 1500],
    ]);
  });
});

describe('random corrections of random games', () => {
  const seed = seedOfRun();

  it.each<[string, Record<string, unknown>]>([
    ['elo', {}],
    ['elo', { k: 'fide', initial: 2395, floor: 2380 }],
    ['elo', { k: [{ gamesBelow: 5, k: 60 }, { k: 10 }], homeAdvantage: 50 }],
    ['glicko2', { deviationMin: 80 }],
    ['weng-lin', {}],
    ['weng-lin', { model: 'bradley-terry-full', limitSigma: true }],
  ])(`come to the bits of a replay with them: %s %j, seed ${seed}`, async (algorithm, parameters) => {
    const dice = new Dice(seed);
    const pool = ratingPool(algorithm, parameters);
    for (let round = 0; round < 4; round++) {
      const games = randomGames(dice, pool, { games: 120, players: dice.from(8, 60), stepMs: 5 * DAY_MS });
      const given = randomPoints(dice, pool, games);
      const history = new MemoryRatedHistory(pool, games, given);
      const kept = new Set(given.map(({ gamePosition }) => gamePosition));
      const corrections = new Map<number, PoolGame | null>();
      // One after the other, and several at once: what is stored is then what earlier ones made of it.
      for (let step = 0; step < 4; step++) {
        const now = new Map<number, PoolGame | null>();
        for (let count = dice.from(1, 3); count > 0; count--) {
          const open = games.filter(({ position }) => corrections.get(position) !== null && !kept.has(position));
          const game = dice.oneOf(open);
          const [other] = randomGames(dice, pool, { games: 1, players: 12, stepMs: 0 });
          now.set(
            game.position,
            dice.isUnder(0.6) ? null : { ...game, players: other!.players, results: other!.results },
          );
        }
        const recomputed = await recompute(pool, history, now, 1000);
        const states = history.states;
        history.apply(recomputed);
        for (const [position, game] of now) corrections.set(position, game);
        const expected = replay(pool, games, corrections, given);
        expect(history.games).toStrictEqual(expected.games);
        expect(history.refunds).toStrictEqual(expected.refunds);
        for (const [id, state] of history.states) {
          // Who a corrected game names anew, and moves not at all, is rated as a newcomer is.
          const { after = states.get(id) ?? newcomer(pool).state } = recomputed.players.get(id) ?? {};
          expect(isSameState(after, state), id).toBe(true);
        }
      }
    }
  });
});

describe('the heap of positions', () => {
  it('gives the least first, each once, whatever goes in meanwhile', () => {
    const dice = new Dice(seedOfRun());
    const heap = new PositionHeap([5, 3, 5]);
    const plain = new Set([3, 5]);
    for (let step = 0; step < 2000; step++) {
      if (dice.isUnder(0.55)) {
        const position = dice.below(300);
        heap.add(position);
        plain.add(position);
        continue;
      }
      const least = plain.size === 0 ? null : Math.min(...plain);
      expect(heap.take()).toBe(least);
      if (least !== null) plain.delete(least);
    }
  });
});
