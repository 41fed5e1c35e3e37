import { ExamineRunsCommand, INTEGRITY_GROUP } from '@laddercast/commands';
import type { RunRecorded } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Has runs examined after they were accepted. Nothing waits for it: it raises flags, and changes no run. */
@Controller()
@UseFilters(SagaFailureFilter)
export class IntegritySaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: INTEGRITY_GROUP, topics: ['run-recorded'] })
  async examine({ lane, records }: LogBatch): Promise<void> {
    const runs = records.map(({ event, position }) => ({ run: event as RunRecorded, logPosition: position }));
    await this.commands.execute(new ExamineRunsCommand(lane, runs));
  }
}
