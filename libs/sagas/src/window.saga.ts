import type { StandingsRevised, WindowClosed } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { AnnounceCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Tells every process that a window's final standings are written, and that another edition of its standings is. */
@Controller()
@UseFilters(SagaFailureFilter)
export class WindowSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'window', topics: ['window-closed', 'standings-revised'] })
  async tell({ records }: LogBatch): Promise<void> {
    for (const { event } of records) {
      const { type: kind, boardUid, windowUid } = event as WindowClosed | StandingsRevised;
      await this.commands.execute(new AnnounceCommand({ kind, boardUid, windowUid }));
    }
  }
}
