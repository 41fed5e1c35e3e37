import { isDeepStrictEqual } from 'node:util';
import { LadderError, type EntryChanged, type Layout, type Layouts, type ListVersions } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { AllLanes } from '../lanes/all-lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import { announceBoard, appendEvent, nextPosition } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { openLayout, removeLater } from './layout-changes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** A generation whose keys are to be removed from the projection. */
export interface LayoutRemoval {
  boardUid: number;
  layout: Layout;
  /** Whether it was ever read. */
  hasServed: boolean;
  /** How long ago another generation replaced it, ms. */
  ageMs: number;
}

/** How far a generation is filled. */
export interface LayoutProgress {
  generation: number;
  /** `filling`: entries are read from the ledger; `proving`: the log's consumers are waited for. */
  step: 'filling' | 'proving';
  /** Entries read in the present scan. */
  rowsScanned: number;
  /** How many scans were begun: more than one when the projection may have lost something meanwhile. */
  scans: number;
  /** null: a scan that is interrupted begins at the start. */
  reached: ScanReached | null;
}

/** How far the filling of a generation is. */
export interface RetaxDone {
  boardUid: number;
  generation: number;
  /** 0 … 1; 1: all is filled, and is being proven. */
  done: number;
}

/** How far a scan is certain to be, by the keys of the tables that it reads one after another for each window. */
export interface ScanReached {
  windowUid: number;
  isGuild: boolean;
  id: string;
  /** What the projection holds if it holds all up to here. */
  proof: string;
}

interface LivingBoard {
  board_uid: number;
  board_id: string;
  layouts: Layouts;
}

const REMOVALS_AT_ONCE = 100;

/** Generations that are to be removed, the oldest first. */
const REMOVALS = `
  SELECT board_uid AS "boardUid", layout, has_served AS "hasServed",
    (extract(epoch FROM ladder_now() - since) * 1000)::float8 AS "ageMs"
  FROM layout_removals ORDER BY since, board_uid, generation LIMIT ${REMOVALS_AT_ONCE}`;

/**
 * The life of a generation of a board's lists, as facts of the ledger: opened, filled, served, given up. Each step is
 * taken under all lanes and announced, so that it has its place among the changes of entries in each lane.
 */
