import type { BoardDefinition, EntryState } from '@laddercast/domain';
import { actorOf, assertModerate } from '@laddercast/identity';
import {
  BoardCatalog,
  EditionCatalog,
  RunActs,
  type RefoldedWindow,
  type RunAct,
  type RunActed,
} from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { boardNow, refuseFed } from '../boards/stale-board.js';
import { ActOnRunCommand, type RunActKind, type RunActResult, type ShownEntry } from './run-commands.js';

@CommandHandler(ActOnRunCommand)
export class ActOnRunHandler implements ICommandHandler<ActOnRunCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly acts: RunActs,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ identity, boardId, submissionId, playerId, act }: ActOnRunCommand): Promise<RunActResult> {
    assertModerate(identity);
    const board = await boardNow(this.boards, boardId);
    refuseFed(board);
    const asked = { boardId, submissionId, actor: actorOf(identity), reason: act.reason };
    const acted = await this.actOn(act.kind, playerId === null ? asked : { ...asked, playerId });
    // Who reads a window after this answer sees what it says.
    for (const window of acted.windows.filter(isRevising)) this.editions.forget(window.windowUid);
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

const isRevising = ({ isTouched, state, isFrozen }: RefoldedWindow): boolean =>
  isTouched && (state !== 'open' || isFrozen);

const shownWindow = (definition: BoardDefinition, window: RefoldedWindow): RunActResult['windows'][number] => ({
  window: window.windowId,
  before: window.before && shownEntry(definition, window.before),
  after: window.after && shownEntry(definition, window.after),
  revising: isRevising(window),
});

const shownEntry = ({ columns }: BoardDefinition, entry: EntryState): ShownEntry => ({
  score: entry.score,
  columns: Object.fromEntries(columns.map(({ name }, at) => [name, entry.columns[at]!])),
  achievedAt: toTimestamp(entry.achievedAtMs),
});
