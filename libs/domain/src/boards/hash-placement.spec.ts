import { describe, expect, it } from 'vitest';
import { bucketOf, crc16, fnv1a, laneOf, shardOf } from './hash-placement.js';

const players = Array.from({ length: 20_000 }, (_, at) => `player-${at}`);

const countsOf = (numbers: readonly number[]): number[] => {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts.values()];
};

describe('the sums behind lanes, shards and buckets', () => {
  it.each([
    ['123456789', 0x31c3],
    ['', 0],
    ['foo', 44_950],
  ])('crc16 of %j is the one of Redis Cluster', (text, sum) => expect(crc16(text)).toBe(sum));

  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('fnv1a of %j is the published one', (text, sum) => expect(fnv1a(text)).toBe(sum));

  it('look at the bytes of UTF-8: composed and decomposed letters are different players', () => {
    expect(crc16('\u00e9')).not.toBe(crc16('e\u0301'));
    expect(crc16('\u00e9')).toBe(crc16(Buffer.from([0xc3, 0xa9]).toString()));
  });

  it.each(['jürgen', 'ada\u{1f600}', '\u{1f600}ada', 'a\u0080'])('of %j are those of its bytes, one by one', (text) => {
    const bytes = [...new TextEncoder().encode(text)];
    const shifted = (crc: number): number => ((crc << 1) ^ (crc & 0x8000 ? 0x11021 : 0)) & 0xffff;
    const eight = Array.from({ length: 8 });
    expect(crc16(text)).toBe(bytes.reduce((crc, byte) => eight.reduce<number>(shifted, crc ^ (byte << 8)), 0));
    expect(fnv1a(text)).toBe(bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261));
  });
});

describe('placement', () => {
  it('keeps lanes, shards and buckets inside their numbers, evenly filled', () => {
    for (const count of [1, 2, 3, 7, 64]) {
      expect(new Set(players.map((player) => laneOf(player, count))).size).toBe(count);
      const shards = players.map((player) => shardOf(player, count));
      expect(Math.max(...shards)).toBe(count - 1);
      expect(Math.min(...countsOf(shards))).toBeGreaterThan((players.length / count) * 0.7);
    }
  });

  it('fills the buckets of one lane and shard as evenly as those of all players', () => {
    const ofShard = players.filter((player) => shardOf(player, 4) === 1);
    const counts = countsOf(ofShard.map((player) => bucketOf(player, 128)));
    expect(counts).toHaveLength(128);
    expect(Math.max(...counts)).toBeLessThan((ofShard.length / 128) * 2);
  });
});
