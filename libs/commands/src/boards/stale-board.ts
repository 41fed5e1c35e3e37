import { LadderError, type Board } from '@laddercast/domain';
import { isDatabaseUnavailable, StaleBoardError, type BoardCatalog } from '@laddercast/ledger';

/** A board that changes again and again under a write: each try looks it up anew. */
const RETRIES_MAX = 3;

/** @throws OVERLOADED when a board keeps changing under a write */
export function assertMayTryAgain(tries: number): void {
  if (tries <= RETRIES_MAX) return;
  throw new LadderError('OVERLOADED', 'The board keeps changing; send it again, with the same submissionId.', {
    retryAfterSeconds: 1,
  });
}

/**
 * Tries a write again, with the board as it is now, when the board changed under it.
 * @throws OVERLOADED when it keeps changing, and whatever the attempt throws
 */
export async function whileBoardChanges<T>(boards: BoardCatalog, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StaleBoardError)) throw error;
      assertMayTryAgain(tries);
      await boards.refresh();
    }
  }
}

/**
 * The board, also one that another process made a moment ago.
 * @throws BOARD_NOT_FOUND, LEDGER_UNAVAILABLE
 */
export async function boardNow(boards: BoardCatalog, boardId: string): Promise<Board> {
  const board = await boards.find(boardId).catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) throw error;
    const detail = 'The board cannot be looked up now; try again shortly.';
    throw new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause: error });
  });
  if (!board) throw boardNotFound(boardId);
  return board;
}

export const boardNotFound = (boardId: string): LadderError =>
  new LadderError('BOARD_NOT_FOUND', `There is no board "${boardId}".`);

/** @throws BOARD_IS_FED where entries come from a rating pool */
export function refuseFed({ id, feed }: Pick<Board, 'id' | 'feed'>): void {
  if (!feed) return;
  const detail = `Pool "${feed.pool}" feeds board "${id}": send games to the pool, not scores to the board.`;
  throw new LadderError('BOARD_IS_FED', detail);
}
