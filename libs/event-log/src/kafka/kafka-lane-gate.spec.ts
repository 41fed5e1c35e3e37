import { sleep } from '@laddercast/platform';
import { describe, expect, it } from 'vitest';
import { KafkaLaneGate, type LaneBarriers } from './kafka-lane-gate.js';

/** Barriers that a look opens. */
function closedBarriers(): LaneBarriers {
  const open = new Set<number>();
  return { isOpen: (lane) => open.has(lane), look: async (lanes) => lanes.forEach((lane) => open.add(lane)) };
}

describe('the gate of a lane', () => {
  it('is resumed when its barrier opens', async () => {
    const [paused, resumed]: unknown[][] = [[], []];
    const consumer = { pause: (to: unknown) => void paused!.push(to), resume: (to: unknown) => void resumed!.push(to) };
    const gate = new KafkaLaneGate(consumer, closedBarriers(), () => undefined);
    gate.joined({ scores: [3] });
    await expect.poll(() => resumed).toEqual([[{ topic: 'scores', partitions: [3] }]]);
    expect(paused).toEqual(resumed);
    await gate.end();
  });

  it('ends no process where its consumer has left the group meanwhile', async () => {
    const failures: unknown[] = [];
    const note = (error: unknown): void => void failures.push(error);
    process.on('unhandledRejection', note);
    try {
      const resume = (): never => {
        throw new Error('Consumer group was not initialized');
      };
      const gate = new KafkaLaneGate({ pause: () => undefined, resume }, closedBarriers(), () => undefined);
      gate.joined({ scores: [3] });
      await sleep(20);
      await expect(gate.end()).resolves.toBeUndefined();
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(failures).toEqual([]);
  });
});
