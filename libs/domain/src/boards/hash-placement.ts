import { playerOfKey } from './entry-key.js';

/** The last code unit that is one byte of UTF-8. */
const ASCII_MAX = 0x7f;

/** CRC-16/XMODEM of UTF-8, the sum that Redis Cluster uses too (Redis Cluster specification, appendix A). */
export const crc16 = (text: string): number => sumOf(text, 0, nextCrc16);

/** FNV-1a, 32 bits: independent of {@link crc16}, so that buckets fill evenly inside a lane or a shard. */
export const fnv1a = (text: string): number => sumOf(text, 0x811c9dc5, nextFnv1a) >>> 0;

/** Most ids are ASCII: to make a Buffer of each takes longer than the sum. */
function sumOf(text: string, start: number, next: (sum: number, byte: number) => number): number {
  let sum = start;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > ASCII_MAX) return Buffer.from(text).reduce(next, start);
    sum = next(sum, unit);
  }
  return sum;
}

/** What each first byte of a sum becomes when it is shifted out. */
const CRC16_OF_BYTES = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

const nextCrc16 = (crc: number, byte: number): number => ((crc << 8) & 0xffff) ^ CRC16_OF_BYTES[(crc >> 8) ^ byte]!;

const nextFnv1a = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

/** The slot (0 to 65,535) of a player, by its id or the key of an entry of it: it never changes, and lanes are made of slots. */
export const slotOf = (key: string): number => crc16(playerOfKey(key));

/** The ledger lane (0-based) that all writes of a player take, by its id or the key of an entry of it. */
export const laneOf = (key: string, lanes: number): number => slotOf(key) % lanes;

/** The hash shard (0-based) that holds an entry: all those of a player are in one. */
export const shardOf = (key: string, shards: number): number => (shards === 1 ? 0 : crc16(playerOfKey(key)) % shards);

/** The index bucket (0-based) of an entry inside its shard. */
export const bucketOf = (key: string, buckets: number): number => fnv1a(key) % buckets;
