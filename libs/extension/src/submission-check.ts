import type { Board, SubmissionOperator } from '@laddercast/domain';

/** A submission as the client sent it, well formed and within the board's rules, before anything is stored. */
export interface CheckedSubmission {
  submissionId: string;
  playerId: string;
  score: number;
  /** What it does to the total of a sum board; null on other boards. */
  operator: SubmissionOperator | null;
  columns: Record<string, number>;
  /** RFC 3339, or null when the client left it to the database's clock. */
  achievedAt: string | null;
  metadata: Record<string, unknown> | null;
  sourceId: string | null;
  /** The patch that it was played on; null on boards without decay. */
  patch: string | null;
}

/**
 * `accept` lets it count; with `verified` it says that somebody, or something, has looked at the run. `hold` keeps it until a
 * moderator decides: on boards that keep runs. `reject` refuses it: nothing is stored.
 */
export type CheckVerdict =
  | { verdict: 'accept'; verified?: boolean }
  | { verdict: 'hold'; reason: string }
  | { verdict: 'reject'; reason: string };

/** How long a check may take, ms. */
export const CHECK_LIMIT_MS = 10_000;

/**
 * Decides whether a submission may count, before it reaches the ledger; it may do I/O.
 * Every check of `LeaderboardModule.forFeature` is asked, in the order given; the first rejection wins and
 * becomes 422 `SUBMISSION_REJECTED` with its reason. Default: no check, everything is accepted.
 * A check that throws, or takes longer than {@link CHECK_LIMIT_MS}, refuses the submission with 503; nothing is stored. A message of Kafka's is tried again, and parked after
 * a while where others of its board are taken, unless the error is that of a connection, or has `retriable: true`.
 */
export abstract class SubmissionCheck {
  /** The boards it looks at; null for every board. */
  abstract readonly boards: readonly string[] | null;

  abstract check(board: Board, submission: CheckedSubmission): Promise<CheckVerdict>;
}
