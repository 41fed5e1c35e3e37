import { Injectable } from '@nestjs/common';
import { PostgresDatabase } from '../database/postgres-database.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { restatedWindow, type RestatedWindow } from './restated-window.js';
import { askForRestatement, restatementOf } from './restatement-rows.js';

/** How far the restatement of a window is. */
export interface RestatementProgress {
  readonly pool: string;
  /** Players of the pool that were looked at. */
  readonly playersRead: number;
  /** How many entries differ, parts that guilds keep of leavers among them; null: they are still being read. */
  readonly entries: number | null;
  /** Of the newest final standings. */
  readonly edition: number | null;
  /** Whether the entries are written, and the edition shows them. */
  readonly isDone: boolean;
}

const STANDINGS_OF_WINDOW = `
  SELECT (SELECT max(number) FROM editions WHERE window_uid = $1 AND kind = 'final') AS edition,
    EXISTS (SELECT FROM revisions_due WHERE window_uid = $1) AS "isRevising"`;

/** Orders of operators to have the standings of windows that ended written anew, by what the pool that feeds the board says now. */
@Injectable()
export class Restatements {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  /**
   * Asks for it; a projector does it. Where one of the window is under way, that one goes on, with the reason that it has.
   * @throws BOARD_NOT_FOUND, BOARD_NOT_FED, WINDOW_UNENDING, WINDOW_NOT_SETTLED, SNAPSHOT_GONE, NOT_SUPPORTED,
   *   RECOMPUTE_TOO_LARGE, ALGORITHM_MISSING
   */
  async ask(windowUid: number, act: { actor: string; reason: string | null }): Promise<void> {
    await this.database.transaction(async (transaction) => {
      this.assertRatable(await restatedWindow(transaction, windowUid));
      await askForRestatement(transaction, windowUid, act);
    });
  }

  /** @throws as {@link ask}, where it cannot be done any more */
  async progress(windowUid: number): Promise<RestatementProgress> {
    const restatement = await restatementOf(this.database, windowUid);
    const { feed } = await restatedWindow(this.database, windowUid);
    const [standings] = await this.database.query<{ edition: number | null; isRevising: boolean }>(
      STANDINGS_OF_WINDOW,
      [windowUid],
    );
    const { playersRead = 0, entries = null, isDone = false } = restatement ?? {};
    const { edition, isRevising } = standings!;
    return { pool: feed.pool, playersRead, entries, edition, isDone: isDone && !isRevising };
  }

  private assertRatable({ pool }: RestatedWindow): void {
    this.algorithms.poolOf(pool);
  }
}
