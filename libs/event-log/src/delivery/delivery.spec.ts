import { describe, expect, it } from 'vitest';
import { deliver, type StoredRecord } from './delivery.js';

const record = (position: number): StoredRecord => ({
  lane: 0,
  position,
  topic: 'entry-changed',
  key: 'k',
  payload: '{}',
  createdAtMs: 0,
});

describe('an event that cannot be parked', () => {
  it('is handled after all when what kept it from being parked was what it failed of', async () => {
    const parked: number[] = [];
    const handled: number[] = [];
    let isBroken = true;
    await deliver(
      [record(1), record(2)],
      async (records) => {
        if (isBroken) throw new Error('the service is set up wrongly');
        handled.push(...records.map(({ position }) => position));
      },
      {
        signal: AbortSignal.timeout(5000),
        log: () => undefined,
        backoff: { firstMs: 1, maxMs: 5 },
        park: async ({ position }) => {
          if (isBroken) {
            isBroken = false;
            throw new Error('nothing can be stored now');
          }
          parked.push(position);
        },
      },
    );
    expect({ handled, parked }).toEqual({ handled: [1, 2], parked: [] });
  });
});
