import { LadderError } from '@laddercast/domain';
import { BoardCatalog, Ledger } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { OverrideEntryCommand, type OverrideResult } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { v7 as uuidv7 } from 'uuid';
import { columnValues } from './score-submitter.js';
import { boardNow, refuseFed, whileBoardChanges } from '../boards/stale-board.js';

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
    const submissionId = uuidv7();
    const receipt = await whileBoardChanges(this.boards, async () => {
      const board = await boardNow(this.boards, boardId);
      refuseFed(board);
      if (entry && board.definition.decay) throw noOverrides(boardId);
      const state = entry && { score: entry.score, columns: columnValues(board, entry.columns) };
      const run = { submissionId, reason: reason ?? '' };
      return this.ledger.write({ kind: 'override', board, playerId, entry: state, run, audit });
    });
    if (receipt.windows.length === 0 && !receipt.settledBefore) {
      throw entry === null
        ? new LadderError('ENTRY_NOT_FOUND', `"${playerId}" has no entry in a running window of board "${boardId}".`)
        : new LadderError('WINDOW_CLOSED', `No window of board "${boardId}" takes entries now: nothing was set.`);
    }
    const { windows, version } = receipt;
    return { board: boardId, playerId, windows, version, submissionId: receipt.isKept ? submissionId : null };
  }
}

/** Which patch would the score be of? A run says that. */
const noOverrides = (boardId: string): LadderError =>
  new LadderError(
    'NOT_SUPPORTED',
    `Entries of board "${boardId}", which has decay, cannot be set: remove the entry, or submit a run with its patch.`,
    { option: 'decay' },
  );
