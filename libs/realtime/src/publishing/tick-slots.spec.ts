import { expect, it } from 'vitest';
import { slotOf, TICK_SLOTS } from './tick-slots.js';

it('lists that are made one after another are spread over all slots', () => {
  for (let start = 1; start <= 2000; start += 100) {
    const counts = new Array<number>(TICK_SLOTS).fill(0);
    for (let at = start; at < start + 160; at += 1)
      counts[slotOf({ boardUid: at, windowUid: at + 1000, scope: 0 })]! += 1;
    expect(Math.min(...counts), `from ${start}: ${counts.join()}`).toBeGreaterThanOrEqual(5);
    expect(Math.max(...counts), `from ${start}: ${counts.join()}`).toBeLessThanOrEqual(40);
  }
});
