import { LadderError } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import type { LedgerReceipt, LedgerWrite } from '../entries/ledger-writes.js';
import { StaleBoardError } from '../entries/ledger-writes.js';

const committed = metrics.submissionSeconds.labels('committed');
const repeated = metrics.submissionSeconds.labels('repeated');

/** Counts a durable submission, and the time it took. */
export function noteReceipt(receipt: LedgerReceipt, waitedMs: number): void {
  if (receipt.kind === 'submit') (receipt.replayed ? repeated : committed).observe(waitedMs / 1000);
}

/** Refuses a write for which there is no room in the queue of its lane, and counts that. @throws OVERLOADED */
export function refuseOverload({ kind }: LedgerWrite): never {
  const detail = 'Too many submissions are waiting; send it again shortly, with the same id.';
  const error = new LadderError('OVERLOADED', detail, { retryAfterSeconds: 1 });
  if (kind === 'submit') noteFailure(error, 0);
  throw error;
}

/** Counts a submission that was refused. One that met an outdated board is tried again, and counted then. */
export function noteFailure(error: unknown, waitedMs: number): void {
  if (error instanceof StaleBoardError) return;
  const outcome = error instanceof LadderError ? error.code : 'INTERNAL';
  metrics.submissionSeconds.observe({ outcome }, waitedMs / 1000);
}
