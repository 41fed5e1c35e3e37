import { LadderError, nameOfSpec, specOf, windowOfId, type Board } from '@laddercast/domain';
import { actorOf, assertAdmin } from '@laddercast/identity';
import {
  BoardCatalog,
  boardNotFed,
  EditionCatalog,
  Restatements,
  WindowCatalog,
  type RestatementProgress,
} from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { boardNow } from '../boards/stale-board.js';
import { RestateWindowCommand, type RestatedStandings } from './pool-commands.js';

/** How long the answer waits for the edition; it goes on without it. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 250;

@CommandHandler(RestateWindowCommand)
export class RestateWindowHandler implements ICommandHandler<RestateWindowCommand> {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly restatements: Restatements,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ identity, boardId, window, reason }: RestateWindowCommand): Promise<RestatedStandings> {
    assertAdmin(identity);
    const board = await boardNow(this.boards, boardId);
    if (!board.feed) throw boardNotFed(boardId);
    const windowUid = await this.windowOf(board, window);
    await this.restatements.ask(windowUid, { actor: actorOf(identity), reason });
    this.editions.forget(windowUid);
    const progress = await this.awaited(windowUid);
    // Who reads the board after this answer sees what it says.
    this.editions.forget(windowUid);
    const { pool, playersRead, entries, edition, isDone } = progress;
    const done = entries === 0 ? ('unchanged' as const) : ('restated' as const);
    return { board: boardId, window, pool, outcome: isDone ? done : 'restating', playersRead, entries, edition };
  }

  private async awaited(windowUid: number): Promise<RestatementProgress> {
    const untilMs = monotonicMs() + WAIT_MS;
    for (;;) {
      const progress = await this.restatements.progress(windowUid);
      if (progress.isDone || monotonicMs() >= untilMs) return progress;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** @throws WINDOW_NOT_FOUND, WINDOW_NOT_SETTLED, WINDOW_UNENDING */
  private async windowOf(board: Board, name: string): Promise<number> {
    const { windows, timeZone } = board.definition;
    const stored = await this.windows.ofId(board, name);
    if (stored) return stored.uid;
    const spec = specOf(windows, name);
    const running = windowOfId(windows, timeZone, name);
    const isOver = running?.endsAtMs != null && running.endsAtMs <= this.boards.clock.nowMs();
    if ((spec && name === nameOfSpec(spec)) || (running && !isOver)) {
      const detail = `"${name}" has no final standings yet: name a window that ended, as GET …/windows?state=ended says them.`;
      throw new LadderError('WINDOW_NOT_SETTLED', detail);
    }
    throw new LadderError('WINDOW_NOT_FOUND', `Board "${board.id}" has no window "${name}".`);
  }
}
