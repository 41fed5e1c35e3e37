import { FeedBoardsCommand } from '@laddercast/commands';
import type { RatingChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Whose entries may be behind, by player: in the windows of these times, or in all (null). */
type TimesOfPlayers = Map<string, Set<number> | null>;

/** Has the boards written that rating pools feed. An event says whose entries may be behind; what they are is read anew. */
@Controller()
@UseFilters(SagaFailureFilter)
export class RatingFeedSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'rating-feed', topics: ['rating-changed'] })
  async feed({ records }: LogBatch): Promise<void> {
    const pools = new Map<number, TimesOfPlayers>();
    for (const { event } of records) {
      const { poolUid, playerId, playedAtMs } = event as RatingChanged;
      const players = pools.get(poolUid) ?? new Map<string, Set<number> | null>();
      pools.set(poolUid, players);
      const known = players.get(playerId);
      if (playedAtMs === undefined || known === null) players.set(playerId, null);
      else players.set(playerId, new Set([...(known ?? []), ...playedAtMs]));
    }
    for (const [poolUid, players] of pools) {
      const named = [...players].map(([playerId, times]) => ({ playerId, playedAtMs: times && [...times] }));
      await this.commands.execute(new FeedBoardsCommand(poolUid, named));
    }
  }
}
