import type { BoardDefinition, EntryState } from '@laddercast/domain';
import { actorOf, assertModerate } from '@laddercast/identity';
import { BoardCatalog, RunActs, type RefoldedWindow, type RunAct, type RunActed } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { boardNow, refuseFed } from '../boards/stale-board.js';
import { ActOnRunCommand, type RunActKind, type RunActResult, type ShownEntry } from './run-commands.js';

@CommandHandler(ActOnRunCommand)
export class ActOnRunHandler implements ICommandHandler<ActOnRunCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly acts: RunActs,
  ) {}

  async execute({ identity, boardId, submissionId, playerId, act }: ActOnRunCommand): Promise<RunActResult> {
    assertModerate(identity);
    const board = await boardNow(this.boards, boardId);
    refuseFed(board);
    const asked = { boardId, submissionId, actor: actorOf(identity), reason: act.reason };
    const acted = await this.actOn(act.kind, playerId === null ? asked : { ...asked, playerId });
    return {
      submissionId,
      outcome: acted.changed ? OUTCOMES[act.kind] : 'unchanged',
      version: acted.version,
      windows: acted.windows.map((window) => shownWindow(board.definition, window)),
    };
  }

  private actOn(kind: RunActKind, act: RunAct): Promise<RunActed> {
    if (kind === 'void') return this.acts.void(act);
    return kind === 'restore' ? this.acts.restore(act) : this.acts.verify(act, kind === 'verify');
  }
}

const OUTCOMES = { void: 'voided', restore: 'restored', verify: 'verified', unverify: 'unverified' } as const;

const shownWindow = (
  definition: BoardDefinition,
  { windowId: window, state, isFrozen, before, after, isTouched }: RefoldedWindow,
): RunActResult['windows'][number] => ({
  window,
  before: before && shownEntry(definition, before),
  after: after && shownEntry(definition, after),
  revising: isTouched && (state !== 'open' || isFrozen),
});

const shownEntry = ({ columns }: BoardDefinition, entry: EntryState): ShownEntry => ({
  score: entry.score,
  columns: Object.fromEntries(columns.map(({ name }, at) => [name, entry.columns[at]!])),
  achievedAt: toTimestamp(entry.achievedAtMs),
});
