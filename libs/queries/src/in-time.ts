import { sleep } from '@laddercast/platform';

/** A source that takes longer leaves rows with what was known: reads do not wait for it. */
const WAITED_FOR_MS = 500;

/** What a source answers; null when it fails or is too slow. */
export async function inTime<T>(answer: Promise<T>): Promise<T | null> {
  const stopped = new AbortController();
  try {
    return await Promise.race([answer.catch(() => null), sleep(WAITED_FOR_MS, stopped.signal).then(() => null)]);
  } finally {
    stopped.abort();
  }
}
