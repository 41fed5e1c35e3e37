import {
  LadderError,
  RATING_ALGORITHMS,
  ratingPoolOf,
  type RatingAlgorithm,
  type RatingPool,
} from '@laddercast/domain';
import { Extensions } from '@laddercast/extension';
import { Injectable } from '@nestjs/common';
import type { PoolDefinition } from './pool.js';

/** Thrown for a pool whose algorithm only other processes have: its games wait, and nothing is said that depends on it. */
export class AlgorithmMissing extends LadderError {
  constructor(readonly algorithm: string) {
    super(
      'ALGORITHM_MISSING',
      `This process does not have the algorithm "${algorithm}" of the pool: start it with the module that brings it.`,
    );
  }
}

/** The algorithms that pools of this process are rated by: ours, and behind them those of the teams' modules. */
@Injectable()
export class RatingAlgorithms {
  constructor(private readonly extensions: Extensions) {}

  get all(): readonly RatingAlgorithm[] {
    return [...RATING_ALGORITHMS, ...this.extensions.ratingAlgorithms];
  }

  /** What the pool's games are rated by. @throws ALGORITHM_MISSING */
  poolOf(definition: PoolDefinition): RatingPool {
    if (!this.has(definition)) throw new AlgorithmMissing(definition.algorithm);
    return ratingPoolOf(definition, this.all);
  }

  /** Whether this process has the pool's algorithm. */
  has({ algorithm }: PoolDefinition): boolean {
    return this.all.some(({ name }) => name === algorithm);
  }
}
