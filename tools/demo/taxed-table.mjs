const faultsMax = 5;

/** A run of so many days, so many patches behind, under a tax of a tenth for each. */
export const taxed = (days, behind) => (days * (10 + behind)) / 10;

/** The best runs of each player and patch that were sent: what the boards have to show at least. */
export class SentRuns {
  #best = new Map();

  add({ board, playerId, patch, score }) {
    const key = JSON.stringify([board, playerId, patch]);
    this.#best.set(key, Math.min(score, this.#best.get(key) ?? Infinity));
  }

  /** `player → taxed score` on a board; `behindOf` gives how many patches a patch is behind. */
  standings(board, behindOf) {
    const standing = new Map();
    for (const [key, score] of this.#best) {
      const [of, playerId, patch] = JSON.parse(key);
      if (of !== board) continue;
      standing.set(playerId, Math.min(taxed(score, behindOf(patch)), standing.get(playerId) ?? Infinity));
    }
    return standing;
  }
}

/**
 * What is wrong with a taxed table, as lines of text; none when every row has the score that its run gives, stands in its
 * order, and is what was sent.
 * @param standings `player → taxed score` of what was sent
 * @param isWhole whether nobody else had a run on the board before; else rows may also be better than what was sent
 */
export function tableFaults(table, standings, { isWhole }) {
  const faults = [];
  let before = { rank: 0, score: -Infinity };
  for (const row of table) {
    const { rank, playerId, score, rawScore, patch, patchesBehind } = row;
    const right = taxed(rawScore, patchesBehind);
    if (score !== right) faults.push(`${playerId}: ${score} for ${rawScore} on ${patch}, not ${right}`);
    if (score < before.score || rank !== before.rank + 1) faults.push(`${playerId}: out of order at rank ${rank}`);
    before = row;
  }
  const shown = new Map(table.map(({ playerId, score }) => [playerId, score]));
  for (const [playerId, score] of standings) {
    const got = shown.get(playerId);
    const isRight = isWhole ? got === score : got !== undefined && got <= score;
    if (!isRight)
      faults.push(`${playerId}: the runs that were sent give ${score}, the board shows ${got ?? 'nothing'}`);
  }
  if (isWhole && shown.size > standings.size) faults.push(`${shown.size - standings.size} players that were not sent`);
  return faults.slice(0, faultsMax);
}
