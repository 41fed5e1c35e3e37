import { describe, expect, it } from 'vitest';
import { distinctScore, playerOf, scoreMax } from '../boards/entries.js';
import { rankTables } from './tables.js';

describe('the benchmark of ranks', () => {
  it('gives every player an id of twelve characters and a score of its own, evenly spread', () => {
    const players = Array.from({ length: 100_000 }, (_, number) => number);
    expect(new Set(players.map(distinctScore)).size).toBe(players.length);
    expect(new Set(players.map((number) => playerOf(number).length))).toEqual(new Set([12]));
    const inFirstTenth = players.filter((number) => distinctScore(number) < scoreMax / 10).length;
    expect(inFirstTenth / players.length).toBeCloseTo(0.1, 3);
  });

  it('shows what was measured, what was not, and how much ties cost', () => {
    const of = (ms: number) => ({ p50: ms, p99: 10 * ms });
    const text = rankTables({
      ...{ entries: 1_000_000, machine: '2 × cpu, 24 GiB', services: 'PostgreSQL 15, Valkey 9', commit: 'abc' },
      ...{ command: 'npm run bench -- ranks', node: '20' },
      layouts: {
        'hash-4': {
          ...{ bytesPerEntry: 117.81, rebuiltPerSecond: 50_123.4 },
          reads: {
            'exact rank': { service: of(1), plain: of(0.25) },
            'estimated rank': { service: null, plain: null },
          },
          writes: { ...of(5), cpu: { api: 180.4, redis: 22.6 }, tickMs: 1.234 },
        },
      },
      styles: {
        distinct: { ordinal: { plain: of(1) }, dense: { plain: null } },
        ties: { ordinal: { plain: of(3) }, dense: { plain: null } },
      },
      ping: of(0.01),
    });
    const rows = text.split('\n').map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .filter(Boolean)
        .join(' | '),
    );
    expect(rows).toContain('hash-4 | 117.8 | 50,123');
    expect(rows).toContain('hash-4 | exact rank | 1.00 ms | 10.00 ms | 0.25 ms | 2.50 ms');
    expect(rows).toContain('hash-4 | estimated rank | – | – | – | –');
    expect(rows).toContain('hash-4 | 5.00 ms | 50.00 ms | 180 | 23 | 1.23 ms');
    expect(rows).toContain('ordinal | 1.00 ms | 10.00 ms | 3.00 ms | 30.00 ms | 3.00');
    expect(rows).toContain('dense | – | – | – | – | –');
  });
});
