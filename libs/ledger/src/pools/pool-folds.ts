import { foldGames, momentOf, rankabilityOf, type PlayerRating } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { POOL_EVENT_FOLDS, type PoolEvent, type PoolEventFold } from './pool-events.js';
import type { RatedTurn, WorkOfTurn } from './rating-rows.js';
import { RatingAlgorithms } from './rating-algorithms.js';

/** What this process knows of how ratings move: by games, and by what else happens to pools. */
@Injectable()
export class PoolFolds {
  constructor(
    private readonly algorithms: RatingAlgorithms,
    @Inject(POOL_EVENT_FOLDS) private readonly ofEvents: readonly PoolEventFold[],
  ) {}

  /** @throws ALGORITHM_MISSING */
  games({ definition, ratings, games, nowMs }: WorkOfTurn): RatedTurn {
    const pool = this.algorithms.poolOf(definition);
    const folded = foldGames(pool, ratings, games);
    const now = momentOf(pool, nowMs);
    const isRankable = (player: PlayerRating): boolean => rankabilityOf(pool, player, now).isRankable;
    const everywhere = [...folded.players].filter(([playerId, after]) => {
      const before = ratings.get(playerId);
      return pool.rankable !== null && before !== undefined && isRankable(before) !== isRankable(after);
    });
    return { ...folded, everywhere: new Set(everywhere.map(([playerId]) => playerId)) };
  }

  /** Whether the event is folded as games are rated; not where this release does not know it. */
  isQuick({ type }: PoolEvent): boolean {
    return this.ofEvents.some((one) => one.type === type && one.isQuick === true);
  }

  /** @throws Error where the event is of a newer release: to pass it over would make every later rating wrong */
  ofEvent({ type, position }: PoolEvent): PoolEventFold {
    const fold = this.ofEvents.find((one) => one.type === type);
    if (!fold) throw new Error(`pool event ${position} is of the type "${type}", which this release does not know`);
    return fold;
  }
}
