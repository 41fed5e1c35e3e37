import { elo } from './algorithms/elo.js';
import { fide } from './algorithms/fide.js';
import { glicko2 } from './algorithms/glicko2.js';
import { wengLin } from './algorithms/openskill-weng-lin.js';
import type { RatingAlgorithm } from './rating-algorithm.js';

/** The algorithms that every installation has; a team's own come behind them. */
export const RATING_ALGORITHMS: readonly RatingAlgorithm[] = [elo, fide, glicko2, wengLin];
