import type { BoardChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { DropBoardCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Clears the ranks of boards that are gone. Every lane carries the event, and the last one comes after its entries. */
@Controller()
@UseFilters(SagaFailureFilter)
export class BoardSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'board', topics: ['board-changed'] })
  async clear({ records }: LogBatch): Promise<void> {
    for (const { event } of records) {
      const { boardId, boardUid } = event as BoardChanged;
      if (boardId === null) await this.commands.execute(new DropBoardCommand(boardUid));
    }
  }
}
