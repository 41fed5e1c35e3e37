import { estimateOf } from '../words.js';

const POINTS = 200;
const WINDOWS_MAX = 40;
const AT_ONCE = 4;
const RUNS = 10;

/** Windows of a kind that are over, the oldest first; `kind` is that of the window on the page, or of which most are over. */
export function pastWindows({ ended }, kind, most = WINDOWS_MAX) {
  const kinds = Map.groupBy ? Map.groupBy(ended, (window) => window.kind) : groupByKind(ended);
  const [largest] = [...kinds.values()].sort((a, b) => b.length - a.length);
  return (kinds.get(kind) ?? largest ?? []).slice(0, most).toReversed();
}

function groupByKind(windows) {
  const kinds = new Map();
  for (const window of windows) kinds.set(window.kind, [...(kinds.get(window.kind) ?? []), window]);
  return kinds;
}

/** Reads `of(item)` for each item, some at a time, in their order; what cannot be read is null. */
export async function readEach(items, of) {
  const results = Array(items.length).fill(null);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await of(items[at]).catch(() => null);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** Where a player stands: `{ entry, total, estimate }`; null: it has no entry. @throws LadderProblem */
export async function standingOf(service, { board, window, scope }, playerId) {
  try {
    const answer = await service.player(board, playerId, { window, scope, fields: 'player' });
    return { entry: answer.entry, total: answer.total, estimate: estimateOf(answer) };
  } catch (error) {
    if (error.code === 'ENTRY_NOT_FOUND') return null;
    throw error;
  }
}

/** What became of an entry, the oldest first: `[{ time, score, rank, total }]`, time in Unix seconds; null: not kept. */
export async function historyOf(service, { board, window }, playerId) {
  try {
    const { points } = await service.history(board, playerId, { window, limit: POINTS });
    const told = points.toReversed().filter(({ score }) => score !== null);
    return told.map(({ at, score, rank }) => ({
      ...{ time: Date.parse(at) / 1000, score },
      ...{ rank: rank?.rank ?? null, total: rank?.total ?? null },
    }));
  } catch {
    return null;
  }
}

/** Where a player ended in each of these windows: `[{ window, rank, score, total }]`, rank null where it did not play. */
export async function endsIn(service, { board, windows }, playerId) {
  const answers = await readEach(windows, ({ id }) => service.player(board, playerId, { window: id }));
  return windows.map((window, at) => ({
    window,
    rank: answers[at]?.entry?.rank ?? null,
    score: answers[at]?.entry?.score ?? null,
    total: answers[at]?.total ?? null,
  }));
}

/** The last runs, the newest first; null where the board keeps none, or the reader may not see them. */
export async function runsOf(service, { board, window, hasRuns }, playerId) {
  if (!hasRuns) return null;
  const answer = await service.runs(board, playerId, { window, limit: RUNS }).catch(() => null);
  return answer?.runs ?? null;
}

/** The first of these windows, each as its list: `[{ window, entries }]`. */
export async function leadersOf(service, { board, windows, limit }) {
  const answers = await readEach(windows, ({ id }) => service.entries(board, { window: id, limit }));
  return windows.map((window, at) => ({ window, entries: answers[at]?.entries ?? [] }));
}
