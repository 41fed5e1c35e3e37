import { describe, expect, it } from 'vitest';
import { handingOverTable } from './scale.js';

const round = (api: number, handedOver: number) => ({ full: { cpu: { api, postgres: 50 }, handedOver } });
const rowsOf = (table: string): string[][] =>
  table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('the table of what handing over costs', () => {
  it('says what the processes take beyond one alone with as many lanes, for each that was handed over', () => {
    const found = {
      '2 lanes, 1 api': [round(100, 0), round(110, 0), round(130, 0)],
      '2 lanes, 2 api': [round(160, 50)],
      '8 lanes, 1 api': [round(200, 0)],
      '8 lanes, 4 api': [round(350, 75)],
    };
    expect(rowsOf(handingOverTable(found))).toEqual([
      ['2 lanes, 1 api', '0.0', '–', '–'],
      ['2 lanes, 2 api', '50.0', '50', '100'],
      ['8 lanes, 1 api', '0.0', '–', '–'],
      ['8 lanes, 4 api', '75.0', '150', '200'],
    ]);
  });

  it('says the share alone where one process was not measured, and no cost where nothing was handed over', () => {
    expect(rowsOf(handingOverTable({ '2 lanes, 2 api': [round(160, 40)] }))).toEqual([
      ['2 lanes, 2 api', '40.0', '–', '–'],
    ]);
    const idle = { '2 lanes, 1 api': [round(100, 0)], '2 lanes, 2 api': [round(160, 0)] };
    expect(rowsOf(handingOverTable(idle))[1]).toEqual(['2 lanes, 2 api', '0.0', '60', '–']);
  });
});
