// Real: Redis or Valkey, the scripts, the steps of several processes that write to one list by ranges while it is lost and
// brought back, in any order of steps. Compared with a sorted array once all have ended.
import type { RankStyle } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RecoveryRun,
  RedisConnection,
  RedisRankProjection,
  type RankList,
} from '@laddercast/projections';
import { applyAll, expectedRows, SortedArrayOracle, type RankChange } from '@laddercast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyScenario, deliver, SETTLED_CHANGES } from './range-scenarios.js';
import { SteppedConnection, SteppedStore } from './redis-stepped-store.js';
import { Died, Turns } from './turns.js';

let store: SteppedStore;
let windowUid = 1;

beforeAll(async () => {
  store = await SteppedStore.open();
});
afterAll(() => store.close());

/** Parts of what it keeps can be lost by themselves. */
class ClusterConnection extends SteppedConnection {
  override get isCluster(): boolean {
    return true;
  }
}

/** The newest change of each player, as the ledger has them. */
function newestOf(history: readonly RankChange[]): RankChange[] {
  return [...new Map(history.map((change) => [change.playerId, change])).values()];
}

/** How the store loses the list and it is brought back. */
interface Loss {
  /** Steps of others before it. */
  after: number;
  /** The one shard that is lost, as a master of a cluster loses it; null: all. */
  shard: number | null;
  /** Steps after which one who brings it back dies; the last does not. */
  deaths: number[];
  isDense: boolean;
}

const anyLoss = fc.record<Loss>({
  after: fc.integer({ min: 0, max: 12 }),
  shard: fc.option(fc.nat({ max: 1 })),
  deaths: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 2 }),
  isDense: fc.boolean(),
});

/** Brings a list back as often as it takes. */
async function bringBack(
  connection: SteppedConnection,
  step: () => Promise<void>,
  list: RankList,
  history: readonly RankChange[],
  deaths: readonly number[],
): Promise<void> {
  for (const diesAtStep of [...deaths, Infinity]) {
    let steps = 0;
    connection.beforeStep = async () => {
      if (steps++ >= diesAtStep) throw new Died();
      await step();
    };
    const projection = new RedisRankProjection(connection);
    try {
      await applyAll(projection, list, newestOf(history), new RecoveryRun());
      await projection.removeStrays(list, null);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
  }
}

describe('a list by ranges that was lost', () => {
  it('is what the ledger has once it is brought back, whoever writes to it meanwhile or wrote before', async () => {
    const writers = await Promise.all([0, 1, 2].map(() => store.connected(new SteppedConnection({ url: store.url }))));
    const recovering = await store.connected(new ClusterConnection({ url: store.url }));
    const direct = await store.connected(new RedisConnection({ url: store.url }));
    const restored = { lists: 0 };
    await fc.assert(
      fc.asyncProperty(anyScenario(), anyLoss, async ({ ordering, boundaries, history, ...scenario }, loss) => {
        const list: RankList = {
          ...FIRST_GENERATION,
          boardUid: 10,
          windowUid: windowUid++,
          scope: 0,
          ordering,
          shards: boundaries.length + 1,
          boundaries,
          dense: loss.isDense,
        };
        const projection = new RedisRankProjection(direct);
        await applyAll(projection, list, history.slice(0, SETTLED_CHANGES));
        const turns = new Turns();
        for (const [at, deliveries] of scenario.writers.entries()) {
          turns.start(async () => {
            const writer = new RedisRankProjection(writers[at]!);
            for (const delivery of deliveries) await deliver(turns, writers[at]!, writer, list, history, delivery);
          });
        }
        turns.start(async () => {
          for (let step = 0; step < loss.after; step += 1) await turns.step('loss');
          const lost = await store.plain.keys(`{10.${list.windowUid}.0.${loss.shard ?? '*'}}*`);
          if (lost.length > 0) await store.plain.unlink(...lost);
          await bringBack(recovering, () => turns.step('recovery'), list, history, loss.deaths);
          restored.lists += 1;
        });
        let steps = 0;
        const choose = (count: number): number =>
          scenario.choices[steps++ % scenario.choices.length]! % Math.max(1, count);
        await turns.play(choose, async () => undefined);
        const oracle = new SortedArrayOracle(ordering);
        for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
        const styles: RankStyle[] = loss.isDense ? ['ordinal', 'dense'] : ['ordinal'];
        for (const style of styles) {
          const page = await projection.page(list, 0, 50, style);
          expect(page.entries, style).toEqual(expectedRows(list, oracle, 0, 50, style));
          expect(page.total).toBe(oracle.entries.length);
        }
        await projection.drop(list);
      }),
      { numRuns: Number(process.env['RANGE_RUNS'] ?? 60), endOnFailure: true },
    );
    expect(restored.lists).toBeGreaterThan(10);
  }, 300_000);

  it('counts no value that nobody has where a score replaces one of which only the lost index knew', async () => {
    const recovering = await store.connected(new ClusterConnection({ url: store.url }));
    const projection = new RedisRankProjection(recovering);
    const ordering: RankList['ordering'] = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
    const list: RankList = {
      ...{ ...FIRST_GENERATION, boardUid: 10, windowUid: windowUid++, scope: 0, ordering },
      ...{ shards: 3, boundaries: [-3, -1], dense: true },
    };
    // All stand in one shard, and are known in another: of the same time, a score has the same member as the one before.
    const change = (playerId: string, version: number, score: number): RankChange => ({
      ...{ playerId, version, values: { score, columns: [], achievedAtMs: 1000 } },
    });
    await applyAll(projection, list, [change('dee', 1, 6), change('bob', 2, 1)]);
    await store.plain.unlink(...(await store.plain.keys(`{10.${list.windowUid}.0.1}*`)));
    await applyAll(projection, list, [change('dee', 3, 4), change('bob', 2, 1)], new RecoveryRun());
    await projection.removeStrays(list, null);
    const { entries } = await projection.page(list, 0, 10, 'dense');
    expect(entries.map(({ rank, playerId }) => `${rank} ${playerId}`)).toEqual(['1 dee', '2 bob']);
    await projection.drop(list);
  });
});
