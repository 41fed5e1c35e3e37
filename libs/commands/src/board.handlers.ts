import { LadderError, type Board } from '@laddercast/domain';
import { AuditLog, BoardCatalog, BoardRegistry, Ledger, StaleBoardError } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeleteBoardCommand, OverrideEntryCommand, PutBoardCommand, ResetBoardCommand } from './commands.js';
import { assertAdmin } from './identity.js';
import { columnValues } from './score-submitter.js';

@CommandHandler(PutBoardCommand)
export class PutBoardHandler implements ICommandHandler<PutBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
    private readonly audit: AuditLog,
  ) {}

  async execute({
    identity,
    boardId,
    definition,
    ifMatch,
  }: PutBoardCommand): Promise<{ board: Board; created: boolean }> {
    assertAdmin(identity);
    const result = await this.registry.put(boardId, definition, ifMatch);
    await this.boards.refresh();
    await this.audit.record(identity, result.created ? 'board.create' : 'board.replace', boardId, { definition });
    return result;
  }
}

@CommandHandler(DeleteBoardCommand)
export class DeleteBoardHandler implements ICommandHandler<DeleteBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
    private readonly audit: AuditLog,
  ) {}

  async execute({ identity, boardId }: DeleteBoardCommand): Promise<void> {
    assertAdmin(identity);
    await this.registry.delete(boardId);
    await this.boards.refresh();
    await this.audit.record(identity, 'board.delete', boardId, {});
  }
}

@CommandHandler(ResetBoardCommand)
export class ResetBoardHandler implements ICommandHandler<ResetBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
    private readonly audit: AuditLog,
  ) {}

  async execute({ identity, boardId }: ResetBoardCommand): Promise<Board> {
    assertAdmin(identity);
    const board = await this.registry.reset(boardId);
    await this.boards.refresh();
    await this.audit.record(identity, 'board.reset', boardId, {});
    return board;
  }
}

@CommandHandler(OverrideEntryCommand)
export class OverrideEntryHandler implements ICommandHandler<OverrideEntryCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly ledger: Ledger,
    private readonly audit: AuditLog,
  ) {}

  async execute(
    command: OverrideEntryCommand,
  ): Promise<{ board: string; playerId: string; windows: string[]; version: number }> {
    const { identity, boardId, playerId, entry, reason } = command;
    assertAdmin(identity);
    const receipt = await this.write(command).catch(async (error: unknown) => {
      if (!(error instanceof StaleBoardError)) throw error;
      await this.boards.refresh();
      return this.write(command);
    });
    if (entry === null && receipt.windows.length === 0) {
      throw new LadderError('ENTRY_NOT_FOUND', `"${playerId}" has no entry in a running window of board "${boardId}".`);
    }
    await this.audit.record(identity, entry ? 'entry.set' : 'entry.remove', `${boardId}/${playerId}`, {
      entry,
      reason,
    });
    return { board: boardId, playerId, windows: receipt.windows, version: receipt.version };
  }

  private async write({ boardId, playerId, entry }: OverrideEntryCommand) {
    const board = this.boards.byId(boardId);
    if (!board) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);
    const state = entry && { score: entry.score, columns: columnValues(board, entry.columns) };
    return this.ledger.write({ kind: 'override', board, playerId, entry: state });
  }
}
