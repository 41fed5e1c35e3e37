import type { BoardOrdering, RankStyle, SortOrder } from './board.js';

/**
 * Where an entry stands: entries are ordered by `score` ascending, then by the bytes of `member`.
 * This is exactly how a Redis sorted set orders them, so index 0 is always the best entry.
 */
export interface SortKey {
  /** The board's score, negated on `desc` boards. */
  score: number;
  /** Columns (8 bytes each), time (6 bytes, absent with tiebreak `none`), then the player id in UTF-8. */
  member: Buffer;
}

/** What an entry's place depends on, in the board's own values. */
export interface SortValues {
  score: number;
  columns: number[];
  /** Unix ms, 0 … 2^48 − 1. */
  achievedAtMs: number;
}

const COLUMN_BYTES = 8;
const TIME_BYTES = 6;
export const ACHIEVED_AT_MS_MAX = 2 ** 48 - 1;

/** −0 and 0 are one score. */
export const withoutNegativeZero = (value: number): number => (value === 0 ? 0 : value);

/** The sorted set's score of a board's score; its own inverse. */
export function toRankScore(order: SortOrder, score: number): number {
  return order === 'desc' ? withoutNegativeZero(-score) : withoutNegativeZero(score);
}

/** How many bytes of a member precede the player id. */
export function memberPrefixBytes(ordering: BoardOrdering): number {
  return ordering.columns.length * COLUMN_BYTES + (ordering.tiebreak === 'none' ? 0 : TIME_BYTES);
}

/** How many bytes of a member hold the columns, which the competition style compares beside the score. */
export function memberColumnBytes(ordering: BoardOrdering): number {
  return ordering.columns.length * COLUMN_BYTES;
}

/**
 * The common beginning of the sort keys of all entries with this score and these columns: only better entries stand
 * before it.
 */
export const valueKeyOf = (ordering: BoardOrdering, { score, member }: SortKey): SortKey => ({
  score,
  member: member.subarray(0, memberColumnBytes(ordering)),
});

/** The key up to which the style counts entries: the whole key, or its score and columns only. */
export const countedKey = (ordering: BoardOrdering, key: SortKey, style: RankStyle): SortKey =>
  style === 'ordinal' ? key : valueKeyOf(ordering, key);

/** The part of a member before the player id: its bytes order as the columns and the tie-break do. */
export function encodeMemberPrefix(ordering: BoardOrdering, values: Omit<SortValues, 'score'>): Buffer {
  const prefix = Buffer.alloc(memberPrefixBytes(ordering));
  writeMemberPrefix(prefix, ordering, values);
  return prefix;
}

/** Writes the prefix to the beginning of `prefix`. */
function writeMemberPrefix(prefix: Buffer, ordering: BoardOrdering, values: Omit<SortValues, 'score'>): void {
  let offset = 0;
  for (const [index, column] of ordering.columns.entries()) {
    offset = writeOrderedDouble(prefix, offset, toRankScore(column.order, values.columns[index] ?? 0));
  }
  if (ordering.tiebreak !== 'none') {
    const time = ordering.tiebreak === 'earliest' ? values.achievedAtMs : ACHIEVED_AT_MS_MAX - values.achievedAtMs;
    prefix.writeUIntBE(time, offset, TIME_BYTES);
  }
}

export function encodeSortKey(ordering: BoardOrdering, values: SortValues, playerId: string): SortKey {
  const prefixBytes = memberPrefixBytes(ordering);
  const member = Buffer.allocUnsafe(prefixBytes + Buffer.byteLength(playerId));
  writeMemberPrefix(member, ordering, values);
  member.write(playerId, prefixBytes);
  return { score: toRankScore(ordering.order, values.score), member };
}

/** The values and the player behind a sort key; `achievedAtMs` is null where the tie-break keeps no time. */
export function decodeSortKey(
  ordering: BoardOrdering,
  key: SortKey,
): { playerId: string; score: number; columns: number[]; achievedAtMs: number | null } {
  const columns = ordering.columns.map((column, index) =>
    toRankScore(column.order, readOrderedDouble(key.member, index * COLUMN_BYTES)),
  );
  const timeOffset = memberColumnBytes(ordering);
  let achievedAtMs: number | null = null;
  if (ordering.tiebreak !== 'none') {
    const time = key.member.readUIntBE(timeOffset, TIME_BYTES);
    achievedAtMs = ordering.tiebreak === 'earliest' ? time : ACHIEVED_AT_MS_MAX - time;
  }
  return {
    playerId: key.member.toString('utf8', memberPrefixBytes(ordering)),
    score: toRankScore(ordering.order, key.score),
    columns,
    achievedAtMs,
  };
}

/** Negative when `a` stands before `b`. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  return a.score - b.score || Buffer.compare(a.member, b.member);
}

/** Big-endian IEEE 754 with the sign folded in, so that bytes order as numbers do. */
function writeOrderedDouble(target: Buffer, offset: number, value: number): number {
  target.writeDoubleBE(withoutNegativeZero(value), offset);
  const negative = target[offset]! & 0x80;
  for (let at = offset; at < offset + COLUMN_BYTES; at += 1) {
    target[at] = negative ? target[at]! ^ 0xff : at === offset ? target[at]! ^ 0x80 : target[at]!;
  }
  return offset + COLUMN_BYTES;
}

function readOrderedDouble(source: Buffer, offset: number): number {
  const bytes = Buffer.from(source.subarray(offset, offset + COLUMN_BYTES));
  const positive = bytes[0]! & 0x80;
  for (let at = 0; at < COLUMN_BYTES; at += 1)
    bytes[at] = positive ? (at === 0 ? bytes[at]! ^ 0x80 : bytes[at]!) : bytes[at]! ^ 0xff;
  return bytes.readDoubleBE(0);
}
