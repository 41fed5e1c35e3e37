// Real: Redis or Valkey with lists large enough for ties in masses and deep pages.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstLayouts, withBoardDefaults, type BoardOrdering } from '@laddercast/domain';
import {
  FIRST_GENERATION,
  RedisConnection,
  RedisRankProjection,
  rankListOf,
  type RankList,
} from '@laddercast/projections';
import { applyAll, expectedRows, projectedChange, SortedArrayOracle, type RankChange } from '@laddercast/testing';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis } from '../nodes/redis-process.js';
import { openCountedRedis, type CountingConnection } from './counted-redis.js';

let redis: CountingConnection;
let plain: Redis;
let projection: RedisRankProjection;
let windowUid = 1;

let close: () => Promise<void>;

beforeAll(async () => {
  ({ redis, plain, close } = await openCountedRedis());
  projection = new RedisRankProjection(redis);
});

afterAll(() => close());

const byTime: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };
const listOf = (shards: number, ordering = byTime): RankList => ({
  boardUid: 5,
  windowUid: windowUid++,
  scope: 0,
  ordering,
  shards,
  ...FIRST_GENERATION,
});

/** Entries on few scores, their times a permutation. */
function tiedHistory(count: number, scores: number): RankChange[] {
  return Array.from({ length: count }, (_, at) => ({
    playerId: `player-${at}`,
    version: at + 1,
    values: { score: (at * 7919) % scores, columns: [], achievedAtMs: 1000 + ((at * 104_729) % count) },
  }));
}

function oracleOf(history: readonly RankChange[], ordering = byTime): SortedArrayOracle {
  const oracle = new SortedArrayOracle(ordering);
  for (const { playerId, version, values } of history) oracle.apply(playerId, version, values);
  return oracle;
}

describe('a large list', () => {
  it.each([1, 2, 5])('gives deep pages, neighbours and ranks among masses of ties (%i shards)', async (shards) => {
    const list = listOf(shards);
    const history = tiedHistory(6000, 3);
    await applyAll(projection, list, history);
    const oracle = oracleOf(history);
    for (const offset of [0, 255, 256, 300, 1999, 2000, 2001, 3777, 5900, 5990, 5999, 6000, 9000]) {
      redis.trips = 0;
      const { entries } = await projection.page(list, offset, 20, 'ordinal');
      expect(entries).toEqual(expectedRows(list, oracle, offset, offset + 20, 'ordinal'));
      expect(redis.trips).toBeLessThanOrEqual(shards === 1 ? 1 : 30);
    }
    for (const index of [0, 1, 1999, 2000, 4321, 5999]) {
      const { playerId } = oracle.entries[index]!;
      for (const style of ['ordinal', 'competition'] as const) {
        redis.trips = 0;
        const { entry, neighbours } = await projection.player(list, playerId, 5, 5, style);
        expect(entry!.rank).toBe(oracle.rankAt(index, style));
        expect(neighbours).toEqual(expectedRows(list, oracle, Math.max(0, index - 5), index + 6, style));
        expect(redis.trips).toBeLessThanOrEqual(shards === 1 ? 1 : 3);
      }
    }
  });

  it('finds deep pages when one shard holds nearly everything', async () => {
    const list = listOf(4);
    const candidates = tiedHistory(9000, 40);
    const { shardOf } = await import('@laddercast/domain');
    const history = candidates.filter(({ playerId }, at) => shardOf(playerId, 4) === 2 || at % 50 === 0);
    await applyAll(projection, list, history);
    const oracle = oracleOf(history);
    for (const offset of [300, 1000, 1500, oracle.entries.length - 10]) {
      redis.trips = 0;
      const { entries } = await projection.page(list, offset, 10, 'ordinal');
      expect(entries).toEqual(expectedRows(list, oracle, offset, offset + 10, 'ordinal'));
      expect(redis.trips).toBeLessThanOrEqual(60);
    }
  });

  it('lists no player twice while entries move under a deep page', async () => {
    const list = listOf(3);
    const history = tiedHistory(3000, 100);
    await applyAll(projection, list, history);
    const writer = new RedisConnection({ url: plainUrl(), commandTimeoutMs: 10_000 });
    await writer.connect();
    let writing = true;
    const writes = (async () => {
      for (let version = 10_000; writing; version += 200) {
        const moved = Array.from({ length: 200 }, (_, at) => ({
          playerId: `player-${(version * 31 + at * 13) % 3000}`,
          version: version + at,
          values: at % 9 === 0 ? null : { score: (version + at * 17) % 100, columns: [], achievedAtMs: at },
        }));
        await applyAll(new RedisRankProjection(writer), list, moved);
      }
    })();
    for (let read = 0; read < 60; read += 1) {
      const offset = 300 + read * 40;
      redis.trips = 0;
      const { entries } = await projection.page(list, offset, 50, 'ordinal');
      expect(new Set(entries.map(({ playerId }) => playerId)).size).toBe(entries.length);
      expect(entries.map(({ rank }) => rank)).toEqual(entries.map((_, at) => offset + at + 1));
      expect(redis.trips).toBeLessThan(270);
    }
    writing = false;
    await writes;
    await writer.close();
  });
});

