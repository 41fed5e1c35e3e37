/** The longest player, guild or submission id, in bytes of UTF-8. */
export const OPAQUE_ID_BYTES_MAX = 128;

const CONTROL_OR_LONE_SURROGATE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * {@link isCleanText} as a pattern of JSON Schema. Such patterns match whole characters, so they cannot name lone
 * surrogates.
 */
export const CLEAN_TEXT_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** The rules of {@link faultOfOpaqueId} as a pattern, apart from the length in bytes. */
export const OPAQUE_ID_PATTERN = '^(?!(?:\\.{1,2}|me)$)[^\\u0000-\\u001f\\u007f-\\u009f]+$';

/** Whether PostgreSQL's `text` and a UTF-8 wire can carry the string: no NUL or other control character, no lone surrogate. */
export function isCleanText(value: string): boolean {
  return !CONTROL_OR_LONE_SURROGATE.test(value);
}

/** What is wrong with a player, guild or submission id, or null when it is fine. */
export function faultOfOpaqueId(id: string): string | null {
  if (id === '') return 'must not be empty';
  if (id === '.' || id === '..' || id === 'me') return `must not be "${id}"`;
  if (!isCleanText(id)) return 'must not hold control characters or lone surrogates';
  if (Buffer.byteLength(id) > OPAQUE_ID_BYTES_MAX) return `must be at most ${OPAQUE_ID_BYTES_MAX} bytes of UTF-8`;
  return null;
}

/** The longest board, pool, circle, patch or season id, in characters. */
export const NAMED_ID_LENGTH_MAX = 64;
export const NAMED_ID_PATTERN = `^[a-z0-9][a-z0-9._-]{0,${NAMED_ID_LENGTH_MAX - 1}}$`;

const NAMED_ID = new RegExp(NAMED_ID_PATTERN);

/** What is wrong with a board, pool, circle or patch id, or null when it is fine. */
export function faultOfNamedId(id: string): string | null {
  return NAMED_ID.test(id)
    ? null
    : 'must be 1-64 characters of a-z, 0-9, ".", "_", "-", and begin with a letter or digit';
}
