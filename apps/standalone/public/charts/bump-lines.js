import { shownName } from '../words.js';

/** How many of each window are drawn. */
export const TOP = 10;
const COLOURS = 10;

/** Who was there most often, and highest, comes first and has a colour of its own. */
export function linesOf(lists) {
  const players = new Map();
  lists.forEach(({ entries }, at) => {
    for (const entry of entries) {
      const { playerId, rank } = entry;
      if (!players.has(playerId))
        players.set(playerId, { name: shownName(entry), values: Array(lists.length).fill(null) });
      players.get(playerId).values[at] = rank;
    }
  });
  const weightOf = ({ values }) => values.reduce((sum, rank) => sum + (rank === null ? 0 : TOP + 1 - rank), 0);
  return [...players.values()]
    .sort((a, b) => weightOf(b) - weightOf(a))
    .map((line, at) => ({ ...line, colour: at < COLOURS ? `--line-${at + 1}` : '--field', isFaint: at >= COLOURS }));
}
