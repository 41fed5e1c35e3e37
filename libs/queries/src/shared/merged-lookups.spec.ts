import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MergedLookups } from './merged-lookups.js';

interface Row {
  id: string;
  of: string;
}
interface Query {
  of: string;
  ids: string[];
  answer: (rows: Row[]) => void;
  fail: () => void;
}

let queries: Query[];
let lookups: MergedLookups<string, Row>;

beforeEach(() => {
  queries = [];
  lookups = new MergedLookups(
    (of, ids) =>
      new Promise((resolve, reject) => {
        queries.push({ of, ids, answer: resolve, fail: () => reject(new Error('away')) });
      }),
    ({ id }) => id,
  );
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const rowsOf = (of: string, ids: readonly string[]): Row[] => ids.map((id) => ({ id, of }));
const idsOf = async (answer: Promise<ReadonlyMap<string, Row> | null>): Promise<string[]> => [
  ...(await answer)!.keys(),
];

describe('look-ups', () => {
  it('that arrive together share one query for each name, with each id once', async () => {
    const answers = [
      lookups.ask('a', 'A', ['1', '2']),
      lookups.ask('b', 'B', ['1']),
      lookups.ask('a', 'A', ['2', '3']),
    ];
    await turn();
    expect(queries.map(({ of, ids }) => [of, ids])).toEqual([
      ['A', ['1', '2', '3']],
      ['B', ['1']],
    ]);
    queries[0]!.answer(rowsOf('A', ['1', '3']));
    queries[1]!.answer(rowsOf('B', ['1']));
    expect(await Promise.all(answers.map(idsOf))).toEqual([['1', '3'], ['1'], ['1', '3']]);
  });

  it('never join a query that has begun; at most two queries run at a time', async () => {
    for (const id of ['1', '2', '3', '4']) {
      void lookups.ask('a', 'A', [id]);
      await turn();
    }
    expect(queries.map(({ ids }) => ids)).toEqual([['1'], ['2']]);
    queries[1]!.answer([]);
    await turn();
    expect(queries.map(({ ids }) => ids)).toEqual([['1'], ['2'], ['3', '4']]);
  });

  it('put at most a thousand ids into one query', async () => {
    const ids = (from: number): string[] => Array.from({ length: 400 }, (_, at) => String(from + at));
    for (const from of [0, 400, 800]) void lookups.ask('a', 'A', ids(from));
    await turn();
    expect(queries.map((query) => query.ids.length)).toEqual([800, 400]);
  });

  it('that fail give null, and do not affect later ones', async () => {
    const failed = lookups.ask('a', 'A', ['1']);
    await turn();
    queries[0]!.fail();
    expect(await failed).toBeNull();
    const next = lookups.ask('a', 'A', ['1']);
    await turn();
    queries[1]!.answer(rowsOf('A', ['1']));
    expect(await idsOf(next)).toEqual(['1']);
  });

  it('are not sent once nobody waits for them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const asked = [];
      for (const id of ['1', '2', '3']) {
        asked.push(lookups.ask('a', 'A', [id]));
        await turn();
      }
      await vi.advanceTimersByTimeAsync(600);
      expect(await Promise.all(asked)).toEqual([null, null, null]);
      for (const { answer } of queries.splice(0)) answer([]);
      await turn();
      expect(queries).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});
