const FIRST_LETTER = 0x1f1e6;

const countries = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'none' });

/**
 * Where a player is from, as `{ text, name }`: the flag of the country among its attributes, else its region in its own words; null
 * where neither is known. Regions get no flag: NA is a continent to games, and Namibia to flags.
 */
export function flagOf({ region, attributes }) {
  const country = attributes?.country;
  const name = typeof country === 'string' && /^[A-Z]{2}$/.test(country) ? countries.of(country) : undefined;
  if (name !== undefined) return { text: String.fromCodePoint(...Array.from(country, letterOfFlag)), name };
  return region ? { text: region, name: region } : null;
}

const letterOfFlag = (letter) => FIRST_LETTER + letter.charCodeAt(0) - 'A'.charCodeAt(0);
