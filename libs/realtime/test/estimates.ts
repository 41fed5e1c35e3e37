import { SketchBuilder, SketchCache, type RankProjection, type SketchStore } from '@laddercast/projections';
import { RankEstimates } from '@laddercast/queries';

/** What a process estimates ranks by; its cache follows the lists from `start()` on. */
export function estimatesOver(
  projection: RankProjection,
  store: SketchStore,
  marksMax?: number,
): { estimates: RankEstimates; sketches: SketchCache } {
  const sketches = new SketchCache(store, new SketchBuilder(projection, store, marksMax));
  return { estimates: new RankEstimates(projection, sketches), sketches };
}
