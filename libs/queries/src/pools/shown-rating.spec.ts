import { newcomer, RATING_ALGORITHMS, ratingPoolOf, type PlayerRating, type RatingPool } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { shownRating } from './shown-rating.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-20T18:00:00.000Z');
const ABOUT = { pool: 'blitz', playerId: 'ada', pending: 3 };

const pool = (changes: object = {}): RatingPool => ratingPoolOf({ algorithm: 'elo', ...changes }, RATING_ALGORITHMS);
const played = (ofPool: RatingPool, games: number, daysAgo: number, state = {}): PlayerRating => {
  const first = newcomer(ofPool);
  return {
    ...first,
    ...{ games, wins: games, position: 7, lastPlayedAtMs: NOW - daysAgo * DAY_MS },
    state: { ...first.state, ...state },
    peak: { rating: 1600, atMs: NOW - DAY_MS, gameId: 'g' },
  };
};

describe('the rating that clients see', () => {
  it('says what is known, and null where the algorithm knows nothing', () => {
    const elo = pool();
    expect(shownRating(elo, ABOUT, played(elo, 4, 2, { rating: 1550 }), NOW)).toEqual({
      ...{ pool: 'blitz', playerId: 'ada', pending: 3, rating: 1550, conservative: 1550 },
      ...{ deviation: null, storedDeviation: null, volatility: null, interval95: null },
      ...{ games: 4, wins: 4, draws: 0, losses: 0, provisional: false, position: 7 },
      peak: { rating: 1600, at: '2026-11-19T18:00:00.000Z', gameId: 'g' },
      lastPlayedAt: '2026-11-18T18:00:00.000Z',
      ...{ rankable: true, missing: [], rankableUntil: null, asOf: '2026-11-20T18:00:00.000Z' },
    });
  });

  it('says whether the rules of the pool hold, which fail, and when the next one will', () => {
    const rules = pool({ provisional: { games: 5 }, rankable: { gamesMin: 5, inactiveDaysMax: 30 } });
    const of = (games: number, daysAgo: number) => shownRating(rules, ABOUT, played(rules, games, daysAgo), NOW);
    expect(of(4, 31)).toMatchObject({
      ...{ provisional: true, rankable: false, missing: ['gamesMin', 'inactiveDaysMax'], rankableUntil: null },
    });
    expect(of(5, 10)).toMatchObject({
      ...{ provisional: false, rankable: true, missing: [], rankableUntil: '2026-12-10T18:00:00.000Z' },
    });
  });
});
