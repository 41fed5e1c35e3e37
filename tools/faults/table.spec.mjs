import { describe, expect, it } from 'vitest';
import { cellsOf, cellsOnPage, merged, parseRows, tableOf } from './table.mjs';

const row = { fault: '4 b', log: 'kafka', tried: 'one | two', answered: 12, lost: 0, doubled: 0, boards: 5 };
const whole = { ...row, spectators: 8, wholeAfterSeconds: 1, commit: 'abc' };

describe('the table of the fault tests', () => {
  it('lists the rows by fault, with columns of one width', () => {
    const lines = [{ ...row, fault: '10 d' }, row, { ...row, fault: '1 a' }].map((one) =>
      JSON.stringify({ ...one, spectators: 8, wholeAfterSeconds: 1.25, commit: 'abc' }),
    );
    const table = tableOf(cellsOf(parseRows(`${lines.join('\n')}\n`)))
      .trimEnd()
      .split('\n');
    expect(table).toHaveLength(5);
    expect(new Set(table.map((line) => line.length)).size).toBe(1);
    expect(table[4]).toMatch(/^\| 10 d /);
    expect(table[2]).toMatch(/^\| 1 a {3}\| kafka \| one \\\| two \| 12 /);
    expect(table[3]).toMatch(/^\| 4 b /);
    expect(table[3]).toMatch(/\| 1\.[23] +\| abc +\|$/);
  });

  it('tells once what was tried several times', () => {
    const table = tableOf(cellsOf([{ ...whole, tried: 'killed, paused, killed' }]));
    expect(table).toContain('| 2 × killed, paused |');
  });

  it('keeps the rows of what was not tried again, and none of what failed', () => {
    const before = cellsOf([whole, { ...whole, log: 'postgres' }, { ...whole, fault: '5 c' }]);
    expect(cellsOnPage(`# A page\n\nIts text.\n\n${tableOf(before)}`)).toEqual(before);
    const table = tableOf(
      merged(before, [
        { ...whole, tried: 'anew', commit: 'def' },
        { fault: '5 c', log: 'kafka', failed: true },
      ]),
    );
    expect(table.match(/^\| [45] .*$/gm)?.map((line) => [line.includes('anew'), line.includes('postgres')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('takes nothing from a table with other columns', () => {
    expect(cellsOnPage('| fault | log |\n| ----- | --- |\n| 1 a | kafka |\n')).toEqual([]);
  });
});
