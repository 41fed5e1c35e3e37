import { Problem } from '../problem.mjs';
import { GRACE_SECONDS, seasonsOf } from './decades.mjs';

const PAGE = 100;

/** The board of nations that the replay fills, apart from its decades. */
const demoBoard = {
  title: 'Football internationals, 1872–1999',
  order: 'desc',
  operator: 'sum',
  tiebreak: 'earliest',
  windows: ['alltime', 'daily', 'weekly', 'monthly'],
  scopes: ['global', 'region', 'guild'],
  guildAggregate: { kind: 'sum' },
  graceSeconds: GRACE_SECONDS,
  push: { intervalMs: 250, top: 100 },
};

/**
 * Makes sure that the demo's board is there, and empty when a new replay starts, with the decades of that replay.
 * @returns what was done, in words
 * @throws Problem when a board of that id is there that the demo did not make
 */
export async function prepareBoard(client, board, { emptied, decades, replay }) {
  const path = pathOf(board);
  const windows = [...demoBoard.windows, ...seasonsOf(decades, replay.startsAtMs)];
  const present = await readBoard(client, path);
  if (present === null) {
    await client.call('PUT', path, { ...demoBoard, windows });
    return `The board "${board}" was made.`;
  }
  if (present.title !== demoBoard.title || present.operator !== demoBoard.operator) {
    throw new Problem(
      `The board "${board}" ("${present.title ?? ''}") was not made by this demo, so it is left alone. Take another: --board <id>`,
    );
  }
  if (!emptied) return `The board "${board}" goes on as it is.`;
  await client.call('POST', `/v1/admin/boards/${encodeURIComponent(board)}/reset`);
  await client.call('PUT', path, { ...demoBoard, windows });
  return `The board "${board}" was emptied for the new replay.`;
}

async function readBoard(client, path) {
  try {
    return (await client.call('GET', path, undefined, { attemptsMax: 4 })).body;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** Who leads now; null when nobody does, or when it cannot be said. */
export async function readLeader(client, board) {
  try {
    const { body } = await client.call('GET', `${pathOf(board)}/entries?limit=1`, undefined, { attemptsMax: 1 });
    return body.entries[0] ?? null;
  } catch {
    // A leader in the progress line is a nicety; the replay itself tells when the service is away.
    return null;
  }
}

/** One of the board's lists, page by page, in its order; `list` is `{ window, scope }`. */
export async function readTable(client, board, list = {}) {
  const table = [];
  for (;;) {
    const query = new URLSearchParams({ ...list, limit: PAGE, offset: table.length });
    const { body } = await client.call('GET', `${pathOf(board)}/entries?${query}`);
    table.push(...body.entries);
    if (body.entries.length < PAGE) return table;
  }
}

/** The first places at which two tables differ in rank, team or points, as lines of text; none when they are equal. */
export function differences(expected, shown, max = 5) {
  const lines = [];
  for (let index = 0; index < Math.max(expected.length, shown.length) && lines.length < max; index += 1) {
    const [wanted, got] = [placeOf(expected[index]), placeOf(shown[index])];
    if (wanted !== got) lines.push(`place ${index + 1}: the file says ${wanted}, the board ${got}`);
  }
  return lines;
}

function placeOf(entry) {
  return entry ? `${entry.rank}. ${entry.playerId} ${entry.score}` : 'nobody';
}

function pathOf(board) {
  return `/v1/boards/${encodeURIComponent(board)}`;
}
