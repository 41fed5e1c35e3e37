import { LadderError } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import type { LedgerReceipt } from '../entries/ledger-writes.js';
import { StaleBoardError } from '../entries/ledger-writes.js';

const committed = metrics.submissionSeconds.labels('committed');
const repeated = metrics.submissionSeconds.labels('repeated');

/** Notes a submission that is durable, and how long that took. */
export function noteReceipt(receipt: LedgerReceipt, waitedMs: number): void {
  if (receipt.kind === 'submit') (receipt.replayed ? repeated : committed).observe(waitedMs / 1000);
}

/** Notes a submission that did not count. One that met a board as it was before comes again, and is noted then. */
export function noteFailure(error: unknown, waitedMs: number): void {
  if (error instanceof StaleBoardError) return;
  const outcome = error instanceof LadderError ? error.code : 'INTERNAL';
  metrics.submissionSeconds.observe({ outcome }, waitedMs / 1000);
}
