import {
  LadderError,
  nameOfSpec,
  specOf,
  windowOfId,
  type Board,
  type StoredWindow,
  type WindowBounds,
} from '@laddercast/domain';
import { BoardCatalog, LedgerClock, WindowCatalog, WindowCloser } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CloseWindowCommand, type ClosedWindow } from '../commands.js';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { boardNow } from './stale-board.js';

@CommandHandler(CloseWindowCommand)
export class CloseWindowHandler implements ICommandHandler<CloseWindowCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly closer: WindowCloser,
    private readonly clock: LedgerClock,
  ) {}

  async execute({ identity, boardId, window: name, dryRun }: CloseWindowCommand): Promise<ClosedWindow> {
    assertAdmin(identity);
    const board = await boardNow(this.boards, boardId);
    const window = await this.windowOf(board, name);
    assertClosable(window, this.clock.nowMs());
    const audit = {
      actor: actorOf(identity),
      action: 'window.close',
      subject: boardId,
      details: { window: window.id },
    };
    const scopes = await this.closer.closeNow({ windowUid: window.uid, dryRun, audit });
    await this.boards.refresh().catch(() => undefined);
    const [after] = dryRun ? [window] : await this.windows.refresh([window.uid]);
    const time = (ms: number | null | undefined): string | null => (ms == null ? null : toTimestamp(ms));
    const { id, startsAtMs } = window;
    return {
      board: boardId,
      window: { id, startsAt: time(startsAtMs), endsAt: time((after ?? window).endsAtMs) },
      dryRun,
      scopes,
    };
  }

  /** @throws WINDOW_NOT_FOUND, WINDOW_MISMATCH */
  private async windowOf(board: Board, name: string): Promise<StoredWindow> {
    const { windows, timeZone } = board.definition;
    const now = this.clock.nowMs();
    const spec = specOf(windows, name);
    const isName = spec !== undefined && name === nameOfSpec(spec);
    const calculated = windowOfId(windows, timeZone, name);
    const stored = (await this.windows.ofId(board, name)) ?? (await this.windows.lastOfKind(board, name, now));
    if (stored) return stored;
    if (calculated) assertBegun(calculated, now);
    const running = spec && (isName || calculated) ? await this.windows.ofSpec(board, spec, now, now) : null;
    if (running && running.uid !== 0 && (isName || running.id === name)) return running;
    const known = windows.map(nameOfSpec).join(', ');
    throw new LadderError('WINDOW_NOT_FOUND', `Board "${board.id}" has no window "${name}" now; it has ${known}.`);
  }
}

/** @throws WINDOW_UNENDING, WINDOW_MISMATCH */
function assertClosable(window: StoredWindow, nowMs: number): void {
  if (window.endsAtMs === null) {
    throw new LadderError('WINDOW_UNENDING', `The window "${window.id}" has no end. To empty it, reset the board.`);
  }
  assertBegun(window, nowMs);
}

/** @throws WINDOW_MISMATCH */
function assertBegun({ id, startsAtMs }: WindowBounds, nowMs: number): void {
  if (startsAtMs === null || startsAtMs <= nowMs) return;
  const detail = `The window "${id}" begins at ${toTimestamp(startsAtMs)}; there is nothing to close.`;
  throw new LadderError('WINDOW_MISMATCH', detail);
}
