import { readEach } from '../player/player-facts.js';
import { count, countAbout, isolated, percent } from '../words.js';

const ALL_MAX = 500;
const BINS = 20;
const SCORES_MIN = 8;
const RANGE_AT = [0, 2, 98, 100];

/**
 * How the scores of a list are spread: `{ edges, counts, total, isExact }`, one count for each stretch between two edges; null
 * where there is too little to see. Small lists are counted, of larger ones the ranks at the edges are asked. @throws LadderProblem
 */
export async function spreadOf(service, { board, window, scope, order }) {
  const { entries, total } = await service.entries(board, { window, scope, limit: ALL_MAX });
  if (total <= entries.length) return countedIn(entries.map(({ score }) => score));
  const { percentiles } = await service.percentiles(board, { window, scope, at: RANGE_AT });
  const [least, low, high, most] = percentiles.map(({ score }) => score).sort((a, b) => a - b);
  // A few far away would leave all others in one stretch: they are counted with the outermost.
  const edges = edgesBetween(low, high, [least, low, high, most].every(Number.isInteger));
  if (edges === null) return null;
  const ranks = await readEach(edges.slice(1, -1), (edge) => service.rankOf(board, edge, { window, scope }));
  if (ranks.includes(null)) return null;
  // As many as are better than an edge lie above it, where more is better, else below it.
  const better = ranks.map(({ rank }) => rank - 1);
  const bounds = order === 'asc' ? [0, ...better, total] : [total, ...better, 0];
  const counts = edges.slice(1).map((_, at) => Math.max(0, Math.abs(bounds[at + 1] - bounds[at])));
  return {
    edges: [Math.min(least, low), ...edges.slice(1, -1), Math.max(most, edges.at(-1))],
    counts,
    total,
    isExact: false,
  };
}

/** These scores, counted. */
export function countedIn(scores) {
  if (scores.length < SCORES_MIN) return null;
  const edges = edgesBetween(Math.min(...scores), Math.max(...scores), scores.every(Number.isInteger));
  if (edges === null) return null;
  const counts = Array(edges.length - 1).fill(0);
  for (const score of scores) counts[binOf(edges, score)] += 1;
  return { edges, counts, total: scores.length, isExact: true };
}

/** In which stretch a score lies. */
export function binOf(edges, score) {
  const at = edges.findLastIndex((edge) => edge <= score);
  return Math.min(Math.max(at, 0), edges.length - 2);
}

/** Whole numbers have whole edges. */
function edgesBetween(low, high, isWhole) {
  const width = (high - low) / BINS;
  if (!(width > 0) || !Number.isFinite(width)) return null;
  const step = isWhole ? Math.ceil(width) : width;
  const bins = isWhole ? Math.floor((high - low) / step) + 1 : BINS;
  return Array.from({ length: bins + 1 }, (_, at) => (at === BINS && !isWhole ? high : low + step * at));
}

/** What a chart shows of it; `mine` is the score that is pointed at, null: none. */
export function spreadChart({ edges, counts, total, isExact }, { scores, mine = null, name = '' }) {
  const range = (at) => `${scores.brief(edges[at])} to ${scores.brief(edges[at + 1])}`;
  const about = (value) => countAbout(value, isExact ? null : 0);
  const top = counts.indexOf(Math.max(...counts));
  const place = mine === null ? '' : ` ${isolated(name)} has ${scores.short(mine)}.`;
  return {
    x: counts.map((_, at) => at),
    lines: [{ name: 'Players', values: counts, isBar: true, colour: '--bar' }],
    writeX: (at) => (Number.isInteger(at) && at in counts ? scores.brief(edges[at]) : ''),
    writeY: (value) => count(Math.round(value)),
    mark: mine === null ? null : { at: binOf(edges, mine), label: name },
    words: `${range(top)} is most common: ${about(counts[top])} of ${about(total)}.${place}`,
    table: {
      caption: 'How many have which score',
      head: ['Score', 'Players', 'Part'],
      rows: counts.map((value, at) => [range(at), about(value), percent(value / total)]),
    },
  };
}
