import { tailBytesAt, type SortKey } from '@laddercast/domain';
import type { ProjectedChange } from '../ranks/rank-projection.js';

/**
 * What the index keeps of a player (`lua/include/index-value.lua` reads it, too): a byte with two halves, how many bytes the
 * score has (15: it is a removal, and there is nothing behind the version) and how many the version has, 8 more where the
 * member has a tail; the version; the score without the zero bytes at its end; the tail, which says itself how long it is; the
 * member before the player id. Numbers are big-endian, the score as a double. At most 54 bytes, with a tail 68; whole scores and
 * young versions make it short. Redis packs a hash whose values have up to 64 bytes (hash-max-listpack-value): only four columns,
 * a time and two scores of many digits come above, and their bucket takes more memory.
 */
const REMOVED = 15;
const SCORE_BYTES = 8;
const HAS_TAIL = 8;

const scoreBytes = Buffer.alloc(SCORE_BYTES);

/** The index value after a change. */
export function packIndexValue({ playerId, version, key }: ProjectedChange): Buffer {
  if (key === null) return packVersion(version);
  scoreBytes.writeDoubleBE(key.score);
  let ofScore = SCORE_BYTES;
  while (ofScore > 0 && scoreBytes[ofScore - 1] === 0) ofScore -= 1;
  const ofVersion = bytesOf(version);
  const { member, tailBytes: ofTail = 0 } = key;
  const ofPrefix = member.length - Buffer.byteLength(playerId) - ofTail;
  const value = Buffer.allocUnsafe(1 + ofVersion + ofScore + ofTail + ofPrefix);
  value[0] = ofScore * 16 + ofVersion + (ofTail > 0 ? HAS_TAIL : 0);
  writeNumber(value, version, ofVersion);
  scoreBytes.copy(value, 1 + ofVersion, 0, ofScore);
  member.copy(value, 1 + ofVersion + ofScore, member.length - ofTail);
  member.copy(value, 1 + ofVersion + ofScore + ofTail, 0, ofPrefix);
  return value;
}

/** The index value of a removal: a version, and no more. */
export function packVersion(version: number): Buffer {
  const ofVersion = bytesOf(version);
  const value = Buffer.allocUnsafe(1 + ofVersion);
  value[0] = REMOVED * 16 + ofVersion;
  writeNumber(value, version, ofVersion);
  return value;
}

/** The version in an index value. */
export function versionOfIndexValue(value: Buffer): number {
  let version = 0;
  for (let at = 1; at <= versionBytesOf(value); at += 1) version = version * 256 + value[at]!;
  return version;
}

/** Whether an index value is of an entry that is there, and not of a removed one. */
export const isEntryValue = (value: Buffer): boolean => value[0]! >> 4 !== REMOVED;

/** The score, as ranks compare it, in the index value of an entry that is there. */
export function scoreOfIndexValue(value: Buffer): number {
  const from = 1 + versionBytesOf(value);
  scoreBytes.fill(0);
  value.copy(scoreBytes, 0, from, from + scoreBytesOf(value));
  return scoreBytes.readDoubleBE();
}

/** The sort key in the index value of an entry that is there. */
export function sortKeyOfIndexValue(value: Buffer, playerId: string): SortKey {
  const ofTail = tailBytesOf(value);
  const tailFrom = 1 + versionBytesOf(value) + scoreBytesOf(value);
  const [tail, prefix] = [value.subarray(tailFrom, tailFrom + ofTail), value.subarray(tailFrom + ofTail)];
  const member = Buffer.concat([prefix, Buffer.from(playerId), tail]);
  return { score: scoreOfIndexValue(value), member, ...(ofTail > 0 && { tailBytes: ofTail }) };
}

/** How many bytes the index value has that `packed` begins with, where members have `prefixBytes` before the player id. */
export function indexValueBytes(packed: Buffer, prefixBytes: number): number {
  const ofVersion = 1 + versionBytesOf(packed);
  return isEntryValue(packed) ? ofVersion + scoreBytesOf(packed) + tailBytesOf(packed) + prefixBytes : ofVersion;
}

const versionBytesOf = (value: Buffer): number => value[0]! & 7;
const scoreBytesOf = (value: Buffer): number => value[0]! >> 4;
const tailBytesOf = (value: Buffer): number =>
  (value[0]! & HAS_TAIL) === 0 ? 0 : tailBytesAt(value, 1 + versionBytesOf(value) + scoreBytesOf(value));

function bytesOf(version: number): number {
  let bytes = 1;
  for (let rest = version; rest >= 256; rest = Math.floor(rest / 256)) bytes += 1;
  return bytes;
}

function writeNumber(value: Buffer, number: number, bytes: number): void {
  for (let at = bytes, rest = number; at > 0; at -= 1, rest = Math.floor(rest / 256)) value[at] = rest % 256;
}
