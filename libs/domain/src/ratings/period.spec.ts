import { poolGame, ratedPlayers, ratingPool } from '@laddercast/testing';
import { describe, expect, it } from 'vitest';
import type { PoolGame } from './game.js';
import { foldPeriod, ratePlayerOfPeriod } from './period.js';
import type { RatingPool } from './pool.js';
import type { RatingState } from './rating-algorithm.js';

const glicko2 = ratingPool('glicko2', {}, { update: 'per-period' });
const state = (rating: number, deviation: number): RatingState => ({ rating, deviation, volatility: 0.06, memory: {} });
const closed = { period: 3, position: 900 };

/** The event of Glickman's example, in which the others play each other, too. */
const players = ratedPlayers(glicko2, {
  ada: state(1500, 200),
  bob: state(1400, 30),
  cy: state(1550, 100),
  di: state(1700, 300),
});
const event = [
  poolGame(1, { ada: 1, bob: 2 }),
  poolGame(2, { ada: 2, cy: 1 }),
  poolGame(3, { cy: 1, di: 1 }),
  poolGame(4, { ada: 2, di: 1 }),
];

describe('a closed period', () => {
  const folded = foldPeriod(glicko2, players, event, closed);

  it('rates each player by its own games, from the ratings at the start', () => {
    expect(folded.players.get('ada')!.state.rating).toBeCloseTo(1464.050671, 6);
    const [ada] = folded.changes;
    expect(ada).toMatchObject({ playerId: 'ada', engine: 'glicko2@1', unrated: null, before: state(1500, 200) });
    expect(ada!.games.map(({ game, opponentId, outcome }) => `${game.gameId} ${opponentId} ${outcome}`)).toEqual([
      'g-1 bob win',
      'g-2 cy loss',
      'g-4 di loss',
    ]);
  });

  it('makes the same bits in whatever order games and players are taken', () => {
    const shuffled = [event[2]!, event[3]!, event[0]!, event[1]!];
    expect(foldPeriod(glicko2, players, shuffled, closed)).toEqual(folded);
    for (const { playerId, after } of folded.changes) {
      const alone = ratePlayerOfPeriod(glicko2, playerId, shuffled, closed.period, (id) => players.get(id)!.state);
      expect(alone!.after).toStrictEqual(after);
    }
  });

  it('counts its games one by one, and its rating once', () => {
    const ada = folded.players.get('ada')!;
    expect(ada).toMatchObject({ games: 3, wins: 1, draws: 0, losses: 2, lastPlayedAtMs: 4, position: 900 });
    expect(ada.peak).toEqual({ rating: ada.state.rating, atMs: 4, gameId: 'g-4' });
    const risen = { ...ada, peak: { rating: 2000, atMs: 0, gameId: 'g-0' } };
    expect(foldPeriod(glicko2, new Map([['ada', risen]]), event, closed).players.get('ada')!.peak).toEqual(risen.peak);
  });

  it('leaves out who played no game that counts', () => {
    const [first] = event as [PoolGame];
    const walkover: PoolGame = {
      ...first,
      players: first.players.map((one) => (one.playerId === 'bob' ? { ...one, status: 'absent', place: null } : one)),
    };
    expect(foldPeriod(glicko2, players, [walkover], closed)).toEqual({ players: new Map(), changes: [] });
  });

  it('leaves a player where it was whose numbers would not be finite, and rates the others', () => {
    const odd: RatingPool = {
      ...glicko2,
      algorithm: {
        ...glicko2.algorithm,
        ratePeriod: (parameters, player, games, period) => {
          const rated = glicko2.algorithm.ratePeriod!(parameters, player, games, period);
          return player.deviation === 30 ? { ...rated, after: { ...rated.after, rating: Number.NaN } } : rated;
        },
      },
    };
    const { players: after, changes } = foldPeriod(odd, players, event, closed);
    expect(changes.map(({ playerId, unrated }) => [playerId, unrated])).toEqual([
      ['ada', null],
      ['bob', 'NUMERIC'],
      ['cy', null],
      ['di', null],
    ]);
    expect([...after.keys()]).toEqual(['ada', 'cy', 'di']);
    expect(changes[1]!.after).toBe(players.get('bob')!.state);
  });

  it('is none of an algorithm that rates games one by one', () => {
    expect(() => foldPeriod(ratingPool('elo'), new Map(), event, closed)).toThrow('elo rates no periods');
  });
});
