import { Refused } from './client.mjs';

/** A decade's matches may be counted for a day: a replay at walking pace takes less. */
export const GRACE_SECONDS = 86_400;

const decadeOf = ({ date }) => `${date.slice(0, 3)}0s`;

/**
 * The decades of the matches, in order, as seasons: a match counts for the millisecond of its row after the replay's
 * beginning, so a decade is some seconds long.
 * @returns `[{ name, window, firstRow, lastRow }]`
 */
export function decadesOf(matches) {
  const decades = new Map();
  for (const match of matches) {
    const name = decadeOf(match);
    const decade = decades.get(name) ?? { name, window: `season:${name}`, firstRow: match.row, lastRow: match.row };
    decade.lastRow = match.row;
    decades.set(name, decade);
  }
  return [...decades.values()];
}

/** The windows of the board for these decades. */
export function seasonsOf(decades, startsAtMs) {
  const at = (row) => new Date(startsAtMs + row).toISOString();
  return decades.map(({ name, firstRow, lastRow }) => ({
    season: name,
    startsAt: at(firstRow),
    endsAt: at(lastRow + 1),
  }));
}

/** Closes a decade: from now on its final standings are what it shows. One that is closed already stays as it is. */
export async function closeDecade(client, board, { window }) {
  try {
    await client.call('POST', `/v1/admin/boards/${encodeURIComponent(board)}/close-window`, { window });
  } catch (error) {
    if (error instanceof Refused && error.problem.code === 'WINDOW_CLOSED') return;
    throw error;
  }
}
