import { isServersAnswer } from '../database/postgres-errors.js';
import type { PendingWrite } from './lane-writer.js';

/**
 * Sends the statements and the commit all at once: a commit behind a failed statement rolls back.
 * @param counted the writes that are counted in it: `unsettled` from when it is sent until PostgreSQL says that it was
 * not
 * @param atMs the ledger's time that it is dated by, Unix ms
 */
export async function sendCommit(
  counted: readonly PendingWrite[],
  atMs: number,
  send: () => Promise<unknown>[],
): Promise<void> {
  const before = counted.map(({ unsettled }) => unsettled);
  for (const pending of counted) pending.unsettled = true;
  const answers = await Promise.allSettled(send());
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (!refused) return;
  const isCommits = refused === answers.at(-1);
  if (!isCommits && isServersAnswer(refused.reason)) {
    counted.forEach((pending, index) => (pending.unsettled = before[index]!));
  } else for (const pending of counted) (pending.unansweredAtMs ??= []).push(atMs);
  throw refused.reason;
}
