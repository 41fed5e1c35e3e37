import type { ScoreFormat } from './api.js';

/** The most digits after the point that every `Intl` takes. */
const FRACTION_DIGITS_MAX = 20;
const NARROW_BLANK = '\u202f';

/**
 * A score as people write it, by the format of its board. No digit of the score is cut: `decimals` says how many there
 * are at least.
 *
 * - `number`: 1,520.5, with its unit.
 * - `time`: 1:02:05.100, of seconds; of milliseconds where the unit is `ms`.
 * - `currency`: €83.25, the unit being a code of ISO 4217.
 *
 * @param locale as `Intl` takes it; default: that of the reader
 */
export function formatScore(format: Readonly<ScoreFormat>, score: number, locale?: string | string[]): string {
  const { kind, unit } = format;
  const decimals = format.decimals ?? 0;
  if (kind === 'time') return timeText(plainDigits(score), unit === 'ms' ? 3 : 0, decimals, locale);
  if (kind === 'currency' && /^[A-Za-z]{3}$/.test(unit ?? '')) {
    return numberText(score, decimals, locale, { style: 'currency', currency: unit! });
  }
  return numberText(score, decimals, locale) + (unit ? NARROW_BLANK + unit : '');
}

function numberText(score: number, decimals: number, locale?: string | string[], style: object = {}): string {
  const { fraction } = plainDigits(score);
  const digits = Math.max(decimals, fraction.length);
  const shown = { ...style, minimumFractionDigits: decimals, maximumFractionDigits: digits };
  if (digits <= FRACTION_DIGITS_MAX) return new Intl.NumberFormat(locale, shown).format(score === 0 ? 0 : score);
  return new Intl.NumberFormat(locale, { ...style, notation: 'scientific', maximumSignificantDigits: 17 }).format(
    score,
  );
}

/** The digits of a number without exponent: those by which it is read back as the same number. */
interface Digits {
  isNegative: boolean;
  whole: string;
  fraction: string;
}

function plainDigits(score: number): Digits {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(score))!;
  return shifted({ isNegative: sign === '-', whole: whole!, fraction }, Number(exponent));
}

/** Times ten to the `places`. */
function shifted({ isNegative, whole, fraction }: Digits, places: number): Digits {
  const digits = '0'.repeat(Math.max(0, -places)) + whole + fraction + '0'.repeat(Math.max(0, places));
  const point = Math.max(0, -places) + whole.length + places;
  return {
    isNegative,
    whole: digits.slice(0, point).replace(/^0+(?=\d)/, ''),
    fraction: digits.slice(point).replace(/0+$/, ''),
  };
}

/** @param smaller how many powers of ten the number counts below the second */
function timeText(score: Digits, smaller: number, decimals: number, locale?: string | string[]): string {
  const { isNegative, whole, fraction } = shifted(score, -smaller);
  const seconds = BigInt(whole);
  const two = (part: bigint): string => numeral(String(part), locale, 2);
  const hours = seconds / 3600n;
  const minutes = (seconds / 60n) % 60n;
  const clock =
    hours > 0n
      ? `${numeral(String(hours), locale, 1)}:${two(minutes)}:${two(seconds % 60n)}`
      : `${numeral(String(minutes), locale, 1)}:${two(seconds % 60n)}`;
  const rest = fraction.padEnd(decimals, '0');
  const point = new Intl.NumberFormat(locale, { minimumFractionDigits: 1 }).formatToParts(0).find(isPoint)!.value;
  return `${isNegative ? '-' : ''}${clock}${rest === '' ? '' : point + numeral(rest, locale, rest.length)}`;
}

const isPoint = ({ type }: { type: string }): boolean => type === 'decimal';

/** Digits as the locale writes them, with zeros in front. */
function numeral(digits: string, locale: string | string[] | undefined, length: number): string {
  const one = new Intl.NumberFormat(locale, { useGrouping: false });
  return Array.from(digits.padStart(length, '0'), (digit) => one.format(Number(digit))).join('');
}
