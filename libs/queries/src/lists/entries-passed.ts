import { sharesRank, type RankStyle, type SortValues } from '@laddercast/domain';

/** An entry of a list, with its rank there in some style. */
export interface RankedThere extends Pick<SortValues, 'score' | 'columns'> {
  rank: number;
}

/**
 * Entries that stand in a list beside its own, counted one after another on the way from the top: what is behind them stands
 * so many further.
 */
export class EntriesPassed {
  private last: Pick<SortValues, 'score' | 'columns'> | undefined;
  private passed = 0;
  /** Of those passed, how many have the score and columns of the last. */
  private tied = 0;
  /** How many scores and columns they have that the list has not. */
  private values = 0;
  private isLastNew = false;

  /** @param isNew whether the list has no entry of its score and columns */
  pass(entry: Pick<SortValues, 'score' | 'columns'>, isNew: boolean): void {
    const isTied = this.last !== undefined && sharesRank(this.last, entry);
    this.passed += 1;
    this.tied = isTied ? this.tied + 1 : 1;
    if (isNew && !isTied) this.values += 1;
    this.isLastNew = isNew;
    this.last = entry;
  }

  /**
   * How much further an entry behind them all stands in a style.
   * @param entry null: one of other score or columns than those passed
   */
  shift(entry: Pick<SortValues, 'score' | 'columns'> | null, style: RankStyle): number {
    const isTied = entry !== null && this.last !== undefined && sharesRank(this.last, entry);
    if (style === 'ordinal') return this.passed;
    if (style === 'competition') return this.passed - (isTied ? this.tied : 0);
    return this.values - (isTied && this.isLastNew ? 1 : 0);
  }

  /**
   * The rank of the next one that is to be passed.
   * @param ordinal how many entries of the list are before it
   * @param before the entry of the list before it, with its rank in the style; undefined: it is the first
   * @param after the entry of the list behind it; undefined: it is the last
   */
  rankOf(
    entry: Pick<SortValues, 'score' | 'columns'>,
    style: RankStyle,
    { ordinal, before, after }: { ordinal: number; before: RankedThere | undefined; after: RankedThere | undefined },
  ): { rank: number; isNew: boolean } {
    const tied = [before, after].find((one) => one !== undefined && sharesRank(one, entry));
    const better = style === 'dense' ? (before?.rank ?? 0) : ordinal;
    const there = style === 'ordinal' || tied === undefined ? better + 1 : tied.rank;
    return { rank: there + this.shift(entry, style), isNew: tied === undefined };
  }
}
