import { playerOfKey } from './entry-key.js';

/** CRC-16/XMODEM of UTF-8, the sum that Redis Cluster uses too (Redis Cluster specification, appendix A). */
export function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** FNV-1a, 32 bits: independent of {@link crc16}, so that buckets fill evenly inside a lane or a shard. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** The ledger lane (0-based) that all writes of a player take, by its id or the key of an entry of it. */
export const laneOf = (key: string, lanes: number): number => crc16(playerOfKey(key)) % lanes;

/** The hash shard (0-based) that holds an entry: all those of a player are in one. */
export const shardOf = (key: string, shards: number): number => (shards === 1 ? 0 : crc16(playerOfKey(key)) % shards);

/** The index bucket (0-based) of an entry inside its shard. */
export const bucketOf = (key: string, buckets: number): number => fnv1a(key) % buckets;
