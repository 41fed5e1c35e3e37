import { entryOfKey, GLOBAL_SCOPE, GUILDS_SCOPE, type Board } from '@laddercast/domain';
import {
  BoardCatalog,
  COMPARED_AT_ONCE,
  comparedPage,
  keptAfterEndMs,
  namedWindowsOfBoard,
  PostgresDatabase,
  Reconciliations,
  ScopeCatalog,
  type Reconciliation,
  type ReconciliationReached,
  type ReconciliationReport,
  type SqlRunner,
} from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { EntryComparison, listIn, type ComparedWindow, type Drift } from './entry-comparison.js';
import { ListInspection, madeAtMsOf, type InspectionNews } from './list-inspection.js';
import { WindowLists } from '../ranks/window-lists.js';

/** The boards as a comparison looks for them; see BoardCatalog. */
export interface ReconciledBoards {
  refresh(): Promise<void>;
  byUid(boardUid: number): Promise<Board | undefined>;
  all(): Board[];
}

/** A window that is compared, with what is told of it. */
export interface NamedWindow {
  uid: number;
  name: string;
  /** Unix ms; null: it has no beginning. */
  startsAtMs: number | null;
  /** Unix ms; null: it has no end. */
  endsAtMs: number | null;
  keepUntilMs: number | null;
  /** When its board was made, Unix ms. */
  boardMadeAtMs: number;
}

/** Before those of patches, which are negative. */
const FIRST_SCOPE = -Infinity;
const NOTE_EVERY_MS = 1000;
const EXAMPLES_MAX = 20;
/** The keys of a window may expire by Redis' clock, a little before or after they should by ours. */
const EXPIRES_SOON_MS = 120_000;

