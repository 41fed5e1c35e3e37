import { LadderError } from '@laddercast/domain';

/** How long a write may wait for PostgreSQL before it is answered 503. */
export const WRITE_DEADLINE_MS = 5000;
/** How long a lane waits between two tries while PostgreSQL is away. */
export const RETRY_EVERY_MS = 100;

/** A write on its way to a commit. */
export interface AwaitedCommit {
  /** By the monotonic clock. */
  expiresAtMs: number;
  /** A commit of it was sent whose outcome is not known. */
  unsettled: boolean;
}

/** What a write is called where it is refused because PostgreSQL is away. */
export interface WriteWords {
  /** What is not known of an unsettled one. */
  notKnown: string;
  /** The field to send again. */
  id: string;
}

/** The answer to a write for which PostgreSQL was away too long. */
export function unavailable({ unsettled }: AwaitedCommit, cause: unknown, { notKnown, id }: WriteWords): LadderError {
  const what = unsettled
    ? `The database went away during the commit: it is not known whether ${notKnown}.`
    : 'The database cannot be reached; nothing was stored.';
  const detail = `${what} Send it again with the same ${id}.`;
  return new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause });
}

/** Commits a batch of two and more by halves: one bad write never fails its batch, it is tried until it stands alone. */
export async function commitHalves<Write>(
  batch: readonly Write[],
  commit: (half: Write[]) => Promise<void>,
): Promise<void> {
  const middle = batch.length >> 1;
  await commit(batch.slice(0, middle));
  await commit(batch.slice(middle));
}
