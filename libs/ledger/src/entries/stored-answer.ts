import type { SubmissionOutcome } from '@laddercast/domain';
import type { SubmissionAnswer } from './ledger-writes.js';

/** What is stored of an answer; with the `handOverId` of its write. */
export type StoredAnswer = SubmissionAnswer & { windowUid: number; handOverId?: string };

type Told = [
  version: number,
  windowUid: number,
  outcome: SubmissionOutcome,
  score: number,
  previousScore: number | null,
  windows: string[],
];
type Rest = Omit<StoredAnswer, 'version' | 'windowUid' | 'outcome' | 'score' | 'previousScore' | 'windows'>;

/**
 * An answer as JSON in few bytes: what every answer tells, in a fixed order, and then what only some do. This is what stands
 * behind the version, which the statement that writes it may draw itself.
 */
export function answerBehindVersion(answer: StoredAnswer): string {
  const { version: _, windowUid, outcome, score, previousScore, windows, ...rest } = answer;
  const more = Object.keys(rest).length > 0 ? [rest] : [];
  return `,${JSON.stringify([windowUid, outcome, score, previousScore, windows, ...more]).slice(1)}`;
}

/** The answer of a row, with its version. */
export const answerText = (answer: StoredAnswer): string => `[${answer.version}${answerBehindVersion(answer)}`;

/** @param text of {@link answerText}; also of an answer that was stored by names */
export function readAnswer(text: string): StoredAnswer {
  const stored = JSON.parse(text) as [...Told, Rest?] | StoredAnswer;
  if (!Array.isArray(stored)) return stored;
  const [version, windowUid, outcome, score, previousScore, windows, rest] = stored;
  return { windowUid, outcome, score, previousScore, version, windows, ...rest };
}
