import { metrics, monotonicMs } from '@laddercast/platform';

/** Wraps the work on each batch of a consumer group, and notes how long it took, how many events it was, and failures. */
export function measuredGroup(group: string): (events: number, work: () => Promise<void>) => Promise<void> {
  const seconds = metrics.batchSeconds.labels(group);
  const handled = metrics.eventsHandled.labels(group);
  const failures = metrics.batchFailures.labels(group);
  return async (events, work) => {
    const beganAtMs = monotonicMs();
    try {
      await work();
      handled.inc(events);
    } catch (error) {
      failures.inc();
      throw error;
    } finally {
      seconds.observe((monotonicMs() - beganAtMs) / 1000);
    }
  };
}
