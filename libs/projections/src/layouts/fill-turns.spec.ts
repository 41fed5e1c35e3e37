import { GLOBAL_SCOPE, withBoardDefaults } from '@laddercast/domain';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { rankListOf, type ProjectedChange, type RankProjection } from '../ranks/rank-projection.js';
import type { ShardChanges } from '../ranks/changes-by-shard.js';
import { FillTurns } from './fill-turns.js';

const layout = {
  generation: 2,
  sharding: { by: 'hash' as const, count: 4 },
  dense: false,
  indexBuckets: 256,
  versions: { base: 0, floor: 0 },
};
const definition = withBoardDefaults({ order: 'desc', operator: 'best' });
const board = { uid: 1, definition, layouts: { serving: layout, opening: null, retiring: null } };
const list = rankListOf(board, 1, GLOBAL_SCOPE);

const changesOf = (shard: number, count: number): ShardChanges => ({
  list,
  shard,
  changes: Array.from({ length: count }, (_, at) => ({ playerId: `p${shard}-${at}`, version: at, key: null })),
  keepUntilMs: null,
});

/** Keeps what it is called with, and answers when it is told to. */
class HeldProjection implements Pick<RankProjection, 'apply'> {
  readonly calls: { shard: number; changes: ProjectedChange[] }[] = [];
  private readonly held: ((error?: Error) => void)[] = [];

  apply(_list: unknown, shard: number, changes: ProjectedChange[]): Promise<number> {
    this.calls.push({ shard, changes });
    return new Promise((resolve, reject) => {
      this.held.push((error) => (error ? reject(error) : resolve(changes.length)));
    });
  }

  get underWay(): number {
    return this.held.length;
  }

  async answer(error?: Error): Promise<void> {
    this.held.shift()!(error);
    await nextTurn();
  }
}

describe('the turns of fillings', () => {
  it('write all rows of a shard in their order, and few by a call', async () => {
    const projection = new HeldProjection();
    const given = changesOf(0, 1000);
    const writing = new FillTurns(projection).write(given, null);
    await nextTurn();
    while (projection.underWay > 0) await projection.answer();
    expect(await writing).toBe(1000);
    expect(projection.calls.flatMap(({ changes }) => changes)).toEqual(given.changes);
    expect(Math.max(...projection.calls.map(({ changes }) => changes.length))).toBeLessThanOrEqual(150);
  });

  it('have at most two calls under way, for all shards and boards together', async () => {
    const projection = new HeldProjection();
    const turns = new FillTurns(projection);
    const writings = [0, 1, 2, 3].map((shard) => turns.write(changesOf(shard, 400), null));
    await nextTurn();
    const underWay: number[] = [];
    while (projection.underWay > 0) {
      underWay.push(projection.underWay);
      await projection.answer();
    }
    expect(await Promise.all(writings)).toEqual([400, 400, 400, 400]);
    // Both: no third one, and not one after the other, but for the last.
    expect(underWay).toEqual([...underWay.slice(1).map(() => 2), 1]);
  });

  it('go on after a call that failed, and say that it did', async () => {
    const projection = new HeldProjection();
    const turns = new FillTurns(projection);
    const failing = turns.write(changesOf(0, 10), null);
    const other = turns.write(changesOf(1, 10), null);
    const later = turns.write(changesOf(2, 10), null);
    await nextTurn();
    const refused = expect(failing).rejects.toThrow('away');
    await projection.answer(new Error('away'));
    await refused;
    while (projection.underWay > 0) await projection.answer();
    expect(await Promise.all([other, later])).toEqual([10, 10]);
  });
});
