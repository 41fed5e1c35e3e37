import { describe, expect, it } from 'vitest';
import { parseRows, tableOf } from './table.mjs';

const row = { fault: '4 b', log: 'kafka', tried: 'one | two', answered: 12, lost: 0, doubled: 0, boards: 5 };

describe('the table of the fault tests', () => {
  it('lists the rows by fault, with columns of one width', () => {
    const lines = [row, { ...row, fault: '1 a' }].map((one) =>
      JSON.stringify({ ...one, spectators: 8, wholeAfterSeconds: 1.25 }),
    );
    const table = tableOf(parseRows(`${lines.join('\n')}\n`))
      .trimEnd()
      .split('\n');
    expect(table).toHaveLength(4);
    expect(new Set(table.map((line) => line.length)).size).toBe(1);
    expect(table[2]).toMatch(/^\| 1 a {3}\| kafka \| one \\\| two \| 12 /);
    expect(table[3]).toMatch(/^\| 4 b /);
    expect(table[3]).toMatch(/\| 1\.[23] +\|$/);
  });

  it('tells once what was tried several times', () => {
    const table = tableOf([{ ...row, tried: 'killed, paused, killed', spectators: 8, wholeAfterSeconds: 1 }]);
    expect(table).toContain('| 2 × killed, paused |');
  });
});
