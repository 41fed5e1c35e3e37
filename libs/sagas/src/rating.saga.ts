import { RatePoolsCommand } from '@laddercast/commands';
import type { GameRecorded, RatingChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { AnnounceCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Has the pools rated whose games were recorded. An event is a bell and no more: what to rate is read from PostgreSQL. */
@Controller()
@UseFilters(SagaFailureFilter)
export class RatingSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'rating', topics: ['game-recorded'] })
  async rate({ records }: LogBatch): Promise<void> {
    const poolUids = new Set(records.map(({ event }) => (event as GameRecorded).poolUid));
    await this.commands.execute(new RatePoolsCommand([...poolUids]));
  }

  /** Tells every process whose ratings changed: what they are now is read by who watches them. */
  @ConsumesLog({ group: 'rating-news', topics: ['rating-changed'] })
  async tell({ records }: LogBatch): Promise<void> {
    const playersOf = new Map<number, Set<string>>();
    for (const { poolUid, playerId } of records.map(({ event }) => event as RatingChanged)) {
      playersOf.set(poolUid, (playersOf.get(poolUid) ?? new Set()).add(playerId));
    }
    for (const [poolUid, players] of playersOf) {
      await this.commands.execute(new AnnounceCommand({ kind: 'ratings', poolUid, ids: [...players] }));
    }
  }
}
