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

/** Pools by their algorithms; null among them: what is left of pools that are gone. */
export type PoolsOf = readonly (string | null)[];

/** Whether an algorithm, of a pool that may be gone, is one of the {@link PoolsOf} in `$1`; null there: all are. */
export const isOfPools = (algorithm: string): string =>
  `($1::text[] IS NULL OR array_position($1::text[], ${algorithm}) IS NOT NULL)`;

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
  /** Pools that every process can look after, and what is left of others. */
  readonly everywhere: PoolsOf = [...RATING_ALGORITHMS.map(({ name }) => name), null];

  constructor(private readonly extensions: Extensions) {}

  /** The names of those that other processes may lack. */
  get ofTeams(): readonly string[] {
    return this.extensions.ratingAlgorithms.map(({ name }) => name);
  }

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
