import type { BoardChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { DropBoardCommand, KeepWindowsCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/**
 * Removes the ranks of boards that are gone, and keeps the ranks of windows whose end was moved. Every lane carries the
 * event, and the last one comes after its entries.
 */
@Controller()
@UseFilters(SagaFailureFilter)
export class BoardSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'board', topics: ['board-changed'] })
  async follow({ records }: LogBatch): Promise<void> {
    const live = new Set<number>();
    for (const { event } of records) {
      const { boardId, boardUid } = event as BoardChanged;
      if (boardId === null) await this.commands.execute(new DropBoardCommand(boardUid));
      else live.add(boardUid);
    }
    if (live.size > 0) await this.commands.execute(new KeepWindowsCommand([...live]));
  }
}
