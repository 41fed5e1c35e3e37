import { RateLimitedLog } from '@laddercast/platform';
import { LadderError } from '@laddercast/domain';
import { isDatabaseUnavailable } from '@laddercast/ledger';

const log = new RateLimitedLog('Live');

/**
 * The error for a client; an error that is not meant for clients is logged, and sent as INTERNAL.
 * @param requestId names the socket's request in the log
 */
export function asLadderError(error: unknown, requestId?: string): LadderError {
  if (error instanceof LadderError) return error;
  if (isDatabaseUnavailable(error)) {
    const detail = 'The database cannot be reached; try again shortly.';
    return new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause: error });
  }
  log.warn('A message could not be answered', error, requestId === undefined ? {} : { requestId });
  return new LadderError('INTERNAL', 'The message could not be answered.', {}, { cause: error });
}
