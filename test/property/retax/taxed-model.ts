/** A run as it was submitted. */
export interface ModelRun {
  playerId: string;
  patch: string;
  score: number;
  achievedAtMs: number;
}

/** A patch as it was published; its acceptance is its place in the list. */
export interface ModelPatch {
  patch: string;
  publishedAtMs: number;
  sameAs?: string;
}

/** A row as the contract has it shown. */
export interface ModelRow {
  rank: number;
  playerId: string;
  score: number;
  rawScore: number;
  patch: string;
  patchesBehind: number;
}

/** The tax of the model: of each patch 1/10. */
const taxed = (order: 'asc' | 'desc', raw: number, behind: number): number => {
  if (behind === 0) return raw;
  return (raw * (order === 'asc' ? 10 + behind : Math.max(0, 10 - behind))) / 10;
};

/** The patches that count as themselves, the oldest first, as plainly as the contract says it. */
export const orderOf = (patches: readonly ModelPatch[]): string[] =>
  patches
    .map((one, accepted) => ({ ...one, accepted }))
    .filter(({ sameAs }) => sameAs === undefined)
    .sort((a, b) => a.publishedAtMs - b.publishedAtMs || a.accepted - b.accepted)
    .map(({ patch }) => patch);

/** The patch as which a run counts. */
export function countsAs(patches: readonly ModelPatch[], patch: string): string {
  const found = patches.find((one) => one.patch === patch);
  return found?.sameAs === undefined ? patch : countsAs(patches, found.sameAs);
}

/** How many patches a patch is behind in an order; one that is not in it came after it. */
export const behindIn = (order: readonly string[], patch: string): number =>
  order.includes(patch) ? order.length - 1 - order.indexOf(patch) : 0;

/**
 * The taxed list out of every run there ever was, kept or not: of each player the run that stands highest, of all players in
 * their order. Of one patch the best raw run counts, and, where a tax took everything, the earliest.
 */
export function taxedList(
  runs: readonly ModelRun[],
  patches: readonly ModelPatch[],
  order: readonly string[],
  direction: 'asc' | 'desc',
): ModelRow[] {
  const sign = direction === 'asc' ? 1 : -1;
  const best = new Map<string, ModelRow & { achievedAtMs: number }>();
  for (const { playerId, patch: named, score: rawScore, achievedAtMs } of runs) {
    const patch = countsAs(patches, named);
    const patchesBehind = behindIn(order, patch);
    const row = {
      rank: 0,
      playerId,
      score: taxed(direction, rawScore, patchesBehind),
      rawScore,
      patch,
      patchesBehind,
      achievedAtMs,
    };
    const known = best.get(playerId);
    const isBefore =
      known === undefined ||
      (sign * (row.score - known.score) ||
        row.achievedAtMs - known.achievedAtMs ||
        row.patchesBehind - known.patchesBehind ||
        sign * (row.rawScore - known.rawScore)) < 0;
    if (isBefore) best.set(playerId, row);
  }
  return [...best.values()]
    .sort((a, b) => sign * (a.score - b.score) || a.achievedAtMs - b.achievedAtMs || (a.playerId < b.playerId ? -1 : 1))
    .map(({ achievedAtMs: _time, ...row }, at) => ({ ...row, rank: at + 1 }));
}

/** The list of one patch: runs as they were. */
export function patchList(
  runs: readonly ModelRun[],
  patches: readonly ModelPatch[],
  patch: string,
  direction: 'asc' | 'desc',
): [rank: number, playerId: string, score: number][] {
  const ofPatch = runs.filter((run) => countsAs(patches, run.patch) === patch);
  const untaxed = taxedList(ofPatch, patches, [patch], direction);
  return untaxed.map(({ rank, playerId, score }) => [rank, playerId, score]);
}

/** What is wrong with rows that claim to be under one tax, the newest patch of which is `latest`; null: nothing. */
export function faultOfRows(
  rows: readonly ModelRow[],
  latest: string | null,
  orders: readonly (readonly string[])[],
  direction: 'asc' | 'desc',
): string | null {
  const fitting = orders.filter(
    (order) =>
      (order.at(-1) ?? null) === latest &&
      rows.every(({ patch, patchesBehind }) => behindIn(order, patch) === patchesBehind),
  );
  if (fitting.length === 0) return `the rows are under no order of patches that ends with ${latest}`;
  const sign = direction === 'asc' ? 1 : -1;
  for (const [at, row] of rows.entries()) {
    if (row.score !== taxed(direction, row.rawScore, row.patchesBehind)) return `row ${row.rank} has another tax`;
    const above = rows[at - 1];
    if (above && sign * (above.score - row.score) > 0) return `row ${row.rank} stands behind a worse one`;
  }
  return null;
}
