import { describe, expect, it } from 'vitest';
import { lineFormatOf, type ExportedRow } from './export-lines.js';

const ROW: ExportedRow = {
  rank: 2,
  ordinal: 3,
  playerId: 'ada',
  displayName: null,
  score: 0.1 + 0.2,
  columns: [1e21, -0],
  achievedAt: '2026-11-20T18:00:00.000Z',
  scopes: ['guild:a,b', 'region:EU'],
  metadata: '{"x":"\\u2028"}',
};
const COLUMNS = [
  { name: 'moves', order: 'asc' as const },
  { name: 'score', order: 'desc' as const },
];

describe('lines of an export', () => {
  const csv = lineFormatOf('csv', COLUMNS);

  it('start a CSV with a header of unique names', () => {
    const header = 'rank,ordinal,playerId,displayName,score,columns.moves,columns.score,achievedAt,scopes,metadata\r\n';
    expect(csv.head).toBe(header);
  });

  it('write a number into CSV as the shortest text that reads back as the same double', () => {
    expect(csv.line(ROW)).toBe(
      '2,3,ada,,0.30000000000000004,1e+21,0,2026-11-20T18:00:00.000Z,"[""guild:a,b"",""region:EU""]","{""x"":""\\u2028""}"\r\n',
    );
    expect(csv.line({ ...ROW, metadata: null })).toMatch(/,\r\n$/);
  });

  it.each([
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' spaced', '" spaced"'],
    ['=1+1', '=1+1'],
    ['São 😀', 'São 😀'],
  ])('quote %j in CSV where RFC 4180 wants it, and change nothing else', (text, field) => {
    expect(csv.line({ ...ROW, playerId: text })).toMatch(new RegExp(`^2,3,${field.replace(/[+]/g, '\\+')},`));
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['=1,"2"', `"'=1,""2"""`],
    ["'=1", "'=1"],
    ['a=1', 'a=1'],
    [' =1', '" =1"'],
  ])('have with the guard a quote before text that a spreadsheet takes for a formula: %j', (text, field) => {
    const { line } = lineFormatOf('csv', COLUMNS, 'formulas');
    expect(line({ ...ROW, playerId: text, displayName: text })).toBe(
      csv.line(ROW).replace('2,3,ada,,', () => `2,3,${field},${field},`),
    );
  });

  it('leave numbers as they are when formulas are guarded', () => {
    const guarded = lineFormatOf('csv', COLUMNS, 'formulas');
    const row = { ...ROW, score: -5e-324, columns: [-1, -1e300] };
    expect(guarded.line(row)).toBe(csv.line(row));
    expect(guarded.head).toBe(csv.head);
  });

  it('end with what is said of runs, on boards that keep them', () => {
    const proof = 'https://replays.example/?a,"b"';
    const row = { ...ROW, verified: false, proof };
    const { head, line } = lineFormatOf('csv', COLUMNS, undefined, ['verified', 'proof']);
    expect(head).toBe(csv.head.replace('\r\n', ',verified,proof\r\n'));
    const before = csv.line(ROW).replace('\r\n', '');
    expect(line(row)).toBe(`${before},false,"https://replays.example/?a,""b"""\r\n`);
    expect(line({ ...row, verified: true, proof: null })).toBe(`${before},true,\r\n`);
    expect(JSON.parse(lineFormatOf('ndjson', COLUMNS).line(row))).toMatchObject({ verified: false, proof });
  });

  it('are one object each in NDJSON, with columns by name', () => {
    const { head, line } = lineFormatOf('ndjson', COLUMNS);
    expect(head).toBe('');
    expect(line(ROW)).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(line(ROW))).toEqual({ ...ROW, columns: { moves: 1e21, score: 0 }, metadata: { x: '\u2028' } });
  });
});
