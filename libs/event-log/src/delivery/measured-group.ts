import { metrics, monotonicMs } from '@laddercast/platform';

/** Wraps the handler of a consumer group, and measures the time, the events and the failures of each batch. */
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
