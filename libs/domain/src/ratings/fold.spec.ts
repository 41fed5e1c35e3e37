import { poolGame, ratedPlayers, ratingPool, ratingsAfter } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import { foldGames, rateGame } from './fold.js';
import type { PoolGame } from './game.js';
import type { RatingPool } from './pool.js';
import { isSameState, type MemberRating, type RatingAlgorithm, type RatingState } from './rating-algorithm.js';

const pool = ratingPool('elo');

/** A pool whose algorithm answers as it is told, and is Elo for the rest. */
const poolThatAnswers = (rate: RatingAlgorithm['rate']): RatingPool => ({
  ...pool,
  algorithm: { ...pool.algorithm, rate },
});

const after = (changes: Partial<MemberRating['after']>): MemberRating['after'] => ({
  rating: 1500,
  deviation: null,
  volatility: null,
  memory: {},
  ...changes,
});

describe('a fold of games', () => {
  it('rates nobody where too few sides played', () => {
    const game = poolGame(1, { ada: 1, bob: 2 });
    const walkover: PoolGame = {
      ...game,
      players: game.players.map((one) => (one.playerId === 'bob' ? { ...one, status: 'absent', place: null } : one)),
    };
    const { players, games } = foldGames(pool, new Map(), [walkover]);
    expect(games).toEqual([{ game: walkover, engine: 'elo@1', unrated: 'TOO_FEW_SIDES', changes: [] }]);
    expect(players.size).toBe(0);
    const byItsRules = { ...walkover, results: { disqualified: 'last', absent: 'last' } as const };
    expect(ratingsAfter(pool, [byItsRules])).toEqual({ ada: 1516, bob: 1484 });
  });

  it.each<[string, Partial<MemberRating>]>([
    ['a rating that is no number', { after: after({ rating: Number.NaN }) }],
    ['an infinite rating', { after: after({ rating: -Infinity }) }],
    ['a deviation that is no number', { after: after({ deviation: Number.NaN }) }],
    ['no deviation left', { after: after({ deviation: 0 }) }],
    ['an infinite volatility', { after: after({ volatility: Infinity }) }],
    ['a memory that is no number', { after: after({ memory: { games: Number.NaN } }) }],
    ['an expectation that is no number', { expected: Number.NaN }],
    ['an infinite K', { k: Infinity }],
  ])('refuses a game that would make %s, and goes on', (_what, wrong) => {
    let games = 0;
    const odd = poolThatAnswers((parameters, game) => {
      const ratings = pool.algorithm.rate!(parameters, game);
      return games++ === 1 ? [ratings[0]!, { ...ratings[1]!, ...wrong }] : ratings;
    });
    const game = (position: number): PoolGame => poolGame(position, { ada: 1, bob: 2 });
    const folded = foldGames(odd, new Map(), [game(1), game(2), game(3)]);
    expect(folded.games.map(({ unrated, changes }) => [unrated, changes.length])).toEqual([
      [null, 2],
      ['NUMERIC', 0],
      [null, 2],
    ]);
    expect(folded.players).toEqual(
      new Map([...foldGames(pool, new Map(), [game(1), game(3)]).players].map(([id, player]) => [id, player])),
    );
  });

  it.each<[string, (ratings: readonly MemberRating[]) => readonly MemberRating[]]>([
    ['leaves out a player', (ratings) => ratings.slice(1)],
    ['names another player', ([first, second]) => [first!, { ...second!, playerId: 'mallory' }]],
    ['names a player twice', ([first, second]) => [first!, second!, second!]],
  ])('does not believe an algorithm that %s', (_what, spoiled) => {
    const odd = poolThatAnswers((parameters, game) => spoiled(pool.algorithm.rate!(parameters, game)));
    expect(() => foldGames(odd, new Map(), [poolGame(1, { ada: 1, bob: 2 })])).toThrow(/elo@1 answered/);
  });

  it('knows no zero below zero, which no JSON carries', () => {
    const odd = poolThatAnswers((parameters, game) =>
      pool.algorithm.rate!(parameters, game).map((rating) => ({
        ...rating,
        after: after({ rating: -0, memory: { a: -0 } }),
      })),
    );
    const [change] = rateGame(odd, poolGame(1, { ada: 1, bob: 2 }), () => after({})).changes;
    const kept = JSON.parse(JSON.stringify(change!.after)) as RatingState;
    expect(isSameState(change!.after, kept)).toBe(true);
  });

  it('reads and writes the players of its games, and nobody else', () => {
    const players = ratedPlayers(pool, { ada: 1600, bob: 1400, cy: 1700 });
    const folded = foldGames(pool, players, [poolGame(1, { ada: 1, bob: 2 })]);
    expect([...folded.players.keys()]).toEqual(['ada', 'bob']);
    expect(players.get('ada')!.state.rating).toBe(1600);
  });
});

describe('what is kept of a player', () => {
  const games = [
    poolGame(1, { ada: 1, bob: 2 }, { playedAtMs: 50 }),
    poolGame(2, { ada: 2, bob: 1 }, { playedAtMs: 20 }),
    poolGame(3, { ada: 1, bob: 1 }, { playedAtMs: 40 }),
    poolGame(4, { ada: 1, bob: 1, cy: 3 }, { playedAtMs: 30 }),
  ];
  const { players } = foldGames(pool, new Map(), games);

  it('counts wins, draws of two sides, and losses; a shared first place of three is a win', () => {
    const counts = [...players].map(([id, { games: all, wins, draws, losses }]) => [id, all, wins, draws, losses]);
    expect(counts).toEqual([
      ['ada', 4, 2, 1, 1],
      ['bob', 4, 2, 1, 1],
      ['cy', 1, 0, 0, 1],
    ]);
  });

  it('has the best rating after a game, with the game and when it was played', () => {
    expect(players.get('ada')!.peak).toEqual({ rating: 1516, atMs: 50, gameId: 'g-1' });
    expect(players.get('cy')!.peak!.rating).toBeLessThan(1500);
  });

  it('has the first of two equal peaks', () => {
    const draws = [poolGame(1, { ada: 1, bob: 1 }), poolGame(2, { ada: 1, bob: 1 })];
    expect(foldGames(pool, new Map(), draws).players.get('ada')!.peak!.gameId).toBe('g-1');
  });

  it('has the latest time of play, not that of the last game, and the position of the last game', () => {
    expect(players.get('ada')).toMatchObject({ lastPlayedAtMs: 50, position: 4 });
    expect(players.get('cy')).toMatchObject({ lastPlayedAtMs: 30, position: 4 });
  });

  it('is the same whether the games came in one fold or in several', () => {
    const first = foldGames(pool, new Map(), games.slice(0, 2));
    const rest = foldGames(pool, first.players, games.slice(2));
    expect(new Map([...first.players, ...rest.players])).toEqual(players);
  });
});
