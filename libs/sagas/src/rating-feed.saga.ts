import { FeedBoardsCommand } from '@laddercast/commands';
import type { RatingChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** What a batch says of a pool. */
interface FedPool {
  /** Whose entries may be behind: in the windows of these times, and in all others that take entries. */
  players: Map<string, { times: Set<number>; isEverywhere: boolean }>;
  /** Windows that wait for all up to here, by number. */
  windows: Set<number>;
  ratedPosition: number;
}

/** Has the boards written that rating pools feed. An event says whose entries may be behind; what they are is read anew. */
@Controller()
@UseFilters(SagaFailureFilter)
export class RatingFeedSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'rating-feed', topics: ['rating-changed'] })
  async feed({ records }: LogBatch): Promise<void> {
    const pools = new Map<number, FedPool>();
    for (const { event } of records) {
      const { poolUid, playerId, playedAtMs, isEverywhere, lastFeedOf, ratedPosition } = event as RatingChanged;
      const pool: FedPool = pools.get(poolUid) ?? { players: new Map(), windows: new Set(), ratedPosition };
      pools.set(poolUid, pool);
      const known = pool.players.get(playerId) ?? { times: new Set(), isEverywhere: false };
      pool.players.set(playerId, known);
      for (const atMs of playedAtMs ?? []) known.times.add(atMs);
      known.isEverywhere ||= playedAtMs === undefined || isEverywhere === true;
      for (const windowUid of lastFeedOf ?? []) pool.windows.add(windowUid);
      pool.ratedPosition = Math.max(pool.ratedPosition, ratedPosition);
    }
    for (const [poolUid, { players, windows, ratedPosition }] of pools) {
      const named = [...players].map(([playerId, { times, isEverywhere }]) => ({
        ...{ playerId, playedAtMs: [...times], isEverywhere },
      }));
      const lastFeed = windows.size > 0 ? { windowUids: [...windows], position: ratedPosition } : null;
      await this.commands.execute(new FeedBoardsCommand(poolUid, named, lastFeed));
    }
  }
}
