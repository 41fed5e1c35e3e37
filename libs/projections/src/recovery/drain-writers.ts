import type { BoardCatalog } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';

/** By then every process has seen that a board changed, and its batches under way have ended. */
const LAST_WRITERS_WAIT_MS = 1000;

/** Resolves when nothing writes into the projection any more by what boards and windows were before. */
export async function lastWritersOf(boards: BoardCatalog): Promise<void> {
  await boards.refresh();
  await sleep(LAST_WRITERS_WAIT_MS);
}
