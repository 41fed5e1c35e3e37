import { markCountOf, type ShardMarks } from './rank-sketch.js';
import type { SortKey } from '../boards/sort-key.js';

/**
 * The format: its number (1 byte), the number of shards (2); for each shard its total, its step (8 each) and its marks:
 * score (8), the member's length (1) and the member. Numbers are big-endian, those of 8 bytes doubles.
 */
const FORM = 1;
const HEAD_BYTES = 3;
const SHARD_BYTES = 16;
const MARK_BYTES = 9;

/** Marks as bytes: some 30 for each. */
export function encodeMarks(shards: readonly ShardMarks[]): Buffer {
  const keys = shards.flatMap((shard) => shard.keys);
  const memberBytes = keys.reduce((sum, { member }) => sum + member.length, 0);
  const bytes = Buffer.alloc(HEAD_BYTES + shards.length * SHARD_BYTES + keys.length * MARK_BYTES + memberBytes);
  let at = bytes.writeUInt16BE(shards.length, bytes.writeUInt8(FORM, 0));
  for (const { total, step, keys: marks } of shards) {
    at = bytes.writeDoubleBE(step, bytes.writeDoubleBE(total, at));
    for (const { score, member } of marks) {
      at = bytes.writeUInt8(member.length, bytes.writeDoubleBE(score, at));
      at += member.copy(bytes, at);
    }
  }
  return bytes;
}

/** The marks that {@link encodeMarks} wrote; null for another format. */
export function decodeMarks(bytes: Buffer): ShardMarks[] | null {
  try {
    const shards: ShardMarks[] = [];
    if (bytes.readUInt8(0) !== FORM) return null;
    let at = HEAD_BYTES;
    for (let left = bytes.readUInt16BE(1); left > 0; left -= 1) {
      const [total, step] = [bytes.readDoubleBE(at), bytes.readDoubleBE(at + 8)];
      at += SHARD_BYTES;
      const keys: SortKey[] = [];
      for (let marks = markCountOf(total, step); marks > 0; marks -= 1) {
        const memberAt = at + MARK_BYTES;
        const end = memberAt + bytes.readUInt8(memberAt - 1);
        keys.push({ score: bytes.readDoubleBE(at), member: bytes.subarray(memberAt, end) });
        at = end;
      }
      shards.push({ total, step, keys });
    }
    return at === bytes.length ? shards : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
