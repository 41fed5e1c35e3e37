import { GLOBAL_SCOPE, GUILDS_SCOPE, type Board } from '@laddercast/domain';
import { BoardCatalog, comparedPage, PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { asOf, comparedWindowsOf, type ReconciledBoards, type NamedWindow } from './board-reconciler.js';
import { EntryComparison, listIn } from './entry-comparison.js';
import { ListInspection, madeAtMsOf, type InspectionNews } from './list-inspection.js';
import { growingCache } from '@laddercast/platform';

/** What one round found. */
export interface SampleReport {
  windows: number;
  compared: number;
  /** What differed, by kind; nothing where all was equal. */
  drift: Record<string, number>;
}

const WINDOWS_AT_ONCE = 5;
const ROWS_OF_A_WINDOW = 200;
/** Windows of which it is remembered how far they were compared. */
const WINDOWS_KNOWN_MAX = 10_000;

/** Compares some entries of some windows, both ways: round after round it comes by all of them. */
@Injectable()
export class SampledReconciliation {
  /** By window and table: the last id that was compared. */
  private readonly reached = growingCache<string, string>(WINDOWS_KNOWN_MAX);

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    @Inject(BoardCatalog) private readonly boards: ReconciledBoards,
    private readonly comparison: EntryComparison,
    private readonly lists: ListInspection,
  ) {}

  /**
   * One round: at most some thousand entries.
   * @throws PROJECTION_UNAVAILABLE, a database error
   */
  async run(signal: AbortSignal): Promise<SampleReport> {
    const report: SampleReport = { windows: 0, compared: 0, drift: {} };
    await this.boards.refresh();
    const boards = this.boards.all();
    for (let n = 0; n < WINDOWS_AT_ONCE && boards.length > 0; n += 1) {
      signal.throwIfAborted();
      const board = oneOf(boards);
      const windows = await comparedWindowsOf(this.database, board);
      if (windows.length === 0) continue;
      await this.window(board, oneOf(windows), report);
    }
    return report;
  }

  private async window(board: Board, window: NamedWindow, report: SampleReport): Promise<void> {
    const { comparison, database, lists } = this;
    report.windows += 1;
    const compared = asOf(board, window);
    const scopes = new Set([GLOBAL_SCOPE, GUILDS_SCOPE]);
    for (const isGuild of [false, true]) {
      const name = `${window.uid}/${isGuild}`;
      const rows = await comparedPage(database, window.uid, isGuild, this.reached.get(name) ?? '', ROWS_OF_A_WINDOW);
      this.reached.set(name, rows.length < ROWS_OF_A_WINDOW ? '' : rows.at(-1)!.playerId);
      for (const row of rows) for (const scope of [...row.scopes, ...row.leftScopes]) scopes.add(scope);
      if (rows.length > 0) add(report, { compared: await comparison.compareRows(compared, rows) });
    }
    for (const scope of new Set([GLOBAL_SCOPE, oneOf([...scopes])])) {
      const madeAtMs = madeAtMsOf(board.layouts.serving, scope, window.boardMadeAtMs);
      for await (const news of lists.some(compared, listIn(compared, scope), madeAtMs)) add(report, news);
    }
  }
}

function add(report: SampleReport, news: InspectionNews): void {
  const { drift } = report;
  const count = (kind: string, found: number): void => {
    if (found > 0) drift[kind] = (drift[kind] ?? 0) + found;
  };
  count('stray', news.strays ?? 0);
  count('value', news.values ?? 0);
  count('counter', news.counters ?? 0);
  if (!news.compared) return;
  report.compared += news.compared.entries;
  for (const { kind } of news.compared.drift) count(kind, 1);
}

const oneOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;
