import type { Gathering } from '@laddercast/platform';

/** A source that takes longer leaves rows with what was known: reads do not wait for it. */
const WAITED_FOR_MS = 500;

/** What a source answers; null when it fails or is too slow. */
export function inTime<T>(answer: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(null), WAITED_FOR_MS);
    const settle = (value: T | null): void => {
      clearTimeout(late);
      resolve(value);
    };
    answer.then(settle, () => settle(null));
  });
}

/** For questions that requests share, each of which costs as much as a read: beyond 2,000 a second they wait for others. */
export const GATHERED: Gathering = { eachMs: 0.5, mostMs: 3 };
