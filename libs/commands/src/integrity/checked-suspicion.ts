import { isCleanText } from '@laddercast/domain';
import { SEVERITIES, type Severity, type Suspicion } from '@laddercast/extension';

const SUMMARY_LENGTH_MAX = 500;
const DETAILS_BYTES_MAX = 8192;
const KEY_LENGTH_MAX = 128;

/**
 * What a rule answered, as it can be stored.
 * @throws when it is no {@link Suspicion}
 */
export function checkedSuspicion(answer: unknown): Suspicion | null {
  if (answer === null) return null;
  if (typeof answer !== 'object')
    throw new Error(`A rule answered ${typeof answer}, which is neither a suspicion nor null.`);
  const { severity, summary, details, key } = answer as Record<keyof Suspicion, unknown>;
  if (!SEVERITIES.includes(severity as Severity))
    throw new Error(`A suspicion's severity is ${SEVERITIES.join(', ')}.`);
  if (!isTextUpTo(SUMMARY_LENGTH_MAX, summary))
    throw new Error(`A suspicion's summary is 1-${SUMMARY_LENGTH_MAX} characters.`);
  if (key !== undefined && !isTextUpTo(KEY_LENGTH_MAX, key))
    throw new Error(`A suspicion's key is 1-${KEY_LENGTH_MAX} characters.`);
  const json =
    typeof details === 'object' && details !== null && !Array.isArray(details) ? JSON.stringify(details) : '';
  // A lone surrogate or NUL anywhere in it could not be stored.
  if (json === '' || Buffer.byteLength(json) > DETAILS_BYTES_MAX || /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)) {
    throw new Error(
      `A suspicion's details are an object of at most ${DETAILS_BYTES_MAX} bytes of JSON without lone surrogates and NUL.`,
    );
  }
  const found: Suspicion = {
    severity: severity as Severity,
    summary,
    details: JSON.parse(json) as Record<string, unknown>,
  };
  return key === undefined ? found : { ...found, key };
}

const isTextUpTo = (lengthMax: number, text: unknown): text is string =>
  typeof text === 'string' && text.length > 0 && text.length <= lengthMax && isCleanText(text);
