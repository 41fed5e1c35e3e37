import {
  foldGames,
  foldPeriod,
  isFiniteState,
  isSameState,
  newcomer,
  predictGame,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
  type RatingState,
} from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { Dice, seedOfRun } from '../oracle/dice.js';
import { poolGame } from '../oracle/pool-games.js';
import { randomGames, shuffled } from '../oracle/random-games.js';

export interface RatingAlgorithmConformanceOptions {
  /** Pools of the algorithm: by each way of rating that it has, and by parameters that make a difference. */
  pools: Readonly<Record<string, RatingPool>>;
  /** How many random games each test plays; 150 by default. */
  games?: number;
}

type States = Map<string, RatingState>;

const DAY_MS = 86_400_000;

/** How far apart two numbers may be that sums of another order made, for numbers of this size. */
const TOLERANCE = 1e-9;

/**
 * Declares the tests that every `RatingAlgorithm` must pass. The games are random; a failure names the seed, which
 * `SEED=…` repeats.
 */
export function ratingAlgorithmConformance({ pools, games: count = 150 }: RatingAlgorithmConformanceOptions): void {
  const seed = seedOfRun();

  describe.each(Object.entries(pools))(`the algorithm of %s, seed ${seed}`, (_name, pool) => {
    const games = randomGames(new Dice(seed), pool, { games: count, players: 12, stepMs: 3 * DAY_MS });
    const states = statesAfter(pool, games);

    it('makes numbers that a table can hold, of every game', () => {
      expect(states.size).toBeGreaterThan(1);
      for (const state of [newcomer(pool).state, ...states.values()]) {
        expect(isFiniteState(state)).toBe(true);
        expect(state.deviation !== null).toBe(pool.algorithm.hasDeviation);
      }
      for (const { expected } of changesOf(pool, games)) {
        expect(expected).toBeGreaterThanOrEqual(0);
        expect(expected).toBeLessThanOrEqual(1);
      }
    });

    it('makes the same bits of the same games once more, with states that were JSON in between', () => {
      expectSameStates(statesAfter(pool, games), states);
      expectSameStates(
        statesAfter(pool, games, (state) => JSON.parse(JSON.stringify(state)) as RatingState),
        states,
      );
    });

    it('makes the same bits in whatever order the players of a game are named, equal places included', () => {
      const dice = new Dice(seed + 1);
      const renamed = games.map((game) => ({ ...game, players: shuffled(dice, game.players) }));
      expectSameStates(statesAfter(pool, renamed), states);
    });

    it('makes the same bits of places with gaps', () => {
      const gaps = games.map((game) => ({
        ...game,
        players: game.players.map((one) => ({ ...one, place: one.place === null ? null : 10 * one.place })),
      }));
      expectSameStates(statesAfter(pool, gaps), states);
    });

    it('makes the same bits of games of other players, whichever comes first', () => {
      const [first, second] = apart(pool, seed);
      const inTurns = first.flatMap((game, at) => [game, second[at]!]);
      const oneAfterTheOther = [...second, ...first];
      expectSameStates(statesAfter(pool, renumbered(inTurns)), statesAfter(pool, renumbered(oneAfterTheOther)));
    });

    it('treats equals with equal places alike, in every place', () => {
      const sides = Math.min(pool.sides.max, pool.algorithm.limits(pool.parameters).sides ?? 12, 12);
      for (let tied = 2; tied <= sides; tied++) {
        for (let from = 1; from + tied - 1 <= sides; from++) {
          const placeOf = (at: number): number => (at >= from && at < from + tied ? from : at);
          const ids = Array.from({ length: sides }, (_, at) => `p-${String(at + 1).padStart(2, '0')}`);
          const places = Object.fromEntries(ids.map((id, at) => [id, placeOf(at + 1)]));
          const after = statesAfter(pool, [poolGame(1, places)]);
          const equals = ids.filter((id) => places[id] === from).map((id) => after.get(id)!);
          for (const state of equals) expectNear(state, equals[0]!);
          if (tied === sides)
            for (const state of equals) expect(isNear(state.rating, newcomer(pool).state.rating)).toBe(true);
        }
      }
    });

    it('changes nothing that it is given', () => {
      const frozen = (playerId: string): PlayerRating => {
        const player = newcomer(pool);
        const state = states.get(playerId) ?? player.state;
        Object.freeze(state.memory);
        return Object.freeze({ ...player, state: Object.freeze(state) });
      };
      const players = new Map(
        games.flatMap((game) => game.players).map(({ playerId }) => [playerId, frozen(playerId)]),
      );
      const late = games.slice(0, 20).map((game) => ({ ...game, playedAtMs: game.playedAtMs + 10_000 * DAY_MS }));
      if (pool.update === 'per-game') foldGames(pool, players, late);
      else foldPeriod(pool, players, late, { period: 1000, position: 1 });
    });

    it('expects of one side what it does not expect of the other', () => {
      const dice = new Dice(seed + 2);
      const [first, ...others] = [...states.values()];
      for (const other of others) {
        const now = { atMs: dice.below(10_000) * DAY_MS, period: dice.from(1, 1000) };
        const there = predictGame(pool, [[first!], [other]], now);
        const back = predictGame(pool, [[other], [first!]], now);
        expect(there.win[0]).toBeCloseTo(back.win[1]!, 9);
        expect(there.win[0]! + there.win[1]!).toBeCloseTo(1, 9);
        expect(there.quality).toBeGreaterThanOrEqual(0);
        expect(there.quality).toBeLessThanOrEqual(1 + TOLERANCE);
      }
      const even = predictGame(pool, [[first!], [first!]], { atMs: 0, period: null });
      expect(even.quality).toBeCloseTo(1, 9);
    });
  });
}

