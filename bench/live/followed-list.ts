/** A list as a client holds it by the rule of the contract: a snapshot, then deltas whose numbers join. */
export class FollowedList {
  seq = -1;
  total = 0;
  #rows = new Map();

  /**
   * Takes a frame as it was parsed.
   * @returns the changes that it brought: of a snapshot its entries; none of an old delta
   * @throws Error when a delta is missing, or does not fit what is held
   */
  take(frame) {
    if (frame.type === 'snapshot') {
      this.#rows = new Map(frame.entries.map((entry) => [entry.playerId, entry]));
      return this.#at(frame, frame.entries);
    }
    if (frame.type !== 'delta') throw new Error(`Not a delta: ${JSON.stringify(frame)}`);
    if (frame.seq <= this.seq) return [];
    if (frame.previousSeq > this.seq) throw new Error(`After ${this.seq} came a delta from ${frame.previousSeq} on.`);
    for (const change of frame.changes) this.#apply(change);
    return this.#at(frame, frame.changes);
  }

  /** The list as text, for comparing: the rows in the order of their ranks, without what only deltas say. */
  text() {
    return textOf([...this.#rows.values()]);
  }

  #at({ seq, total }, changes) {
    Object.assign(this, { seq, total });
    return changes;
  }

  #apply(change) {
    const { playerId, rank } = change;
    if (rank === null) {
      if (!this.#rows.delete(playerId)) throw new Error(`${playerId} left a list that it was not in.`);
    } else if ('score' in change) {
      this.#rows.set(playerId, change);
    } else if (this.#rows.has(playerId)) {
      this.#rows.set(playerId, { ...this.#rows.get(playerId), rank });
    } else {
      throw new Error(`${playerId} was shifted in a list that it was not in.`);
    }
  }
}

/** Rows as text, in the order of their ranks. */
export const textOf = (rows) =>
  rows
    .map(({ rank, playerId, score, achievedAt }) => ({ rank, text: `${rank} ${playerId} ${score} ${achievedAt}` }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ text }) => text)
    .join('\n');
