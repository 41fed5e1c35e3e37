import { BoardCatalog, BoardRegistry, WindowCatalog } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DropBoardCommand } from './commands.js';
import { RankProjection } from './rank-projection.js';

/** By then every process has seen that the board is gone, and its batches under way have ended. */
const LAST_WRITERS_WAIT_MS = 1000;

@CommandHandler(DropBoardCommand)
export class DropBoardHandler implements ICommandHandler<DropBoardCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly registry: BoardRegistry,
    private readonly windows: WindowCatalog,
    private readonly projection: RankProjection,
  ) {}

  async execute({ boardUid }: DropBoardCommand): Promise<void> {
    const definition = await this.registry.definitionOfGone(boardUid);
    if (!definition) return;
    await this.boards.refresh();
    await sleep(LAST_WRITERS_WAIT_MS);
    for (const window of await this.windows.ofBoard(boardUid)) {
      const shards = definition.sharding.count;
      await this.projection.drop({ boardUid, windowUid: window.uid, ordering: definition, shards });
    }
    await this.registry.purgeRows(boardUid);
  }
}
