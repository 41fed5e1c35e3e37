/**
 * How a board writes its scores: `format` of its definition in the reader's own language. A number that would be too long
 * for a row is written compactly; the exact one stands behind it.
 */

/** A score of more characters than this is compact: 999,999,999 is not. */
const LENGTH_MAX = 11;
/** Of money every cent is told for longer. */
const MONEY_LENGTH_MAX = 13;
/** Where there is little room. */
const BRIEF_MAX = 9;
const DIGITS_MAX = 3;
const MINUS = '−';

/**
 * `{ short(score), brief(score), exact(score) }`: as it stands in a row, in a narrow one, and with every digit. All are the same
 * text where that says all.
 */
export function scoreWords(format, locale) {
  const write = WRITERS[format?.kind] ?? WRITERS.number;
  return write({ decimals: Math.min(format?.decimals ?? 0, 20), unit: format?.unit || null }, locale);
}

/** A change of a score: "+12", "−0:03.5"; `scores` is what {@link scoreWords} gave. */
export function gainWords(amount, scores) {
  return `${amount > 0 ? '+' : MINUS}${scores.short(Math.abs(amount))}`;
}

const WRITERS = { number: numbers, currency: money, time: times };

function numbers({ decimals, unit }, locale) {
  const style = { minimumFractionDigits: decimals, maximumFractionDigits: Math.max(decimals, DIGITS_MAX) };
  const behind = unit === null ? '' : `\u202f${unit}`;
  const { short, brief, exact } = writers(style, locale);
  return { short: (score) => short(score) + behind, brief, exact: (score) => exact(score) + behind };
}

function money({ decimals, unit }, locale) {
  try {
    const digits = new Intl.NumberFormat(locale, { style: 'currency', currency: unit ?? '' }).resolvedOptions();
    return writers(
      {
        ...{ style: 'currency', currency: unit, currencyDisplay: 'narrowSymbol' },
        minimumFractionDigits: decimals,
        maximumFractionDigits: Math.max(decimals, digits.maximumFractionDigits),
      },
      locale,
      MONEY_LENGTH_MAX,
    );
  } catch {
    // Not a currency that Intl knows, such as "gold".
    return numbers({ decimals, unit }, locale);
  }
}

function writers(style, locale, lengthMax = LENGTH_MAX) {
  const full = new Intl.NumberFormat(locale, style);
  const bare = new Intl.NumberFormat(locale, { ...style, style: 'decimal' });
  const all = new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: 20 });
  const some = { minimumFractionDigits: 0, maximumFractionDigits: DIGITS_MAX };
  const compact = new Intl.NumberFormat(locale, { ...style, ...some, notation: 'compact', useGrouping: 'always' });
  const scientific = new Intl.NumberFormat(locale, { ...style, ...some, notation: 'scientific' });
  const isSpelled = (size, from, to) => size === 0 || (size >= from && size < to);
  const within = (lengthMax) => (score) => {
    const size = Math.abs(score);
    if (!isSpelled(size, 1e-3, 1e18)) return scientific.format(score);
    return (bare.format(size).length > lengthMax ? compact : full).format(score);
  };
  return {
    short: within(lengthMax),
    brief: within(BRIEF_MAX),
    exact: (score) => (isSpelled(Math.abs(score), 1e-6, 1e21) ? all.format(score) : String(score)),
  };
}

/** Scores are seconds, or milliseconds where the unit says `ms`: 1:02:05.100. */
function times({ decimals, unit }, locale) {
  const perSecond = unit === 'ms' ? 1000 : 1;
  const digitsMax = Math.max(decimals, DIGITS_MAX);
  const seconds = new Intl.NumberFormat(locale, {
    minimumIntegerDigits: 2,
    minimumFractionDigits: decimals,
    maximumFractionDigits: digitsMax,
  });
  const integers = new Intl.NumberFormat(locale);
  const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
  const short = (score) => {
    // Rounded as a whole first: 59.9996 s is 1:00, not 0:60.
    const size = Number((Math.abs(score) / perSecond).toFixed(digitsMax));
    if (size >= 1e9) return `${exact.format(score / perSecond)}\u202fs`;
    const hours = Math.floor(size / 3600);
    const minutes = Math.floor(size / 60) % 60;
    const clock = `${hours > 0 ? String(minutes).padStart(2, '0') : minutes}:${seconds.format(size - Math.floor(size / 60) * 60)}`;
    return `${score < 0 ? MINUS : ''}${hours > 0 ? `${integers.format(hours)}:` : ''}${clock}`;
  };
  // Where the clock says every digit, it is exact.
  const isWhole = (score) => Number((Math.abs(score) / perSecond).toFixed(digitsMax)) === Math.abs(score) / perSecond;
  return {
    short,
    brief: short,
    exact: (score) => (isWhole(score) ? short(score) : `${exact.format(score / perSecond)}\u202fs`),
  };
}
