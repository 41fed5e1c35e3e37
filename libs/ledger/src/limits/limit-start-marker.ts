import type { BoardLimits } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { BEGIN_LIMITS, BOARDS_TO_MARK, MARK_ENTRIES, RUNNING_WINDOWS_OF_BOARD } from './entry-limits-sql.js';
import { PLAYERS_OF_WINDOW } from '../reemission/entry-reemission-sql.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew, type Place } from '../lanes/lanes.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

const PLAYERS_AT_ONCE = 500;

interface MarkedBoard {
  board_uid: number;
  definition_revision: number;
  limits_since_ms: number;
}

/**
 * Notes, in the transaction that redefines a board, that a limit which removes entries begins: what is there counts as
 * renewed now, whatever lies behind it.
 */
export async function beginLimits(
  transaction: SqlRunner,
  boardUid: number,
  before: BoardLimits,
  after: BoardLimits,
): Promise<void> {
  const isAdded = (limit: 'entriesMax' | 'entryLifetimeSeconds'): boolean =>
    before[limit] === null && after[limit] !== null;
  // Under a lifetime every entry is marked, or about to be, so nothing begins.
  if (before.entryLifetimeSeconds !== null) return;
  if (isAdded('entriesMax') || isAdded('entryLifetimeSeconds')) await transaction.query(BEGIN_LIMITS, [boardUid]);
}

/**
 * Marks the entries that were there before their board had a limit that removes entries, a chunk at a time. Trimming
 * and expiring only find marked entries, and wait until all entries of a board are marked. Begun again after a failure,
 * it passes over what is done.
 */
@Injectable()
export class LimitStartMarker {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Marks every board that waits for it; returns how many were.
   * @throws AggregateError of what failed; it holds up no other board
   */
  async run(signal: AbortSignal): Promise<number> {
    const boards = await this.database.query<MarkedBoard>(BOARDS_TO_MARK);
    await tryEach(boards, signal, async (board) => {
      const windows = await this.database.query<{ window_uid: number }>(RUNNING_WINDOWS_OF_BOARD, [board.board_uid]);
      for (const { window_uid } of windows) await this.mark(window_uid, board.limits_since_ms, signal);
      if (signal.aborted) return;
      // Put once more meanwhile: it begins again.
      await this.database.query(
        'UPDATE boards SET mark_entries = false WHERE board_uid = $1 AND definition_revision = $2',
        [board.board_uid, board.definition_revision],
      );
    });
    return boards.length;
  }

  /** Removed entries too, so that they come back marked. */
  private async mark(windowUid: number, sinceMs: number, signal: AbortSignal): Promise<void> {
    for (let after = ''; !signal.aborted;) {
      const page = await this.database.query<{ player_id: string }>(PLAYERS_OF_WINDOW, [
        windowUid,
        after,
        PLAYERS_AT_ONCE,
      ]);
      await placedAnew(this.database, this.lanes, async () => {
        for (const { place, things } of this.lanes.sorted(page, ({ player_id }) => player_id)) {
          const playerIds = things.map(({ player_id }) => player_id);
          await this.markChunk(place, windowUid, playerIds, sinceMs);
        }
      });
      if (page.length < PLAYERS_AT_ONCE) return;
      after = page.at(-1)!.player_id;
    }
  }

  /** Under the lane, which every writer of these rows holds, so that nobody waits for rows in another order. */
  private async markChunk(place: Place, windowUid: number, playerIds: string[], sinceMs: number): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await takeLane(transaction, place);
      await transaction.query(MARK_ENTRIES, [windowUid, playerIds, sinceMs]);
    });
  }
}
