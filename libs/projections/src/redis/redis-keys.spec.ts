import { GLOBAL_SCOPE, GUILDS_SCOPE, NEVER_USED_SCOPE, patchScopeOf } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import type { RankList } from '../ranks/rank-projection.js';
import {
  counterKey,
  entriesKey,
  generationOfKey,
  isOurKey,
  nameOfShard,
  shardOfCounter,
  sketchKey,
  snapshotKey,
} from './redis-keys.js';

const listOf = (scope: number) => ({ boardUid: 5, windowUid: 70, scope, generation: 3 }) as RankList;

describe.each([
  ['everybody', GLOBAL_SCOPE],
  ['guilds', GUILDS_SCOPE],
  ['a region', 812],
  ['a scope that nothing was ranked in', NEVER_USED_SCOPE],
  ['a patch', patchScopeOf(12)],
])('the keys of the list of %s', (_, scope) => {
  const list = listOf(scope);

  it('are known as ours, with those that come with it', () => {
    const keys = [entriesKey(list, 2), counterKey(list, 2), snapshotKey(list), sketchKey(list)];
    expect(keys.map(isOurKey)).toEqual(keys.map(() => true));
  });

  it('say which board, scope and generation they are of', () => {
    expect(generationOfKey(entriesKey(list, 2))).toEqual({ boardUid: 5, scope, generation: 3 });
  });

  it('say by the counter which shard they are of', () => {
    expect(shardOfCounter(`prefix:${counterKey(list, 2)}`)).toBe(nameOfShard(list, 2));
  });
});

it('keys of others are not ours', () => {
  expect(['{user:7}', '{-}', 'ladder', 'session:1'].map(isOurKey)).toEqual([false, false, false, false]);
  expect(generationOfKey('{5.70.0}:s')).toBeNull();
});