@Injectable()
export class BoardLayouts {
  /** What {@link removals} finds, for a `SharedLook`. */
  readonly due = REMOVALS;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly allLanes: AllLanes,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Opens another generation with the layout of the serving one; if one is being filled already, and with all its lists,
   * that one goes on.
   * @returns the number of the generation that will serve
   * @throws BOARD_NOT_FOUND
   */
  async rebuild(boardId: string, actor: string): Promise<number> {
    return this.allLanes.change(async (transaction) => {
      const [board] = await transaction.query<LivingBoard>(
        'SELECT board_uid, board_id, layouts FROM boards WHERE board_id = $1',
        [boardId],
      );
      if (!board) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);
      const { opening } = board.layouts;
      if (opening && !opening.patchLists) return opening.generation;
      await recordAudit(transaction, { actor, action: 'board.rebuild', subject: boardId, details: {} });
      const layouts = await openLayout(transaction, board, board.layouts.serving);
      await this.store(transaction, board, layouts);
      return layouts.opening!.generation;
    });
  }

  /** Opens another generation with so many index buckets, unless the board has that many, or is being changed. */
  async grow(boardUid: number, indexBuckets: number): Promise<void> {
    await this.allLanes.change(async (transaction) => {
      const board = await find(transaction, boardUid);
      if (!board) return;
      const { serving, opening, retiring } = board.layouts;
      if (opening || retiring || serving.indexBuckets >= indexBuckets) return;
      await this.store(transaction, board, await openLayout(transaction, board, { ...serving, indexBuckets }));
    });
  }

  /**
   * Writes into every lane that the generation now holds everything that was there when it was opened.
   * @returns the layout with the positions of the barrier; null when the board or the generation was given up
   */
  async filled(boardUid: number, generation: number): Promise<Layout | null> {
    const layout = await this.allLanes.change(async (transaction) => {
      const board = await find(transaction, boardUid);
      if (board?.layouts.opening?.generation !== generation) return null;
      const filledAt: number[] = [];
      for (const lane of this.lanes.all) {
        const version = await nextPosition(transaction);
        const barrier = { boardUid, playerId: '', version, changes: [], filledGeneration: generation };
        const event: EntryChanged = { type: 'entry-changed', ...barrier };
        await appendEvent(transaction, lane, version, String(boardUid), event);
        filledAt[lane] = version;
      }
      const opening = { ...board.layouts.opening, filledAt };
      await this.store(transaction, board, { ...board.layouts, opening });
      return opening;
    });
    if (layout) for (const lane of this.lanes.all) this.notifier.wake(lane);
    return layout;
  }

  /**
   * Has the board read from a proven generation; the one before is still fed.
   * @param proven as {@link filled} returned it, so that exactly what was proven serves
   * @param versionsOf where its lists' versions continue, given the generation that served until now
   * @returns false if it was given up or filled anew meanwhile, or if the last generation that served is still fed
   */
  async serve(boardUid: number, proven: Layout, versionsOf: (serving: Layout) => ListVersions): Promise<boolean> {
    return this.allLanes.change(async (transaction) => {
      const board = await find(transaction, boardUid);
      if (!board || board.layouts.retiring !== null) return false;
      const { serving, opening } = board.layouts;
      if (!isDeepStrictEqual(opening, proven)) return false;
      const next = { ...proven, versions: versionsOf(serving), ...(await taxedSince(transaction, serving, proven)) };
      await removeLater(transaction, boardUid, serving, true);
      await transaction.query('DELETE FROM layout_progress WHERE board_uid = $1', [boardUid]);
      await this.store(transaction, board, { serving: next, opening: null, retiring: serving });
      return true;
    });
  }

  /** Ends the feeding of the generation that served before. */
  async stopFeeding(boardUid: number, generation: number): Promise<void> {
    await this.allLanes.change(async (transaction) => {
      const board = await find(transaction, boardUid);
      if (board?.layouts.retiring?.generation !== generation) return;
      await this.store(transaction, board, { ...board.layouts, retiring: null });
    });
  }

  /** Generations that are to be removed, the oldest first. */
  removals(): Promise<LayoutRemoval[]> {
    return this.database.query<LayoutRemoval>(REMOVALS);
  }

  /** Those of one board. */
  async removalsOf(boardUid: number): Promise<Layout[]> {
    const rows = await this.database.query<{ layout: Layout }>(
      'SELECT layout FROM layout_removals WHERE board_uid = $1 ORDER BY generation',
      [boardUid],
    );
    return rows.map(({ layout }) => layout);
  }

  /** Its keys are gone. */
  async removed(boardUid: number, generation: number): Promise<void> {
    await this.database.query('DELETE FROM layout_removals WHERE board_uid = $1 AND generation = $2', [
      boardUid,
      generation,
    ]);
  }

  /** The board is gone, with all its keys. */
  async forget(boardUid: number): Promise<void> {
    for (const table of ['layout_removals', 'layout_progress']) {
      await this.database.query(`DELETE FROM ${table} WHERE board_uid = $1`, [boardUid]);
    }
  }

  async progressOf(boardUid: number): Promise<LayoutProgress | undefined> {
    const [row] = await this.database.query<LayoutProgress>(
      `SELECT generation, step, rows_scanned AS "rowsScanned", scans, CASE WHEN proof IS NOT NULL THEN json_build_object(
         'windowUid', reached_window, 'isGuild', reached_guilds, 'id', reached_id, 'proof', proof) END AS reached
       FROM layout_progress WHERE board_uid = $1`,
      [boardUid],
    );
    return row;
  }

  async noteProgress(boardUid: number, progress: LayoutProgress): Promise<void> {
    const { generation, step, rowsScanned, scans, reached } = progress;
    await this.database.query(
      `INSERT INTO layout_progress (board_uid, generation, step, rows_scanned, scans, reached_window, reached_guilds,
         reached_id, proof) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (board_uid) DO UPDATE SET generation = excluded.generation, step = excluded.step,
         rows_scanned = excluded.rows_scanned, scans = excluded.scans, reached_window = excluded.reached_window,
         reached_guilds = excluded.reached_guilds, reached_id = excluded.reached_id, proof = excluded.proof`,
      [
        boardUid,
        generation,
        step,
        rowsScanned,
        scans,
        reached?.windowUid ?? null,
        reached?.isGuild ?? null,
        reached?.id ?? null,
        reached?.proof ?? null,
      ],
    );
  }

  /** Counts what is to be scanned of a board for a generation whose progress is noted. */
  async noteRowsToScan(boardUid: number, generation: number): Promise<void> {
    await this.database.query(
      `UPDATE layout_progress SET rows_total =
         (SELECT count(*) FROM windows JOIN projected_entries USING (window_uid) WHERE windows.board_uid = $1)
       WHERE board_uid = $1 AND generation = $2`,
      [boardUid, generation],
    );
  }

  /** How far all boards are whose rows were counted. */
  retaxesDone(): Promise<RetaxDone[]> {
    return this.database.query<RetaxDone>(
      `SELECT board_uid AS "boardUid", generation, CASE step WHEN 'proving' THEN 1
         ELSE least(1, rows_scanned::float8 / greatest(rows_total, 1)) END AS done
       FROM layout_progress WHERE rows_total IS NOT NULL LIMIT ${RETAXES_MAX}`,
    );
  }

  private async store(transaction: SqlRunner, board: LivingBoard, layouts: Layouts): Promise<void> {
    const revision = await announceBoard(transaction, this.lanes, board.board_uid, board.board_id);
    await transaction.query('UPDATE boards SET layouts = $2, revision = $3 WHERE board_uid = $1', [
      board.board_uid,
      JSON.stringify(layouts),
      revision,
    ]);
  }
}

/** Far more boards than are filled at once. */
const RETAXES_MAX = 1000;

/** Since when the tax of a generation that serves from now on is shown: since before, where it stays. */
async function taxedSince(
  transaction: SqlRunner,
  serving: Layout,
  next: Layout,
): Promise<Pick<Layout, 'taxedSinceMs'>> {
  if (next.taxOrder === undefined) return {};
  const isKept = next.taxOrder === serving.taxOrder && serving.taxedSinceMs !== undefined;
  return { taxedSinceMs: isKept ? serving.taxedSinceMs! : await ledgerNowMs(transaction) };
}

async function find(transaction: SqlRunner, boardUid: number): Promise<LivingBoard | undefined> {
  const [board] = await transaction.query<LivingBoard>(
    'SELECT board_uid, board_id, layouts FROM boards WHERE board_uid = $1 AND board_id IS NOT NULL',
    [boardUid],
  );
  return board;
}
