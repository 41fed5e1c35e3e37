import { describe, expect, it } from 'vitest';
import { differences } from './board.mjs';
import { parseCsv, readMatches, tableOf } from './matches.mjs';
import { submissionsOf } from './replay.mjs';

const header = 'date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n';
const match = (home, away, homeScore, awayScore) =>
  `1990-01-01,${home},${away},${homeScore},${awayScore},Cup,X,Y,FALSE\n`;
const tableFrom = (...lines) => tableOf(readMatches(header + lines.join('')));
const short = (table) => table.map(({ rank, playerId, score }) => `${rank} ${playerId} ${score}`);

describe('the results file', () => {
  it('is read with quoted fields, commas and doubled quotes in them', () => {
    expect(parseCsv('a,"b, c","d ""e"""\r\n,x,\n')).toEqual([
      ['a', 'b, c', 'd "e"'],
      ['', 'x', ''],
    ]);
  });

  it('gives three points for a win, one for a draw, none for a defeat', () => {
    const [win, draw] = readMatches(header + match('A', 'B', 10, 9) + match('C', 'D', 0, 0));
    expect(win).toMatchObject({ row: 1, home: { team: 'A', points: 3 }, away: { team: 'B', points: 0 } });
    expect(draw).toMatchObject({ row: 2, home: { points: 1 }, away: { points: 1 } });
  });

  it('is refused with the row that has no result', () => {
    expect(() => readMatches(header + match('A', 'B', 'NA', 1))).toThrow(/Row 1/);
  });
});

describe('the table of the file', () => {
  it('orders equal points by the row that brought the last of them', () => {
    expect(short(tableFrom(match('B', 'X', 1, 0), match('A', 'Y', 1, 0)))).toEqual([
      '1 B 3',
      '2 A 3',
      '3 X 0',
      '4 Y 0',
    ]);
  });

  it('orders teams that drew with each other by the bytes of their names', () => {
    expect(short(tableFrom(match('Ynys', 'Åland', 1, 1)))).toEqual(['1 Ynys 1', '2 Åland 1']);
  });

  it('does not move a team later for a defeat', () => {
    const lines = [match('A', 'X', 1, 0), match('B', 'X', 1, 0), match('C', 'A', 1, 0)];
    expect(short(tableFrom(...lines))).toEqual(['1 A 3', '2 B 3', '3 C 3', '4 X 0']);
  });
});

describe('the submissions of a match', () => {
  const replay = { id: 'r1', startsAtMs: Date.UTC(2026, 0, 1) };

  it('are known by the row, because the same match occurs twice on one date', () => {
    const twice = readMatches(header + match('A', 'B', 1, 1) + match('A', 'B', 1, 1));
    const ids = twice
      .flatMap((each) => submissionsOf(each, { board: 'football', replay }))
      .map((each) => each.submissionId);
    expect(ids).toEqual(['r1-1-h', 'r1-1-a', 'r1-2-h', 'r1-2-a']);
  });

  it('count a millisecond per row after the start of the replay', () => {
    const [only] = readMatches(header + match('A', 'B', 2, 1));
    expect(submissionsOf(only, { board: 'football', replay })).toEqual([
      { board: 'football', submissionId: 'r1-1-h', playerId: 'A', score: 3, achievedAt: '2026-01-01T00:00:00.001Z' },
      { board: 'football', submissionId: 'r1-1-a', playerId: 'B', score: 0, achievedAt: '2026-01-01T00:00:00.001Z' },
    ]);
  });
});

describe('the comparison of two tables', () => {
  const table = tableFrom(match('A', 'B', 1, 0));

  it('finds nothing between equal ones', () => {
    expect(differences(table, structuredClone(table))).toEqual([]);
  });

  it('finds another order, other points, and a missing team', () => {
    expect(differences(table, [...table].reverse())).toHaveLength(2);
    expect(differences(table, [{ ...table[0], score: 2 }, table[1]])).toEqual([
      'place 1: the file says 1. A 3, the board 1. A 2',
    ]);
    expect(differences(table, table.slice(0, 1))).toEqual(['place 2: the file says 2. B 0, the board nobody']);
  });
});
