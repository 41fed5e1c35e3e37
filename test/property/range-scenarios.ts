import type { BoardOrdering } from '@laddercast/domain';
import type { RankList, RedisRankProjection } from '@laddercast/projections';
import { anyOrdering, applyAll, type RankChange } from '@laddercast/testing';
import fc from 'fast-check';
import type { SteppedConnection } from './redis-stepped-store.js';
import { Died, type Turns } from './turns.js';

export const PLAYERS = ['ada', 'bob', 'cy', 'dee'];
const SHARDS_MAX = 4;
/** Changes at the beginning of each history that are there before anything else happens. */
export const SETTLED_CHANGES = 4;

/** A part of the history that some process applies; it dies before its n-th step, or not. */
export interface Delivery {
  from: number;
  count: number;
  diesAtStep: number | null;
}

export interface Scenario {
  ordering: BoardOrdering;
  boundaries: number[];
  history: RankChange[];
  /** What each process does, one delivery after the other. */
  writers: Delivery[][];
  choices: number[];
}

/** Any history of few players over few shards, and parts of it for two or three writers. */
export const anyScenario = (): fc.Arbitrary<Scenario> =>
  fc.tuple(anyOrdering(), fc.integer({ min: 2, max: SHARDS_MAX })).chain(([ordering, shards]) => {
    const values = fc.record({
      score: fc.integer({ min: 0, max: 2 * shards }),
      columns: fc.constant(ordering.columns.map(() => 1)),
      achievedAtMs: fc.integer({ min: 1000, max: 1001 }),
    });
    const change = fc.tuple(fc.constantFrom(...PLAYERS), fc.option(values, { freq: 5 }));
    const delivery = fc.record({
      from: fc.integer({ min: SETTLED_CHANGES, max: 15 }),
      count: fc.integer({ min: 1, max: 4 }),
      diesAtStep: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 3 }),
    });
    const boundaries = Array.from({ length: shards - 1 }, (_, at) => 2 * at + 1);
    return fc.record({
      ordering: fc.constant(ordering),
      boundaries: fc.constant(
        ordering.order === 'asc' ? boundaries : boundaries.map((score) => -score).sort((a, b) => a - b),
      ),
      history: fc
        .array(change, { minLength: 8, maxLength: 16 })
        .map((changes) => changes.map(([playerId, values], at) => ({ playerId, version: at + 1, values }))),
      writers: fc.array(fc.array(delivery, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 3 }),
      choices: fc.array(fc.nat({ max: 60 }), { minLength: 40, maxLength: 200 }),
    });
  });

/** Applies a part of the history home by home, as a process does, until it dies. */
export async function deliver(
  turns: Turns,
  connection: SteppedConnection,
  projection: RedisRankProjection,
  list: RankList,
  history: readonly RankChange[],
  { from, count, diesAtStep }: Delivery,
): Promise<void> {
  let step = 0;
  connection.beforeStep = async () => {
    if (step++ === diesAtStep) throw new Died();
    await turns.step('writer');
  };
  const first = Math.max(SETTLED_CHANGES, from % history.length);
  const part = history.slice(first, first + count);
  try {
    await applyAll(projection, list, part);
  } catch (error) {
    if (!(error instanceof Died)) throw error;
  }
}
