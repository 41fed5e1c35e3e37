import { withBoardDefaults, withIntegrityDefaults, type BoardDefinition } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { differsInScopes, differsInWindows, keepsEntries, refusalOfChange } from './board-changes.js';

const FROM = withBoardDefaults({ order: 'desc', operator: 'best', windows: ['alltime', 'daily'] });
const to = (given: Partial<BoardDefinition>): BoardDefinition => ({ ...FROM, ...given });

/** A change of every option, and whether a board that has entries may take it. */
const CHANGES: { [Option in keyof Required<BoardDefinition>]: [BoardDefinition[Option], boolean] } = {
  title: ['Blitz', true],
  order: ['asc', false],
  operator: ['latest', false],
  tiebreak: ['latest', false],
  columns: [[{ name: 'moves', order: 'asc' }], false],
  rankStyle: ['dense', true],
  windows: [['alltime', 'weekly'], true],
  timeZone: ['Europe/Berlin', true],
  scopes: [['global', 'region'], true],
  sharding: [{ by: 'hash', count: 8 }, true],
  dense: [true, true],
  limits: [{ ...FROM.limits, entriesMax: 10 }, true],
  graceSeconds: [600, true],
  keepEndedSeconds: [100_000, false],
  snapshot: [{ ...FROM.snapshot, top: 10 }, true],
  retention: [{ standingsDays: 3 }, true],
  push: [{ intervalMs: 250, top: 10 }, true],
  history: [{ everyMinutes: 60, keepDays: 3 }, true],
  change: [true, true],
  format: [{ ...FROM.format, decimals: 2 }, true],
  guildAggregate: [{ kind: 'average', k: null, onLeave: 'keep' }, true],
  submitters: ['players', false],
  submissionOperators: [['sum', 'set'], true],
  clientTime: [true, true],
  integrity: [withIntegrityDefaults({ rate: {} }), true],
  visibility: ['private', true],
  runs: [{ keepDays: 30 }, true],
  entriesPer: ['run', false],
  entriesPerPlayerMax: [5, false],
  proof: ['everyone', true],
  counts: ['verified', true],
  decay: [{ family: 'eu4', perPatch: 0.1 }, false],
};

describe('a board that has entries', () => {
  it.each(Object.entries(CHANGES))('takes or refuses a change of %s', (option, [value, isTaken]) => {
    const changed = to({ [option]: value });
    expect(changed).not.toEqual(FROM);
    expect(keepsEntries(FROM, changed)).toBe(isTaken);
    // What is refused says which option it is about.
    if (!isTaken) expect(refusalOfChange(FROM, changed).detail).toContain(option);
  });

  it.each([
    ['takes the same windows in another order', ['daily', 'alltime'], true],
    ['lets windows go that end', ['alltime'], true],
    ['takes a rolling window, which fills itself', ['alltime', 'daily', { rolling: '24h' }], true],
    ['keeps its window over all time', ['daily'], false],
  ] as const)('%s', (_what, windows, isTaken) => {
    expect(keepsEntries(FROM, to({ windows: [...windows] }))).toBe(isTaken);
  });

  it('keeps runs from its first one on where a window of it rolls', () => {
    const rolling = to({ windows: ['daily', { rolling: '24h' }] });
    const keeping = { ...rolling, runs: { keepDays: 30 } };
    expect(keepsEntries(rolling, keeping)).toBe(false);
    expect(refusalOfChange(rolling, keeping)).toMatchObject({ code: 'BOARD_NOT_EMPTY' });
    expect(keepsEntries(keeping, { ...keeping, runs: { keepDays: 40 } })).toBe(true);
    expect(keepsEntries(keeping, rolling)).toBe(true);
  });

  it('keeps its rolling windows, and takes no window over all time that would lack what came before', () => {
    const rolling = to({ windows: ['daily', { rolling: '24h' }] });
    expect(keepsEntries(rolling, to({ windows: ['daily'] }))).toBe(false);
    expect(keepsEntries(rolling, to({ windows: ['daily', { rolling: '48h' }] }))).toBe(false);
    expect(keepsEntries(rolling, to({ windows: ['alltime', 'daily', { rolling: '24h' }] }))).toBe(false);
    expect(refusalOfChange(rolling, to({ windows: ['daily'] })).detail).toContain('rolling:24h');
  });

  it('does not keep ended windows for longer, by grace either', () => {
    const graceSeconds = FROM.keepEndedSeconds + 1;
    expect(keepsEntries(FROM, to({ graceSeconds: FROM.keepEndedSeconds }))).toBe(true);
    expect(keepsEntries(FROM, to({ graceSeconds }))).toBe(false);
    expect(refusalOfChange(FROM, to({ graceSeconds }))).toMatchObject({
      code: 'NOT_SUPPORTED',
      detail: expect.stringContaining('graceSeconds') as string,
    });
  });
});

describe('what a change is followed by', () => {
  it('new windows where windows or their zone change, entries written anew where scopes or guilds do', () => {
    const followed = Object.entries(CHANGES).map(([option, [value]]) => {
      const changed = to({ [option]: value });
      return [option, differsInWindows(FROM, changed), differsInScopes(FROM, changed)];
    });
    expect(followed.filter(([, windows]) => windows).map(([option]) => option)).toEqual(['windows', 'timeZone']);
    expect(followed.filter(([, , scopes]) => scopes).map(([option]) => option)).toEqual(['scopes', 'guildAggregate']);
  });
});
