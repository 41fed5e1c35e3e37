/** A race: how the leaders came to their places, as lists at times. Nothing here knows of the document. */

/**
 * The list at a part (0 to 1) of a race. A race is `{ stops: [{ at, label, list }], isEven }`, its stops in order of `at`;
 * `isEven` where scores between two stops are drawn evenly, as nothing is known of them.
 */
export function frameAt({ stops, isEven, order }, part, limit) {
  const [first, last] = [stops[0].at, stops.at(-1).at];
  const time = first + (last - first) * Math.min(1, Math.max(0, part));
  const next = stops.findIndex(({ at }) => at >= time);
  const to = stops[next < 0 ? stops.length - 1 : next];
  const from = to.at === time || next <= 0 ? to : stops[next - 1];
  const share = to.at === from.at ? 1 : (time - from.at) / (to.at - from.at);
  const scores = isEven ? between(from.scores, to.scores, share) : (share === 1 ? to : from).scores;
  return {
    time,
    label: (share === 1 || !isEven ? (share === 1 ? to : from) : to).label,
    rows: ranked(scores, order, limit),
  };
}

function between(from, to, share) {
  const scores = new Map();
  for (const [id, score] of to) {
    const before = from.get(id) ?? 0;
    scores.set(id, before + (score - before) * share);
  }
  return scores;
}

function ranked(scores, order, limit) {
  const sign = order === 'asc' ? 1 : -1;
  return [...scores]
    .sort(([idA, a], [idB, b]) => sign * (a - b) || (idA < idB ? -1 : 1))
    .slice(0, limit)
    .map(([playerId, score], at) => ({ playerId, score, rank: at + 1 }));
}

/** A race through windows that are over: what each adds to the sum of those before, where the board adds, else each alone. */
export function raceOfWindows(lists, { isSum, labelOf }) {
  const sums = new Map();
  const stops = lists.map(({ window, entries }, at) => {
    if (!isSum) sums.clear();
    for (const { playerId, score } of entries) sums.set(playerId, (sums.get(playerId) ?? 0) + score);
    return { at: at + 1, label: labelOf(window), scores: new Map(sums) };
  });
  const start = { at: 0, label: stops[0]?.label ?? '', scores: new Map() };
  return { stops: isSum ? [start, ...stops] : stops, isEven: isSum };
}

/** A race through what the board recorded of its leaders: `histories` is `[{ playerId, points }]`, points the oldest first. */
export function raceOfHistories(histories, { labelOf }) {
  const events = histories
    .flatMap(({ playerId, points }) => points.map(({ time, score }) => ({ playerId, time, score })))
    .sort((a, b) => a.time - b.time);
  const scores = new Map();
  const stops = new Map();
  for (const { playerId, time, score } of events) {
    scores.set(playerId, score);
    stops.set(time, { at: time, label: labelOf(time), scores: new Map(scores) });
  }
  return { stops: [...stops.values()], isEven: false };
}
