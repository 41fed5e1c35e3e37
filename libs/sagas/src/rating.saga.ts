import { RatePoolsCommand } from '@laddercast/commands';
import type { GameRecorded } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
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
}