/** Periods hold this many games in a row. */
const GAMES_OF_PERIOD = 25;

/** The states after all games: one by one, or in periods of a fixed number of games. */
function statesAfter(
  pool: RatingPool,
  games: readonly PoolGame[],
  carried: (state: RatingState) => RatingState = (state) => state,
): States {
  let players = new Map<string, PlayerRating>();
  for (const [at, some] of inPeriods(games).entries()) {
    const period = { period: at + 1, position: some.at(-1)!.position };
    const folded =
      pool.update === 'per-game' ? foldGames(pool, players, some) : foldPeriod(pool, players, some, period);
    players = new Map([...players, ...folded.players].map(([id, one]) => [id, { ...one, state: carried(one.state) }]));
  }
  return new Map([...players].map(([id, { state }]) => [id, state]));
}

function changesOf(pool: RatingPool, games: readonly PoolGame[]): readonly { expected: number }[] {
  if (pool.update === 'per-game') return foldGames(pool, new Map(), games).games.flatMap(({ changes }) => changes);
  return foldPeriod(pool, new Map(), games, { period: 1, position: 1 }).changes.flatMap((change) => change.games);
}

const inPeriods = (games: readonly PoolGame[]): PoolGame[][] =>
  Array.from({ length: Math.ceil(games.length / GAMES_OF_PERIOD) }, (_, at) =>
    games.slice(at * GAMES_OF_PERIOD, (at + 1) * GAMES_OF_PERIOD),
  );

/** Games of two groups of players who never meet, few enough for one period. */
function apart(pool: RatingPool, seed: number): [PoolGame[], PoolGame[]] {
  const some = (shift: number): PoolGame[] =>
    randomGames(new Dice(seed + shift), pool, { games: 12, players: 7, stepMs: DAY_MS });
  const others = some(2).map((game) => ({
    ...game,
    players: game.players.map((one) => ({ ...one, playerId: `q-${one.playerId}` })),
  }));
  return [some(1), others];
}

const renumbered = (games: readonly PoolGame[]): PoolGame[] =>
  games.map((game, at) => ({ ...game, position: at + 1, gameId: `g-${at + 1}` }));

function expectSameStates(given: States, expected: States): void {
  expect([...given.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [id, state] of expected) {
    if (!isSameState(given.get(id)!, state)) expect(given.get(id), `bits of ${id}`).toEqual(state);
    expect(isSameState(given.get(id)!, state), `bits of ${id}`).toBe(true);
  }
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));

function expectNear(a: RatingState, b: RatingState): void {
  for (const name of ['rating', 'deviation', 'volatility'] as const) {
    if (a[name] === null || b[name] === null) expect(a[name]).toBe(b[name]);
    else expect(isNear(a[name], b[name]), `${name} of equals`).toBe(true);
  }
}
