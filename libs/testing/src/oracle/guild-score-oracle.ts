import type { GuildAggregate, SortOrder } from '@laddercast/domain';

/** All doubles are whole multiples of the least one, 2^-1074. */
const UNIT_BITS = 1074;
const MOST = unitsOf(Number.MAX_VALUE);

/**
 * A guild's score by whole numbers and fractions alone: the sum of the scores, the sum of the best k, or the sum over the
 * count, rounded once to the nearest double (a tie to the even one) and never beyond the doubles.
 * @param scores at least one, finite
 */
export function guildScoreOf(
  { kind, k }: Pick<GuildAggregate, 'kind' | 'k'>,
  order: SortOrder,
  scores: readonly number[],
): number {
  const best = [...scores].sort((a, b) => (order === 'desc' ? b - a : a - b));
  const counted = kind === 'top' ? best.slice(0, k!) : best;
  const sum = counted.reduce((total, score) => total + unitsOf(score), 0n);
  return nearest(sum, kind === 'average' ? BigInt(scores.length) : 1n);
}

/** How many times the least double a double is. */
function unitsOf(score: number): bigint {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(score);
  const bits = bytes.readBigUInt64BE();
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const units = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return bits >> 63n === 1n ? -units : units;
}

function nearest(units: bigint, parts: bigint): number {
  const size = units < 0n ? -units : units;
  if (size === 0n) return 0;
  if (size >= MOST * parts) return Math.sign(Number(units)) * Number.MAX_VALUE;
  // The 53 digits that a double has, or fewer where it would need digits below the least double.
  const digits = (size / parts).toString(2).length;
  const shift = BigInt(Math.max(0, digits - 53));
  const divisor = parts << shift;
  const [whole, rest] = [size / divisor, size % divisor];
  const isUp = 2n * rest > divisor || (2n * rest === divisor && whole % 2n === 1n);
  const rounded = Number(isUp ? whole + 1n : whole);
  const exponent = Number(shift) - UNIT_BITS;
  // 2 ** exponent alone could be less than the least double.
  const magnitude = exponent < -1000 ? rounded * 2 ** -1000 * 2 ** (exponent + 1000) : rounded * 2 ** exponent;
  return units < 0n && magnitude !== 0 ? -magnitude : magnitude;
}
