import { compareSortKeys, errorBoundOf, type CountEstimate, type RankSketch, type SortKey } from '@laddercast/domain';

/** What ranks are estimated by. */
export type RankEstimator = Pick<RankSketch, 'total' | 'estimate' | 'estimateOthers' | 'ownEntry' | 'keyAt'>;

/** The sketch of a list as one player reads it whose entries are ranked for nobody else: where these stand is certain. */
export class SketchWithEntries implements RankEstimator {
  readonly total: number;

  /** @param own the keys of entries that the sketched list lacks, the best first */
  constructor(
    private readonly sketch: RankSketch,
    private readonly own: readonly SortKey[],
  ) {
    this.total = sketch.total + own.length;
  }

  estimate(key: SortKey): CountEstimate {
    return this.withOwn(key, this.sketch.estimate(key));
  }

  estimateOthers(key: SortKey, own: ReturnType<RankSketch['ownEntry']>): CountEstimate {
    return this.withOwn(key, this.sketch.estimateOthers(key, own));
  }

  ownEntry(...asked: Parameters<RankSketch['ownEntry']>): ReturnType<RankSketch['ownEntry']> {
    const [key] = asked[2].filter((candidate) => this.own.some((one) => compareSortKeys(one, candidate) === 0));
    return key ? { kind: 'at', key } : this.sketch.ownEntry(...asked);
  }

  keyAt(rank: number): { key: SortKey; errorBound: number } | null {
    let better = 0;
    for (const key of this.own) {
      const before = this.estimate(key);
      if (before.likely + 1 > rank) break;
      if (before.likely + 1 === rank) return { key, errorBound: errorBoundOf(before) };
      better += 1;
    }
    const found = this.sketch.keyAt(rank - better);
    // The place of an own one was estimated: others may stand before the key that was found.
    return found && { ...found, errorBound: found.errorBound + Math.abs(this.betterThan(found.key) - better) };
  }

  private withOwn(key: SortKey, { low, high, likely }: CountEstimate): CountEstimate {
    const better = this.betterThan(key);
    return { low: low + better, high: high + better, likely: likely + better };
  }

  private betterThan(key: SortKey): number {
    return this.own.filter((one) => compareSortKeys(one, key) < 0).length;
  }
}
