import {
  ACHIEVED_AT_MS_MAX,
  encodeMemberPrefix,
  toRankScore,
  type BoardOrdering,
  type SortKey,
} from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from './list-reader.js';
import { GetRankOfScoreQuery, type RankOfScore } from './queries.js';

@QueryHandler(GetRankOfScoreQuery)
export class GetRankOfScoreHandler implements IQueryHandler<GetRankOfScoreQuery> {
  constructor(private readonly reader: ListReader) {}

  async execute({ selection, score }: GetRankOfScoreQuery): Promise<RankOfScore> {
    const { resolved, style } = await this.reader.open(selection);
    const { ordering } = resolved.list;
    const key = style === 'competition' ? beforeEqualScores(ordering, score) : asSubmittedNow(ordering, score);
    const reading = await resolved.ranks.rankOfKey(resolved.list, key);
    return { ...this.reader.envelope(resolved, style, reading), rank: reading.rank, accuracy: 'exact' };
  }
}

/**
 * Where a run of this score that is achieved now would stand: behind equal ones under `earliest` and `none`, before
 * them under `latest`. Extra columns are taken as the worst there is, so the rank is never promised too high.
 */
function asSubmittedNow(ordering: BoardOrdering, score: number): SortKey {
  const worst = ordering.columns.map(({ order }) => (order === 'asc' ? Number.MAX_VALUE : -Number.MAX_VALUE));
  const achievedAtMs = ordering.tiebreak === 'earliest' ? ACHIEVED_AT_MS_MAX : nowMs();
  const prefix = encodeMemberPrefix(ordering, { columns: worst, achievedAtMs });
  // No player id reaches 0xff: with it the key stands behind every entry of the same values.
  const behindEqual = ordering.tiebreak === 'latest' ? Buffer.alloc(0) : Buffer.from([0xff]);
  return { score: toRankScore(ordering.order, score), member: Buffer.concat([prefix, behindEqual]) };
}

const beforeEqualScores = (ordering: BoardOrdering, score: number): SortKey => ({
  score: toRankScore(ordering.order, score),
  member: Buffer.alloc(0),
});
