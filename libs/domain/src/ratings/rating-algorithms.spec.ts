import { ratingAlgorithmConformance, ratingPool } from '@laddercast/testing';

ratingAlgorithmConformance({
  pools: {
    Elo: ratingPool('elo'),
    "Elo with FIDE's K, home, floor and a greatest difference": ratingPool('elo', {
      k: 'fide',
      homeAdvantage: 100,
      floor: 1000,
      differenceMax: 400,
    }),
    'Elo with rules of K': ratingPool('elo', {
      k: [{ gamesBelow: 5, k: 64 }, { ratingBelow: 1600, k: 32 }, { k: 16 }],
    }),
    FIDE: ratingPool('fide'),
    Glicko2: ratingPool('glicko2', { homeAdvantage: 40 }),
    'Glicko2 by periods': ratingPool('glicko2', { deviationMin: 45 }, { update: 'per-period' }),
    'Plackett and Luce': ratingPool('weng-lin'),
    'Bradley and Terry': ratingPool('weng-lin', { model: 'bradley-terry-full', limitSigma: true }),
    'Thurstone and Mosteller': ratingPool('weng-lin', { model: 'thurstone-mosteller-full' }),
  },
});
