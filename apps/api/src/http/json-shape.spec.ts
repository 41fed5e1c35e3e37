import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfShape, JSON_DEPTH_MAX } from './json-shape.js';

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('the shape of a body', () => {
  it('may be as deep as the most, and no deeper, wherever the depth stands', () => {
    expect(faultOfShape(nested(JSON_DEPTH_MAX), 1000)).toBeNull();
    const fault = { message: `is nested deeper than ${JSON_DEPTH_MAX}` };
    expect(faultOfShape(nested(JSON_DEPTH_MAX + 1), 1000)).toEqual({ pointer: '', ...fault });
    const body = `{"a":{"b":1},"x\\"/y" : {"z":${nested(JSON_DEPTH_MAX)}}}`;
    expect(faultOfShape(body, 1000)).toEqual({ pointer: '/x"~1y', ...fault });
  });

  it('does not take brackets and commas in texts for more than they are', () => {
    const text = JSON.stringify({ 'a[[[': `${'[{,'.repeat(1000)}\\`, b: '\\"[', c: '"'.repeat(50) });
    expect(faultOfShape(text, 10)).toBeNull();
  });

  it('may have as many values as the most', () => {
    expect(faultOfShape(`[${'1,'.repeat(8)}1]`, 9)).toBeNull();
    expect(faultOfShape(`[${'1,'.repeat(9)}1]`, 9)).toEqual({ pointer: '', message: 'has more than 9 values' });
    expect(faultOfShape('[[],[],[],[],[]]', 9)?.message).toBe('has more than 9 values');
  });

  it('leaves to the parser what is no JSON', () => {
    for (const text of ['', '"', '"\\', ']]]]', '{"a', '\\"', ':::']) expect(faultOfShape(text, 10)).toBeNull();
  });

  it('counts as deep as the values are', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.integer({ min: JSON_DEPTH_MAX - 4, max: JSON_DEPTH_MAX }),
        (value, around) => {
          const text = `${'['.repeat(around)}${JSON.stringify(value)}${']'.repeat(around)}`;
          expect(faultOfShape(text, 1e6) === null).toBe(around + depthOf(value) <= JSON_DEPTH_MAX);
        },
      ),
    );
  });

  it('is found in time that grows with the text alone', () => {
    const bombs = [
      '"\\\\'.repeat(700_000),
      `"${'\\'.repeat(2_000_000)}`,
      '\\"'.repeat(1_000_000),
      '{"a":'.repeat(400_000),
    ];
    const startedAt = performance.now();
    for (const bomb of bombs) faultOfShape(bomb, 1e9);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
