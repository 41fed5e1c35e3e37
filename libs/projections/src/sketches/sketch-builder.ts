import { SKETCH_MARKS_MAX } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import { Injectable, Optional } from '@nestjs/common';
import { type RankList, RankProjection } from '../ranks/rank-projection.js';
import { isSameVersion, type SketchStamp, SketchStore, type StoredSketch } from './sketch-store.js';

/** Makes sketches of lists, and publishes them. */
@Injectable()
export class SketchBuilder {
  constructor(
    private readonly projection: RankProjection,
    private readonly store: SketchStore,
    @Optional() private readonly marksMax = SKETCH_MARKS_MAX,
  ) {}

  /**
   * Brings what is published up to the list as it is: confirms a sketch of its version, and replaces another.
   * @param published what is there now; null: nothing
   * @returns the sketch, where one had to be made
   * @throws PROJECTION_UNAVAILABLE
   */
  async renew(list: RankList, published: SketchStamp | null): Promise<StoredSketch | null> {
    const askedAtMs = nowMs();
    const { listVersion } = await this.projection.total(list);
    const present = { generation: list.generation, listVersion, asOfMs: askedAtMs };
    if (published !== null && isSameVersion(published, present) && (await this.store.confirm(list, present)))
      return null;
    return this.build(list);
  }

  /** Makes a sketch of the list as it is, and publishes it unless a newer one is there. @throws PROJECTION_UNAVAILABLE */
  async build(list: RankList): Promise<StoredSketch> {
    const asOfMs = nowMs();
    const { shards, listVersion, errorBound: doubt = 0 } = await this.projection.readMarks(list, this.marksMax);
    const sketch = { generation: list.generation, listVersion, asOfMs, shards, doubt };
    await this.store.publish(list, sketch);
    return sketch;
  }
}
