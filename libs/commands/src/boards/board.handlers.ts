import { LadderError, type Board } from '@laddercast/domain';
import { BoardCatalog, BoardRegistry, Ledger } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  DeleteBoardCommand,
  OverrideEntryCommand,
  PutBoardCommand,
  ResetBoardCommand,
  type OverrideResult,
} from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { columnValues } from '../scores/score-submitter.js';
import { boardNow, whileBoardChanges } from './stale-board.js';

@CommandHandler(PutBoardCommand)
export class PutBoardHandler implements ICommandHandler<PutBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({
    identity,
    boardId,
    definition,
    ifMatch,
    onlyCreate,
  }: PutBoardCommand): Promise<{ board: Board; created: boolean }> {
    assertAdmin(identity);
    const result = await this.registry.put(boardId, definition, { ifMatch, onlyCreate }, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return result;
  }
}

@CommandHandler(DeleteBoardCommand)
export class DeleteBoardHandler implements ICommandHandler<DeleteBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, boardId, ifMatch }: DeleteBoardCommand): Promise<void> {
    assertAdmin(identity);
    await this.registry.delete(boardId, ifMatch, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
  }
}

@CommandHandler(ResetBoardCommand)
export class ResetBoardHandler implements ICommandHandler<ResetBoardCommand> {
  constructor(
    private readonly registry: BoardRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, boardId }: ResetBoardCommand): Promise<Board> {
    assertAdmin(identity);
    const board = await this.registry.reset(boardId, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return board;
  }
}

@CommandHandler(OverrideEntryCommand)
export class OverrideEntryHandler implements ICommandHandler<OverrideEntryCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly ledger: Ledger,
  ) {}

  async execute({ identity, boardId, playerId, entry, reason }: OverrideEntryCommand): Promise<OverrideResult> {
    assertAdmin(identity);
    const action = entry ? 'entry.set' : 'entry.remove';
    const audit = { actor: actorOf(identity), action, subject: `${boardId}/${playerId}`, details: { entry, reason } };
    const receipt = await whileBoardChanges(this.boards, async () => {
      const board = await boardNow(this.boards, boardId);
      const state = entry && { score: entry.score, columns: columnValues(board, entry.columns) };
      return this.ledger.write({ kind: 'override', board, playerId, entry: state, audit });
    });
    if (entry === null && receipt.windows.length === 0 && !receipt.settledBefore) {
      throw new LadderError('ENTRY_NOT_FOUND', `"${playerId}" has no entry in a running window of board "${boardId}".`);
    }
    return { board: boardId, playerId, windows: receipt.windows, version: receipt.version };
  }
}
