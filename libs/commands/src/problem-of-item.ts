import { LadderError } from '@laddercast/domain';
import { isDatabaseUnavailable } from '@laddercast/ledger';

/**
 * What is answered for an item that failed: one bad item never fails its batch.
 * @param how to send it again: `with the same gameId`
 */
export function problemOfItem(error: unknown, how: string): LadderError {
  if (error instanceof LadderError) return error;
  const again = `send it again, ${how}.`;
  return isDatabaseUnavailable(error)
    ? new LadderError('LEDGER_UNAVAILABLE', `The database cannot be reached; ${again}`, {}, { cause: error })
    : new LadderError('INTERNAL', `This one failed on our side; ${again}`, {}, { cause: error });
}
