/** A row of a list, as snapshots and REST have it. */
export interface ListRow {
  playerId: string;
  rank: number;
  score: number;
  achievedAt: string | null;
}

/** What a delta says of a player: a row that changed, one that only moved, or one that left the list. */
export type RowChange =
  | (ListRow & { previousRank?: number | null })
  | { playerId: string; rank: number | null; previousRank: number | null; score?: undefined };

export interface SnapshotFrame {
  type: 'snapshot';
  seq: number;
  total: number;
  entries: ListRow[];
}

export interface DeltaFrame {
  type: 'delta';
  seq: number;
  previousSeq: number;
  total: number;
  changes: RowChange[];
}

/** Frames of a subscription to the top of a list. */
export type TopFrame = SnapshotFrame | DeltaFrame;

/** A list as a client holds it by the rule of the contract: a snapshot, then deltas whose numbers join. */
export class FollowedList {
  seq = -1;
  total = 0;
  #rows = new Map<string, ListRow>();

  /**
   * Takes a frame as it was parsed.
   * @returns the changes that it brought: of a snapshot its entries; none of an old delta
   * @throws Error when a delta is missing, or does not fit what is held
   */
  take(frame: TopFrame): readonly RowChange[] {
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
  text(): string {
    return textOf([...this.#rows.values()]);
  }

  #at({ seq, total }: TopFrame, changes: readonly RowChange[]): readonly RowChange[] {
    Object.assign(this, { seq, total });
    return changes;
  }

  #apply(change: RowChange): void {
    const { playerId, rank } = change;
    if (rank === null) {
      if (!this.#rows.delete(playerId)) throw new Error(`${playerId} left a list that it was not in.`);
      return;
    }
    if (change.score !== undefined) return void this.#rows.set(playerId, change);
    const known = this.#rows.get(playerId);
    if (known === undefined) throw new Error(`${playerId} was shifted in a list that it was not in.`);
    this.#rows.set(playerId, { ...known, rank });
  }
}

/** Rows as text, in the order of their ranks. */
export const textOf = (rows: readonly ListRow[]): string =>
  rows
    .map(({ rank, playerId, score, achievedAt }) => ({ rank, text: `${rank} ${playerId} ${score} ${achievedAt}` }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ text }) => text)
    .join('\n');