describe('the keys of a list', () => {
  it('keep the index in listpacks, with four columns and the longest values', async () => {
    const ordering: BoardOrdering = {
      ...byTime,
      columns: ['a', 'b', 'c', 'd'].map((name) => ({ name, order: 'asc' as const })),
    };
    const list = listOf(1, ordering);
    const columns = [1.5, -2.5, 1e300, 4];
    const history = tiedHistory(3000, 10).map((change) => ({
      ...change,
      version: 2 ** 50 + change.version,
      values: { ...change.values!, score: change.values!.score + 1 / 3, columns },
    }));
    await applyAll(projection, list, history);
    const buckets = await plain.keys(`{5.${list.windowUid}.0.0}1:i:*`);
    expect(buckets.length).toBe(256);
    for (const bucket of buckets.slice(0, 20)) {
      expect(await plain.object('ENCODING', bucket)).toBe('listpack');
      for (const value of await plain.hvalsBuffer(bucket)) expect(value.length).toBe(54);
    }
  });

  it('are few for a scope, so that a small list is small', async () => {
    const definition = withBoardDefaults({ order: 'desc', operator: 'best' });
    const { indexBuckets } = rankListOf({ uid: 5, definition, layouts: firstLayouts(definition) }, 1, 16);
    const list = { ...listOf(1), scope: 16, indexBuckets };
    await applyAll(projection, list, tiedHistory(3000, 10));
    const keys = await plain.keys(`{5.${list.windowUid}.16.0}*`);
    expect(keys).toHaveLength(19);
    for (const key of keys.filter((key) => key.includes(':i:')))
      expect(await plain.object('ENCODING', key)).toBe('listpack');
    await projection.drop(list);
    expect(await plain.keys(`{5.${list.windowUid}.16.0}*`)).toEqual([]);
  });

  it('all get the expiry of the window, and a later one when it is kept for longer', async () => {
    const list = listOf(1);
    const [first, second, third] = tiedHistory(3, 3).map((change) => projectedChange(byTime, change));
    const soon = Date.now() + 100_000;
    await projection.apply(list, 0, [first!], soon);
    await projection.apply(list, 0, [second!], soon + 50_000);
    // An older change that is delivered again says the earlier time: nothing gets shorter.
    await projection.apply(list, 0, [third!, first!], soon);
    const keys = await plain.keys(`{5.${list.windowUid}.0.0}*`);
    expect(keys.length).toBeGreaterThan(3);
    for (const key of keys) expect(await plain.pexpiretime(key)).toBe(soon + 50_000);
  });

  it('are all gone after a drop', async () => {
    const list = listOf(3);
    await applyAll(projection, list, tiedHistory(500, 5));
    await projection.drop(list);
    expect(await plain.keys(`{5.${list.windowUid}.*`)).toEqual([]);
  });
});

describe('a server that sorts text by a locale', () => {
  it('orders ids by their bytes all the same', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ladder-locale-'));
    const server = await startRedis({ env: localeEnvironment(folder) });
    const connection = new RedisConnection({ url: server.url, commandTimeoutMs: 10_000 });
    try {
      await connection.connect();
      const list = listOf(2, { ...byTime, tiebreak: 'none' });
      const ids = [
        'a',
        'B',
        'b',
        'A',
        '_',
        'Z',
        'z',
        'ä',
        'é',
        'e',
        'E',
        'aB',
        'Ab',
        'a b',
        'a-b',
        '-',
        '1',
        '😀',
        'ｚ',
      ];
      const values = { score: 1, columns: [], achievedAtMs: 1 };
      const history = ids.map((playerId, at) => ({ playerId, version: at + 1, values }));
      const elsewhere = new RedisRankProjection(connection);
      await applyAll(elsewhere, list, history);
      const oracle = oracleOf(history, list.ordering);
      for (const [index, { playerId }] of oracle.entries.entries()) {
        const { entry, neighbours } = await elsewhere.player(list, playerId, 2, 2, 'ordinal');
        expect(entry!.rank).toBe(index + 1);
        expect(neighbours).toEqual(expectedRows(list, oracle, Math.max(0, index - 2), index + 3, 'ordinal'));
        const after = projectedChange(list.ordering, { playerId, version: 1, values }).key!;
        expect(await elsewhere.rankOfKey(list, after, 'ordinal')).toMatchObject({ rank: index + 1 });
      }
    } finally {
      await connection.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function plainUrl(): string {
  const { host, port, password } = plain.options;
  return `redis://${password ? `:${encodeURIComponent(password)}@` : ''}${host}:${port}`;
}

/** en_US where this machine has it or can compile it: there "a" < "B" holds. Else C.UTF-8, which sorts by bytes. */
function localeEnvironment(folder: string): Record<string, string> {
  if (existsSync('/usr/share/i18n/locales/en_US')) {
    try {
      execFileSync('localedef', ['-i', 'en_US', '-f', 'UTF-8', join(folder, 'en_US.UTF-8')], { stdio: 'ignore' });
      return { LC_ALL: 'en_US.UTF-8', LOCPATH: folder };
    } catch {
      // No compiler of locales: what the system has must do.
    }
  }
  const known = execFileSync('locale', ['-a'], { encoding: 'utf8' });
  return { LC_ALL: /^en_US\.utf-?8$/im.test(known) ? 'en_US.UTF-8' : 'C.UTF-8' };
}
