import { inTime, type Gathering } from '@laddercast/platform';

/** A source that takes longer leaves rows with what was known: reads do not wait for it. */
const WAITED_FOR_MS = 500;

/** What a source answers; null when it fails or is too slow. */
export const answered = <T>(answer: Promise<T>): Promise<T | null> =>
  inTime<T | null>(answer, WAITED_FOR_MS, 'too late').catch(() => null);

/** For questions that requests share, each of which costs as much as a read: beyond 2,000 a second they wait for others. */
export const GATHERED: Gathering = { eachMs: 0.5, mostMs: 3 };
