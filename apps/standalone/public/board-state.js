/**
 * The list of a live subscription, as plain data: what a snapshot shows, and what each numbered delta makes of it.
 * Nothing here knows of sockets or of the document.
 */

/** A list nothing is known about yet; every snapshot replaces it. */
export const UNKNOWN_LIST = Object.freeze({
  seq: null,
  asOf: null,
  total: null,
  estimate: null,
  rows: Object.freeze([]),
});

/** The list that a snapshot message states, whole. */
export function fromSnapshot(message, tiebreak = 'earliest') {
  const rows = message.entries.map((entry) => ({ ...entry })).sort(byPlace(tiebreak));
  return { ...headOf(message), rows };
}

/**
 * The list after a delta, by the rule of the protocol: `ignored` when the delta is not newer than the list, `gap` when
 * it does not connect to the list (the caller resumes), else `applied` with the new list. The old list is left as it is.
 */
export function applyDelta(list, message, tiebreak = 'earliest') {
  if (list.seq === null) return { outcome: 'gap', list };
  if (message.seq <= list.seq) return { outcome: 'ignored', list };
  if (message.previousSeq > list.seq) return { outcome: 'gap', list };
  const byKey = new Map(list.rows.map((row) => [keyOfRow(row), row]));
  for (const change of message.changes) {
    const key = keyOfRow(change);
    const row = rowAfter(byKey.get(key), change);
    if (row === undefined) return { outcome: 'gap', list };
    if (row === null) byKey.delete(key);
    else byKey.set(key, row);
  }
  const rows = [...byKey.values()].sort(byPlace(tiebreak));
  return { outcome: 'applied', list: { ...headOf(message), rows } };
}

/** What names a row: its player, and its run on boards where each run is an entry. */
export function keyOfRow({ playerId, entryId }) {
  return entryId === undefined ? playerId : `${entryId}\u0001${playerId}`;
}

/** `estimate` says how far off ranks and total are at most; null: they are exact. */
function headOf({ seq, asOf, total, accuracy, errorBound = 0 }) {
  return { seq, asOf, total, estimate: accuracy === 'estimated' ? errorBound : null };
}

/** null: left the list. undefined: shifted, but never seen, so the list is not the one the delta was made for. */
function rowAfter(known, change) {
  if (change.rank === null) return null;
  if (change.score === undefined) return known && { ...known, rank: change.rank };
  const entry = { ...change };
  for (const name of ['previousRank', 'previousScore', 'passed']) delete entry[name];
  return entry;
}

/** Rows by rank; equal ranks (competition style) by tie-break time, then by the bytes of what names them. */
export function byPlace(tiebreak) {
  const timeSign = { earliest: 1, latest: -1, none: 0 }[tiebreak] ?? 0;
  return (a, b) =>
    a.rank - b.rank || timeSign * compareTimes(a.achievedAt, b.achievedAt) || compareUtf8(keyOfRow(a), keyOfRow(b));
}

function compareTimes(a, b) {
  return (Date.parse(a ?? '') || 0) - (Date.parse(b ?? '') || 0);
}

/** Code points order like UTF-8 bytes; JavaScript's own `<` orders UTF-16 units, which differ above U+FFFF. */
function compareUtf8(a, b) {
  const left = Array.from(a);
  const right = Array.from(b);
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = left[index].codePointAt(0) - right[index].codePointAt(0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
