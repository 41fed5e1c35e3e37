// Real: nothing outside the process. PostgreSQL is a function that the test answers.
import { withBoardDefaults } from '@laddercast/domain';
import type { StandingsReader } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import type { ResolvedList } from './list-resolver.js';
import { PlayerCounts } from './player-counts.js';

const PER_RUN = withBoardDefaults({ order: 'desc', operator: 'best', runs: { keepDays: 30 }, entriesPer: 'run' });
const listOf = (windowUid: number, definition = PER_RUN): ResolvedList =>
  ({ board: { definition }, list: { windowUid, scope: 0 }, edition: null }) as unknown as ResolvedList;

interface Answer {
  promise: Promise<unknown>;
  resolve: (rows: unknown) => void;
  reject: (error: unknown) => void;
}

/** Counts whose statements wait until the test answers them. */
function countsOf(): { counts: PlayerCounts; asked: Answer[] } {
  const asked: Answer[] = [];
  const query = async <Row>(): Promise<Row[]> => {
    const answer = withResolvers();
    asked.push(answer);
    return (await answer.promise) as Row[];
  };
  const counts = new PlayerCounts({ query }, {} as StandingsReader);
  return { counts, asked };
}

function withResolvers(): Answer {
  let [resolve, reject] = [(_: unknown): void => undefined, (_: unknown): void => undefined];
  const promise = new Promise<unknown>((onAnswer, onFailure) => ([resolve, reject] = [onAnswer, onFailure]));
  return { promise, resolve, reject };
}

const playersOf = async (counts: PlayerCounts, list: ResolvedList): Promise<number | null | undefined> =>
  (await counts.counted(list)).players;

describe('the number of players of a list', () => {
  it('is asked for where each run is an entry alone', async () => {
    const { counts, asked } = countsOf();
    const ofPlayers = withBoardDefaults({ order: 'desc', operator: 'best' });
    expect(await playersOf(counts, listOf(1, ofPlayers))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('is counted once for all who ask at a time, and kept for a while', async () => {
    const { counts, asked } = countsOf();
    const both = Promise.all([playersOf(counts, listOf(1)), playersOf(counts, listOf(1))]);
    await expect.poll(() => asked.length).toBe(1);
    asked[0]!.resolve([{ players: 7 }]);
    expect(await both).toEqual([7, 7]);
    expect(await playersOf(counts, listOf(1))).toBe(7);
    expect(asked).toHaveLength(1);
  });

  it('is not known where it cannot be counted, and not asked for by each reader then', async () => {
    const { counts, asked } = countsOf();
    const first = playersOf(counts, listOf(1));
    await expect.poll(() => asked.length).toBe(1);
    asked[0]!.reject(new Error('away'));
    expect(await first).toBeNull();
    expect(await playersOf(counts, listOf(1))).toBeNull();
    expect(asked).toHaveLength(1);
  });

  it('is as it was last where counting takes too long, and new once it is counted', async () => {
    const { counts, asked } = countsOf();
    const slow = playersOf(counts, listOf(1));
    await expect.poll(() => asked.length).toBe(1);
    expect(await slow).toBeNull();
    asked[0]!.resolve([{ players: 9 }]);
    await expect.poll(() => playersOf(counts, listOf(1))).toBe(9);
    expect(asked).toHaveLength(1);
  });

  it('is counted in four lists at a time', async () => {
    const { counts, asked } = countsOf();
    const all = Promise.all([1, 2, 3, 4, 5].map((uid) => playersOf(counts, listOf(uid))));
    await expect.poll(() => asked.length).toBe(4);
    for (const one of asked) one.resolve([{ players: 1 }]);
    expect(await all).toEqual([1, 1, 1, 1, null]);
  });
});
