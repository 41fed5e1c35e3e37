import { LadderError, toRankScore } from '@laddercast/domain';
import { inParts } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { ProposeBoundariesQuery, type BoundariesProposal } from '../queries.js';

/** Rows that are looked for side by side. */
const ROWS_AT_ONCE = 8;

/** Parts a list into ranges of scores with as many entries each as equal scores allow. */
@QueryHandler(ProposeBoundariesQuery)
export class ProposeBoundariesHandler implements IQueryHandler<ProposeBoundariesQuery> {
  constructor(private readonly reader: ListReader) {}

  async execute({ boardId, window, shards }: ProposeBoundariesQuery): Promise<BoundariesProposal> {
    const { resolved } = await this.reader.open({ boardId, window, isAdmin: true });
    const { total } = await resolved.ranks.total(resolved.list);
    const indexes = Array.from({ length: shards - 1 }, (_, at) => Math.round(((at + 1) * total) / shards));
    const scores = new Set(await inParts(indexes, ROWS_AT_ONCE, (index) => this.scoreAt(resolved, index)));
    scores.delete(null);
    const found = await inParts([...scores] as number[], ROWS_AT_ONCE, async (score) => ({
      score,
      before: await this.countBefore(resolved, score),
    }));
    // Before the best score there is nobody: it bounds nothing.
    const boundaries = found.filter(({ before }) => before > 0).sort((a, b) => a.before - b.before);
    if (boundaries.length === 0) {
      const detail = `Of ${total} entries none can be parted from the others: nobody has another score.`;
      throw new LadderError('BOUNDARIES_IMPOSSIBLE', detail, { total });
    }
    const edges = [0, ...boundaries.map(({ before }) => before), total];
    return {
      board: boardId,
      window: resolved.window.id,
      total,
      sharding: { by: 'range', boundaries: boundaries.map(({ score }) => score).sort((a, b) => a - b) },
      entries: edges.slice(1).map((edge, at) => Math.max(0, edge - edges[at]!)),
      isLimitedByTies: boundaries.length < shards - 1,
    };
  }

  /** The score of the entry at a 0-based index; null behind the end. */
  private async scoreAt({ ranks, list }: ResolvedList, index: number): Promise<number | null> {
    const { entries } = await ranks.page(list, index, 1, 'ordinal');
    return entries[0]?.score ?? null;
  }

  /** How many entries are strictly better than a score. */
  private async countBefore({ ranks, list }: ResolvedList, score: number): Promise<number> {
    const key = { score: toRankScore(list.ordering.order, score), member: Buffer.alloc(0) };
    return (await ranks.rankOfKey(list, key, 'ordinal')).rank - 1;
  }
}
