import { expect, it } from 'vitest';
import { perSecondOf } from './redis-floor.js';

it('reads the rate out of what redis-benchmark prints', () => {
  const csv = `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"ZADD floor:ranks __rand_int__ player-__rand_int__","186741.36","4.123","0.600","4.119","5.231","6.999","12.319"
`;
  expect(perSecondOf(csv)).toBe(186_741.36);
  expect(perSecondOf('Could not connect')).toBeNull();
});
