import type { BoardOrdering, RankStyle, SortOrder } from './board.js';

/**
 * Where an entry stands: entries are ordered by `score` ascending, then by the bytes of `member`.
 * This is exactly how a Redis sorted set orders them, so index 0 is always the best entry.
 */
export interface SortKey {
  /** The board's score, negated on `desc` boards. */
  score: number;
  /**
   * Columns (8 bytes each), time (6 bytes, absent with tiebreak `none`), the player id in UTF-8, and, of a taxed score, what
   * it is made of. That stands last, behind a byte that no id has, so that it orders nothing.
   */
  member: Buffer;
  /** How many bytes of the member stand behind the player id; absent: none. */
  tailBytes?: number;
}

/** What a taxed score is made of. */
export interface TaxedFrom {
  rawScore: number;
  /** The number of the patch as which the run counts. */
  patch: number;
}

/** What decides the order of a list's entries. */
export interface ListOrdering extends BoardOrdering {
  /** Whether scores are taxed, so that each says what it is made of. */
  isTaxed?: boolean;
}

/** What an entry's place depends on, in the board's own values. */
export interface SortValues {
  score: number;
  columns: number[];
  /** Unix ms, 0 … 2^48 − 1. */
  achievedAtMs: number;
  /** Of a taxed score: it decides no place. */
  taxedFrom?: TaxedFrom | undefined;
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
  for (let index = 0; index < ordering.columns.length; index += 1) {
    const { order } = ordering.columns[index]!;
    offset = writeOrderedDouble(prefix, offset, toRankScore(order, values.columns[index] ?? 0));
  }
  if (ordering.tiebreak !== 'none') {
    const time = ordering.tiebreak === 'earliest' ? values.achievedAtMs : ACHIEVED_AT_MS_MAX - values.achievedAtMs;
    prefix.writeUIntBE(time, offset, TIME_BYTES);
  }
}

export function encodeSortKey(ordering: BoardOrdering, values: SortValues, playerId: string): SortKey {
  const prefixBytes = memberPrefixBytes(ordering);
  const idBytes = Buffer.byteLength(playerId);
  const tail = values.taxedFrom && encodeTaxedFrom(values.taxedFrom);
  const member = Buffer.allocUnsafe(prefixBytes + idBytes + (tail?.length ?? 0));
  writeMemberPrefix(member, ordering, values);
  member.write(playerId, prefixBytes);
  const key: SortKey = { score: toRankScore(ordering.order, values.score), member };
  if (tail) {
    tail.copy(member, prefixBytes + idBytes);
    key.tailBytes = tail.length;
  }
  return key;
}

/** The values and the player behind a sort key; `achievedAtMs` is null where the tie-break keeps no time. */
export function decodeSortKey(
  ordering: ListOrdering,
  key: SortKey,
): {
  playerId: string;
  score: number;
  columns: number[];
  achievedAtMs: number | null;
  taxedFrom?: TaxedFrom;
} {
  const columns = ordering.columns.map((column, index) =>
    toRankScore(column.order, readOrderedDouble(key.member, index * COLUMN_BYTES)),
  );
  const timeOffset = memberColumnBytes(ordering);
  let achievedAtMs: number | null = null;
  if (ordering.tiebreak !== 'none') {
    const time = key.member.readUIntBE(timeOffset, TIME_BYTES);
    achievedAtMs = ordering.tiebreak === 'earliest' ? time : ACHIEVED_AT_MS_MAX - time;
  }
  const tailAt = tailAtIn(ordering, key.member);
  return {
    playerId: playerIdIn(ordering, key.member),
    score: toRankScore(ordering.order, key.score),
    columns,
    achievedAtMs,
    ...(tailAt < key.member.length && { taxedFrom: decodeTaxedFrom(key.member, tailAt) }),
  };
}

/** The player id in a member of a list, or the key of an entry. */
export const playerIdIn = (ordering: ListOrdering, member: Buffer): string =>
  member.toString('utf8', memberPrefixBytes(ordering), tailAtIn(ordering, member));

/** A sort key as it is read from a list: it says where the player id ends. */
export function sortKeyIn(ordering: ListOrdering, { score, member }: SortKey): SortKey {
  const tailBytes = member.length - tailAtIn(ordering, member);
  return { score, member, ...(tailBytes > 0 && { tailBytes }) };
}

/** Where what stands behind the player id begins. */
function tailAtIn(ordering: ListOrdering, member: Buffer): number {
  const at = ordering.isTaxed ? member.indexOf(TAIL, memberPrefixBytes(ordering)) : -1;
  return at < 0 ? member.length : at;
}

/** Begins what stands behind an id: no id has it, and every character of an id is greater. */
const TAIL = 1;
const PATCH_BYTES = 4;
/** How many bytes a tail has beside those of the raw score. */
const TAIL_BYTES_MIN = 2 + PATCH_BYTES;

/** How many bytes a tail has that begins at `at`: the second says how many the raw score has. */
export const tailBytesAt = (bytes: Buffer, at: number): number => TAIL_BYTES_MIN + bytes[at + 1]!;

/** The raw score is a double without the zero bytes at its end: whole numbers are short. */
function encodeTaxedFrom({ rawScore, patch }: TaxedFrom): Buffer {
  const raw = Buffer.alloc(COLUMN_BYTES);
  raw.writeDoubleBE(rawScore);
  let bytes = COLUMN_BYTES;
  while (bytes > 0 && raw[bytes - 1] === 0) bytes -= 1;
  const tail = Buffer.allocUnsafe(TAIL_BYTES_MIN + bytes);
  tail.writeUInt8(TAIL, 0);
  tail.writeUInt8(bytes, 1);
  raw.copy(tail, 2, 0, bytes);
  tail.writeUInt32BE(patch, 2 + bytes);
  return tail;
}

function decodeTaxedFrom(member: Buffer, at: number): TaxedFrom {
  const bytes = member[at + 1]!;
  const raw = Buffer.alloc(COLUMN_BYTES);
  member.copy(raw, 0, at + 2, at + 2 + bytes);
  return { rawScore: raw.readDoubleBE(), patch: member.readUInt32BE(at + 2 + bytes) };
}

/** Negative when `a` stands before `b`. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  return a.score - b.score || Buffer.compare(a.member, b.member);
}

/** Negative when `a` stands before `b` as entries of one player, whatever taxed scores are made of; 0: they share a place. */
export function comparePlaces(ordering: BoardOrdering, a: SortValues, b: SortValues): number {
  const byScore = toRankScore(ordering.order, a.score) - toRankScore(ordering.order, b.score);
  return byScore || Buffer.compare(encodeMemberPrefix(ordering, a), encodeMemberPrefix(ordering, b));
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
