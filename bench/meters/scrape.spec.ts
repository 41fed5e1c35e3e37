import { describe, expect, it } from 'vitest';
import { askedBetween, meanBetween, sumsOf } from './scrape.js';

const before = sumsOf('# HELP x y\nladdercast_redis_seconds_count{call="apply"} 3\nsize_sum 5\nsize_count 5\n');
const after = sumsOf(
  'laddercast_redis_seconds_count{call="apply"} 13\nladdercast_redis_seconds_count{call="read {x}"} 10\nsize_sum 65\nsize_count 7\n',
);

describe('metrics that the benchmark reads', () => {
  it('are added over their labels', () => {
    expect(after.get('laddercast_redis_seconds_count')).toBe(23);
  });

  it('say how much each request asked for, and the mean of what was observed meanwhile', () => {
    expect(askedBetween(before, after, 10)).toEqual({ redis: 2, postgres: 0 });
    expect(meanBetween(before, after, 'size')).toBe(30);
    expect(meanBetween(after, after, 'size')).toBeNull();
  });
});
