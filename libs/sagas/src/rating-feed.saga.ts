import { FeedBoardsCommand } from '@laddercast/commands';
import type { RatingChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Whose entries may be behind, by player: in the windows of these times, and in all others that take entries. */
type TimesOfPlayers = Map<string, { times: Set<number>; isEverywhere: boolean }>;

/** Has the boards written that rating pools feed. An event says whose entries may be behind; what they are is read anew. */
@Controller()
@UseFilters(SagaFailureFilter)
export class RatingFeedSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'rating-feed', topics: ['rating-changed'] })
  async feed({ records }: LogBatch): Promise<void> {
    const pools = new Map<number, TimesOfPlayers>();
    for (const { event } of records) {
      const { poolUid, playerId, playedAtMs, isEverywhere } = event as RatingChanged;
      const players: TimesOfPlayers = pools.get(poolUid) ?? new Map();
      pools.set(poolUid, players);
      const known = players.get(playerId) ?? { times: new Set(), isEverywhere: false };
      players.set(playerId, known);
      for (const atMs of playedAtMs ?? []) known.times.add(atMs);
      known.isEverywhere ||= playedAtMs === undefined || isEverywhere === true;
    }
    for (const [poolUid, players] of pools) {
      const named = [...players].map(([playerId, { times, isEverywhere }]) => ({
        ...{ playerId, playedAtMs: [...times], isEverywhere },
      }));
      await this.commands.execute(new FeedBoardsCommand(poolUid, named));
    }
  }
}