/** Compares one board with its lists, window by window, while it is read and written. */
@Injectable()
export class BoardReconciler {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    @Inject(BoardCatalog) private readonly boards: ReconciledBoards,
    @Inject(WindowLists) private readonly windowLists: Pick<WindowLists, 'listsOf'>,
    @Inject(ScopeCatalog) private readonly scopes: Pick<ScopeCatalog, 'namesOf'>,
    private readonly comparison: EntryComparison,
    private readonly lists: ListInspection,
    private readonly jobs: Reconciliations,
  ) {}

  /**
   * Brings a comparison to its end from where it was left.
   * @throws PROJECTION_UNAVAILABLE, a database error, or the signal's reason; what was noted until then stays
   */
  async run(job: Reconciliation, signal: AbortSignal): Promise<ReconciliationReport> {
    const report: ReconciliationReport = { ...job.report, examples: [...job.report.examples] };
    const board = await this.boardNow(job.boardUid);
    const windows = board ? await comparedWindowsOf(this.database, board) : [];
    const note = this.noting(job.boardUid, report);
    for (const window of windows) {
      const reached = job.reached;
      if (reached && window.uid < reached.windowUid) continue;
      const from: ReconciliationReached =
        reached?.windowUid === window.uid ? reached : { windowUid: window.uid, step: 'entries', id: '', scope: 0 };
      await this.rows(window, job.boardUid, from, report, signal, note);
      await this.looked(window, job.boardUid, from.step === 'lists' ? from.scope : FIRST_SCOPE, report, signal, note);
      report.windows += 1;
    }
    await this.jobs.finish(job.boardUid, report);
    return report;
  }

  private async rows(
    window: NamedWindow,
    boardUid: number,
    from: ReconciliationReached,
    report: ReconciliationReport,
    signal: AbortSignal,
    note: Note,
  ): Promise<void> {
    for (const step of ['entries', 'guilds'] as const) {
      if (from.step === 'lists' || (from.step === 'guilds' && step === 'entries')) continue;
      for (let id = from.step === step ? from.id : ''; ;) {
        signal.throwIfAborted();
        const board = await this.boardNow(boardUid);
        if (!board) return;
        const page = await comparedPage(this.database, window.uid, step === 'guilds', id);
        if (page.length === 0) break;
        await this.add(report, window, {
          compared: await this.comparison.compareRows(asOf(board, window), page),
        });
        if (page.length < COMPARED_AT_ONCE) break;
        id = page.at(-1)!.playerId;
        await note({ windowUid: window.uid, step, id, scope: 0 });
      }
    }
  }

  private async looked(
    window: NamedWindow,
    boardUid: number,
    fromScope: number,
    report: ReconciliationReport,
    signal: AbortSignal,
    note: Note,
  ): Promise<void> {
    for (const scope of await this.scopesOf(boardUid, window)) {
      if (scope < fromScope) continue;
      signal.throwIfAborted();
      const board = await this.boardNow(boardUid);
      if (!board) return;
      await note({ windowUid: window.uid, step: 'lists', id: '', scope });
      const compared = asOf(board, window);
      const madeAtMs = madeAtMsOf(board.layouts.serving, scope, window.boardMadeAtMs);
      for await (const news of this.lists.whole(compared, listIn(compared, scope), madeAtMs)) {
        signal.throwIfAborted();
        await this.add(report, window, news);
      }
      report.lists += 1;
    }
  }

  private async scopesOf(boardUid: number, window: NamedWindow): Promise<number[]> {
    const board = await this.boardNow(boardUid);
    const lists = board ? await this.windowLists.listsOf(board, window.uid, [board.layouts.serving]) : [];
    return lists.map(({ scope }) => scope).sort((a, b) => a - b);
  }

  /** Anew for each part: another generation may serve by now. */
  private async boardNow(boardUid: number): Promise<Board | undefined> {
    await this.boards.refresh();
    return this.boards.byUid(boardUid);
  }

  private noting(boardUid: number, report: ReconciliationReport): Note {
    let notedAtMs = -Infinity;
    return async (reached) => {
      if (monotonicMs() - notedAtMs < NOTE_EVERY_MS) return;
      notedAtMs = monotonicMs();
      await this.jobs.note(boardUid, reached, report);
    };
  }

  private async add(report: ReconciliationReport, window: NamedWindow, news: InspectionNews): Promise<void> {
    report.stray += news.strays ?? 0;
    report.values += news.values ?? 0;
    report.counters += news.counters ?? 0;
    const { compared } = news;
    if (!compared) return;
    report.compared += compared.entries;
    report.unsettled += compared.unsettled;
    for (const { kind } of compared.drift) report[kind] += 1;
    const shown = compared.drift.slice(0, EXAMPLES_MAX - report.examples.length);
    report.examples.push(...(await this.examplesOf(window, shown)));
  }

  private async examplesOf(window: NamedWindow, drift: readonly Drift[]): Promise<ReconciliationReport['examples']> {
    if (drift.length === 0) return [];
    const names = await this.scopes.namesOf([...new Set(drift.map(({ list }) => list.scope))]);
    return drift.map(({ list: { scope }, playerId, kind }) => ({
      window: window.name,
      scope:
        scope === GLOBAL_SCOPE ? 'global' : scope === GUILDS_SCOPE ? 'guilds' : (names.get(scope) ?? String(scope)),
      ...entryOfKey(playerId),
      kind,
    }));
  }
}

type Note = (reached: ReconciliationReached) => Promise<void>;

/** The windows of a board whose keys the projection keeps for some time yet. */
export async function comparedWindowsOf(database: SqlRunner, board: Board): Promise<NamedWindow[]> {
  const keptMs = keptAfterEndMs(board.definition);
  const windows = await namedWindowsOfBoard(database, board.uid, keptMs - EXPIRES_SOON_MS);
  return windows.map(({ uid, name, startsAtMs, endsAtMs, boardMadeAtMs }) => {
    const keepUntilMs = endsAtMs === null ? null : endsAtMs + keptMs;
    return { uid, name, startsAtMs, endsAtMs, keepUntilMs, boardMadeAtMs };
  });
}

export const asOf = (board: Board, { uid, startsAtMs, endsAtMs, keepUntilMs }: NamedWindow): ComparedWindow => ({
  startsAtMs,
  endsAtMs,
  board,
  windowUid: uid,
  keepUntilMs,
});
