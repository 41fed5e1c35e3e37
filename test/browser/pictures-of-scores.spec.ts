import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Race {
  stops: { at: number; label: string; scores: Map<string, number> }[];
  isEven: boolean;
}
interface RaceModule {
  frameAt(
    race: Race & { order: string },
    part: number,
    limit: number,
  ): { label: string; rows: { playerId: string; score: number; rank: number }[] };
  raceOfWindows(lists: object[], options: { isSum: boolean; labelOf(window: { id: string }): string }): Race;
  raceOfHistories(histories: object[], options: { labelOf(time: number): string }): Race;
}
interface SpreadModule {
  countedIn(scores: number[]): { edges: number[]; counts: number[]; total: number } | null;
  binOf(edges: number[], score: number): number;
  spreadOf(
    reads: object,
    list: { order: string },
  ): Promise<{ edges: number[]; counts: number[]; isExact: boolean } | null>;
}
interface SpreadChartModule {
  spreadChart(spread: object, look: object): { words: string };
}
interface BumpModule {
  linesOf(lists: object[]): { name: string; values: (number | null)[] }[];
}

const { frameAt, raceOfWindows, raceOfHistories } = await pageModule<RaceModule>('charts/race-frames.js');
const { countedIn, binOf, spreadOf } = await pageModule<SpreadModule>('charts/spread.js');

const entry = (playerId: string, score: number, rank = 0) => ({ playerId, displayName: null, score, rank });
const rowsAt = (race: Race, part: number, order = 'desc', limit = 10) =>
  frameAt({ ...race, order }, part, limit).rows.map(({ playerId, score, rank }) => [rank, playerId, score]);

describe('the race', () => {
  const lists = [
    { window: { id: 'one' }, entries: [entry('ada', 10), entry('bob', 4)] },
    { window: { id: 'two' }, entries: [entry('bob', 20), entry('cy', 1)] },
  ];
  const labelOf = ({ id }: { id: string }) => id;

  it('adds up what windows added, evenly between their ends', () => {
    const race = raceOfWindows(lists, { isSum: true, labelOf });
    expect(rowsAt(race, 0.25)).toEqual([
      [1, 'ada', 5],
      [2, 'bob', 2],
    ]);
    expect(rowsAt(race, 0.5)).toEqual([
      [1, 'ada', 10],
      [2, 'bob', 4],
    ]);
    expect(rowsAt(race, 1)).toEqual([
      [1, 'bob', 24],
      [2, 'ada', 10],
      [3, 'cy', 1],
    ]);
    expect(frameAt({ ...race, order: 'desc' }, 0.75, 10).label).toBe('two');
  });

  it('shows each window alone where scores do not add up', () => {
    const race = raceOfWindows(lists, { isSum: false, labelOf });
    expect(rowsAt(race, 0, 'asc')).toEqual([
      [1, 'bob', 4],
      [2, 'ada', 10],
    ]);
    expect(rowsAt(race, 1, 'desc', 1)).toEqual([[1, 'bob', 20]]);
  });

  it('follows what was recorded, and knows nothing before it', () => {
    const histories = [
      { playerId: 'ada', points: [{ time: 0, score: 5 }] },
      {
        playerId: 'bob',
        points: [
          { time: 5, score: 1 },
          { time: 10, score: 9 },
        ],
      },
    ];
    const race = raceOfHistories(histories, { labelOf: String });
    expect(rowsAt(race, 0.4)).toEqual([[1, 'ada', 5]]);
    expect(rowsAt(race, 0.9)).toEqual([
      [1, 'ada', 5],
      [2, 'bob', 1],
    ]);
    expect(rowsAt(race, 1)[0]).toEqual([1, 'bob', 9]);
  });
});

describe('the spread of scores', () => {
  it('counts each score once, also the least and the best', () => {
    const scores = Array.from({ length: 300 }, (_, at) => (at * 37) % 101);
    const { edges, counts } = countedIn(scores)!;
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(300);
    expect(edges.every(Number.isInteger)).toBe(true);
    counts.forEach((count, at) => expect(scores.filter((score) => binOf(edges, score) === at)).toHaveLength(count));
  });

  it('has nothing to show of few scores, or of one score', () => {
    expect(countedIn([1, 2, 3])).toBeNull();
    expect(countedIn(Array<number>(50).fill(7))).toBeNull();
  });

  it('says how many have what most have, and not that most have it', async () => {
    const { spreadChart } = await pageModule<SpreadChartModule>('charts/spread.js');
    const spread = { edges: [0, 10, 20, 30], counts: [5, 8, 7], total: 20, isExact: true };
    const look = { scores: { brief: String, short: String }, mine: 12, name: 'Ada' };
    expect(spreadChart(spread, look).words).toBe('10 to 20 is most common: 8 of 20. Ada has 12.');
  });

  it.each(['desc', 'asc'])('finds the same by ranks where a list is long (%s)', async (order) => {
    const scores = Array.from({ length: 4000 }, (_, at) => Math.round(1000 * Math.sin(at) ** 2) + 0.5);
    const better = (a: number, b: number) => (order === 'asc' ? a <= b : a >= b);
    const reads = {
      entries: () => Promise.resolve({ entries: [{ score: 1 }], total: scores.length }),
      percentiles: () => Promise.resolve({ percentiles: [0.5, 10.25, 990.25, 1000.5].map((score) => ({ score })) }),
      rankOf: (_board: string, score: number) =>
        Promise.resolve({ rank: scores.filter((one) => better(one, score)).length + 1 }),
    };
    const { edges, counts, isExact } = (await spreadOf(reads, { order }))!;
    expect(isExact).toBe(false);
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(scores.length);
    const inside = (at: number) => scores.filter((one) => one > edges[at]! && one <= edges[at + 1]!).length;
    const off = counts.map((count, at) => Math.abs(count - inside(at)));
    expect(Math.max(...off.slice(1, -1))).toBeLessThanOrEqual(scores.length / 100);
  });
});

describe('the top ten over time', () => {
  it('has a line for each, with nothing where one was not among them, the strongest first', async () => {
    const { linesOf } = await pageModule<BumpModule>('charts/bump-lines.js');
    const lines = linesOf([{ entries: [entry('ada', 3, 1), entry('bob', 2, 2)] }, { entries: [entry('bob', 3, 1)] }]);
    expect(lines.map(({ name, values }) => [name, values])).toEqual([
      ['bob', [2, 1]],
      ['ada', [1, null]],
    ]);
  });
});
