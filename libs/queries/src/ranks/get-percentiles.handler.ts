import { LadderError, rankAtPercentile, toRankScore } from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Reading } from '@laddercast/projections';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { GetPercentilesQuery, type Percentile, type Percentiles } from '../queries.js';
import { RankEstimates, type SketchRead } from '../lists/rank-estimates.js';

/** How often a list that shrinks under the reading is read anew. */
const TRIES_MAX = 3;

/** The scores at percentiles of a list: out of its sketch, or read row by row. */
@QueryHandler(GetPercentilesQuery)
export class GetPercentilesHandler implements IQueryHandler<GetPercentilesQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly estimates: RankEstimates,
  ) {}

  async execute({ selection, at, accuracy }: GetPercentilesQuery): Promise<Percentiles> {
    // Whatever the board's style: percentiles are of places.
    const { resolved } = await this.reader.open({ ...selection, rankStyle: 'ordinal' });
    const options = { style: 'ordinal' as const, minVersion: selection.minVersion };
    const sketched = accuracy === 'estimated' ? await this.estimates.sketchOf(resolved, options) : null;
    return sketched ? this.estimated(resolved, at, sketched) : this.exact(resolved, at);
  }

  private estimated(resolved: ResolvedList, at: readonly number[], sketched: SketchRead): Percentiles {
    const { sketch, listVersion, asOfMs } = sketched;
    const { total } = sketch;
    const percentiles = at.map((percentile): Percentile => {
      const rank = rankAtPercentile(percentile, total);
      const found = sketch.keyAt(rank);
      if (found === null) return { percentile, rank: null, score: null, errorBound: 0 };
      const score = toRankScore(resolved.list.ordering.order, found.key.score);
      return { percentile, rank, score, errorBound: found.errorBound };
    });
    // Also where every entry is a mark: what is exact is read within the request.
    const errorBound = percentiles.reduce((most, one) => Math.max(most, one.errorBound), 0);
    const estimate = { total, listVersion, accuracy: 'estimated', errorBound } as const;
    return { ...this.reader.envelope(resolved, 'ordinal', estimate, asOfMs), percentiles };
  }

  private async exact(resolved: ResolvedList, at: readonly number[]): Promise<Percentiles> {
    const { list, ranks, edition } = resolved;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const reading = await ranks.total(list);
      const { total } = reading;
      const percentiles = await Promise.all(
        at.map(async (percentile): Promise<Percentile | null> => {
          if (total === 0) return { percentile, rank: null, score: null, errorBound: 0 };
          const rank = rankAtPercentile(percentile, total);
          const page = await ranks.page(list, rank - 1, 1, 'ordinal');
          const [row] = page.entries;
          const errorBound = page.errorBound ?? 0;
          return row ? { percentile, rank, score: row.score, errorBound } : null;
        }),
      );
      const found = percentiles.filter((one) => one !== null);
      if (found.length === at.length) {
        const errorBound = Math.max(reading.errorBound ?? 0, ...found.map((one) => one.errorBound));
        const read: Reading = errorBound === 0 ? reading : { ...reading, accuracy: 'estimated', errorBound };
        return { ...this.reader.envelope(resolved, 'ordinal', read), percentiles: found };
      }
      if (edition !== null) {
        const detail = 'Only the first places were kept; a percentile that was asked for is below them.';
        throw new LadderError('SNAPSHOT_GONE', detail, { total });
      }
    }
    const detail = 'The list changes faster than it is read; try again shortly.';
    throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: 1 });
  }
}
