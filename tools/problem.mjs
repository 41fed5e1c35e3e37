/** A failure whose message says what to do about it: it is printed as it stands, without a stack trace. */
export class Problem extends Error {
  /** @override */
  name = 'Problem';
}

const elsewhere = 'or use a folder elsewhere (for the data: DATA_DIR)';
/** @param {string} path */
const noPermission = (path) => `You may not write ${path}: run as the user that made it, ${elsewhere}.`;
/** @param {string} path */
const inTheWay = (path) =>
  `${path} is in the way, a file where a folder has to be or the other way round: move it, ${elsewhere}.`;
/**
 * What a file system says when it refuses, in codes of Node and in words of other programs, as one sentence.
 * @type {[code: string, words: RegExp | null, sentence: (path: string) => string][]}
 */
const refusals = [
  [
    'ENOSPC',
    /No space left on device/i,
    (path) => `There is no room left on the disk of ${path}: make some, ${elsewhere}.`,
  ],
  [
    'EDQUOT',
    /Disk quota exceeded/i,
    (path) => `Your quota on the disk of ${path} is used up: make room, ${elsewhere}.`,
  ],
  [
    'EROFS',
    /Read-only file system/i,
    (path) => `${path} is on a read-only file system: have it made writable, ${elsewhere}.`,
  ],
  ['EACCES', null, noPermission],
  ['EPERM', null, noPermission],
  ['ENOTDIR', null, inTheWay],
  ['EISDIR', null, inTheWay],
  ['EEXIST', null, inTheWay],
  ['EMFILE', null, () => 'This process may open no more files: raise its limit (ulimit -n).'],
];

/**
 * The code of an error of Node (`ENOENT`); undefined where it has none.
 * @param {unknown} error
 * @returns {string | undefined}
 */
export function codeOf(error) {
  return /** @type {{ code?: string } | null | undefined} */ (error)?.code;
}

/**
 * What an error says.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Why the file system refused, as a sentence that says what to do; null when the error is another one.
 * @param {unknown} error
 * @param {string} [path] that of the error, when it is not given
 */
export function diskRefusal(error, path = /** @type {{ path?: string } | undefined} */ (error)?.path ?? 'this folder') {
  const found = refusals.find(([code]) => code === codeOf(error));
  return found === undefined ? null : found[2](path);
}

/**
 * The same of what another program printed: whether there was no room, or it may not write.
 * @param {string} text
 * @param {string} path
 */
export function diskRefusalIn(text, path) {
  const found = refusals.find(([, words]) => words?.test(text));
  return found === undefined ? null : found[2](path);
}

/**
 * Text for the terminal: the message of a `Problem`, a sentence for a refusing file system, the whole stack of anything else.
 * @param {unknown} error
 */
export function describeFailure(error) {
  if (error instanceof Problem) return error.message;
  const refusal = diskRefusal(error);
  if (refusal !== null) return refusal;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
