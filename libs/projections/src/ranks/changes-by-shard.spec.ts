import { GLOBAL_SCOPE, GUILDS_SCOPE, shardOf, withBoardDefaults, type Layout } from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangesByShard, laterOf, type EntryInLists, type ShardChanges } from './changes-by-shard.js';
import type { BoardOfLists } from './rank-projection.js';

const layoutOf = (generation: number, count: number): Layout => ({
  generation,
  sharding: { by: 'hash', count },
  dense: false,
  indexBuckets: 256,
  versions: { base: 0, floor: 0 },
});

const board: BoardOfLists = {
  uid: 1,
  definition: withBoardDefaults({ order: 'desc', operator: 'best' }),
  layouts: { serving: layoutOf(1, 4), opening: layoutOf(2, 3), retiring: null },
};

const entryOf = (given: Partial<EntryInLists> = {}): EntryInLists => ({
  windowUid: 1,
  startsAtMs: null,
  endsAtMs: null,
  playerId: 'ada',
  version: 1,
  values: { score: 1, columns: [], achievedAtMs: 0 },
  scopes: [],
  leftScopes: [],
  isGuild: false,
  keepUntilMs: null,
  ...given,
});

async function written(entries: readonly EntryInLists[]): Promise<ShardChanges[]> {
  const changes = new ChangesByShard();
  for (const entry of entries) changes.add(board, entry);
  const calls: ShardChanges[] = [];
  await changes.apply((call) => Promise.resolve(calls.push(call)));
  return calls;
}

const nameOf = ({ list, shard }: ShardChanges): string => `${list.scope}/${list.generation}/${shard}`;

describe('changes of entries', () => {
  it('go to every generation: to their shard of the list of everybody, and to the one shard of each scope', async () => {
    const names = (await written([entryOf({ scopes: [7] })])).map(nameOf);
    expect(names.sort()).toEqual(
      [`${GLOBAL_SCOPE}/1/${shardOf('ada', 4)}`, `${GLOBAL_SCOPE}/2/${shardOf('ada', 3)}`, '7/1/0', '7/2/0'].sort(),
    );
  });

  it('of guilds go to the list of guilds, not to that of players', async () => {
    const scopes = (await written([entryOf({ isGuild: true })])).map(({ list }) => list.scope);
    expect(new Set(scopes)).toEqual(new Set([GUILDS_SCOPE]));
  });

  it('of a player who moved are put into the new scope before they are taken out of the old one', async () => {
    const moved = entryOf({ scopes: [7], leftScopes: [6] });
    const calls = (await written([moved])).filter(({ list }) => list.generation === 1 && list.scope !== GLOBAL_SCOPE);
    expect(calls.map(({ list, changes }) => [list.scope, changes[0]!.key !== null])).toEqual([
      [7, true],
      [6, false],
    ]);
  });

  it('are kept for as long as the latest of them says, null for ever', async () => {
    const [call] = await written([100, 300, 200].map((keepUntilMs) => entryOf({ keepUntilMs })));
    expect(call!.keepUntilMs).toBe(300);
    expect([laterOf(null, 5), laterOf(5, null), laterOf(4, 5)]).toEqual([null, null, 5]);
  });

  it('are counted once each, however many parts they are written in', async () => {
    const changes = new ChangesByShard();
    // More lists than are written side by side.
    for (let scope = 10; scope < 210; scope += 1) changes.add(board, entryOf({ scopes: [scope] }));
    let [running, most] = [0, 0];
    const newer = await changes.apply(async ({ changes: { length } }) => {
      most = Math.max(most, (running += 1));
      await Promise.resolve();
      running -= 1;
      return length;
    });
    expect(newer).toBe(200 * 4);
    expect(most).toBeLessThanOrEqual(64);
  });
});

const SCOPES = [5, 6, 7];

describe('any history', () => {
  it('leaves each list, in each generation, with the newest that was said of each player', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            playerId: fc.constantFrom('ada', 'bob', 'cyd'),
            windowUid: fc.constantFrom(1, 2),
            isThere: fc.boolean(),
            /** Of each scope: ranks it, left it, or neither. */
            scopes: fc.tuple(...SCOPES.map(() => fc.constantFrom('in', 'left', 'none'))),
          }),
          { minLength: 1, maxLength: 30 },
        ),
        fc.func(fc.nat()),
        async (history, orderOf) => {
          const entries = history.map(({ playerId, windowUid, isThere, scopes }, at) =>
            entryOf({
              playerId,
              windowUid,
              version: at + 1,
              values: isThere ? { score: at, columns: [], achievedAtMs: 0 } : null,
              scopes: SCOPES.filter((_, index) => scopes[index] === 'in'),
              leftScopes: SCOPES.filter((_, index) => scopes[index] === 'left'),
            }),
          );
          const expected = new Map<string, { version: number; isThere: boolean }>();
          for (const { windowUid, playerId, version, values, scopes, leftScopes } of entries) {
            for (const generation of [1, 2]) {
              const say = (scope: number, isThere: boolean) =>
                expected.set(`${windowUid}/${scope}/${generation}/${playerId}`, { version, isThere });
              for (const scope of [GLOBAL_SCOPE, ...scopes]) say(scope, values !== null);
              for (const scope of leftScopes) say(scope, false);
            }
          }

          const lists = new Map<string, { version: number; isThere: boolean }>();
          const shuffled = [...entries].sort((a, b) => orderOf(a.version) - orderOf(b.version));
          for (const { list, shard, changes } of await written(shuffled)) {
            for (const { playerId, version, key } of changes) {
              expect(shard).toBe(shardOf(playerId, list.shards));
              const name = `${list.windowUid}/${list.scope}/${list.generation}/${playerId}`;
              // As the shards do: what is not newer changes nothing.
              if ((lists.get(name)?.version ?? 0) < version) lists.set(name, { version, isThere: key !== null });
            }
          }
          expect(lists).toEqual(expected);
        },
      ),
    ));
});
