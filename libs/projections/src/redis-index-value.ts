import type { SortKey } from '@laddercast/domain';
import type { ProjectedChange } from './rank-projection.js';

/**
 * What the index keeps of a player: version (8 bytes) alone for a removal, else version, the sort key's score (8), and
 * its member without the player id. Doubles are big-endian, which Lua's struct.unpack('>d') reads. At most 54 bytes,
 * so that the hash stays a listpack.
 */
export function packIndexValue({ playerId, version, key }: ProjectedChange): Buffer {
  const head = Buffer.alloc(key === null ? 8 : 16);
  head.writeDoubleBE(version, 0);
  if (key === null) return head;
  head.writeDoubleBE(key.score, 8);
  return Buffer.concat([head, key.member.subarray(0, key.member.length - Buffer.byteLength(playerId))]);
}

/** The version in an index value. */
export const versionOfIndexValue = (value: Buffer): number => value.readDoubleBE(0);

/** Whether an index value is of an entry that is there, and not of a removed one. */
export const isEntryValue = (value: Buffer): boolean => value.length > 8;

/** The sort key in the index value of an entry that is there. */
export function sortKeyOfIndexValue(value: Buffer, playerId: string): SortKey {
  return { score: value.readDoubleBE(8), member: Buffer.concat([value.subarray(16), Buffer.from(playerId)]) };
}
