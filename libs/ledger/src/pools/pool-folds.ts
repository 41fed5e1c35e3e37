import { foldGames, type FoldedGames } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { POOL_EVENT_FOLDS, type PoolEvent, type PoolEventFold } from './pool-events.js';
import type { WorkOfTurn } from './rating-rows.js';
import { RatingAlgorithms } from './rating-algorithms.js';

/** What this process knows of how ratings move: by games, and by what else happens to pools. */
@Injectable()
export class PoolFolds {
  constructor(
    private readonly algorithms: RatingAlgorithms,
    @Inject(POOL_EVENT_FOLDS) private readonly ofEvents: readonly PoolEventFold[],
  ) {}

  /** @throws ALGORITHM_MISSING */
  games({ definition, ratings, games }: WorkOfTurn): FoldedGames {
    return foldGames(this.algorithms.poolOf(definition), ratings, games);
  }

  /** @throws Error where the event is of a newer release: to pass it over would make every later rating wrong */
  ofEvent({ type, position }: PoolEvent): PoolEventFold {
    const fold = this.ofEvents.find((one) => one.type === type);
    if (!fold) throw new Error(`pool event ${position} is of the type "${type}", which this release does not know`);
    return fold;
  }
}
