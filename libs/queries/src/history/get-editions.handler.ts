import { LadderError } from '@laddercast/domain';
import { EditionCatalog } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListResolver } from '../lists/list-resolver.js';
import { GetEditionsQuery, type EditionsPage } from '../queries.js';
import { describeResolved } from '../rows/list-reader.js';
import { cutPage } from '../shared/cut-page.js';

/** The editions of the final standings of a window: which there are, and what made each. */
@QueryHandler(GetEditionsQuery)
export class GetEditionsHandler implements IQueryHandler<GetEditionsQuery> {
  constructor(
    private readonly resolver: ListResolver,
    private readonly editions: EditionCatalog,
  ) {}

  async execute({ boardId, windowName, limit, before, seesActs }: GetEditionsQuery): Promise<EditionsPage> {
    const resolved = await this.resolver.resolve({ boardId, window: windowName }, { prefersStandings: true });
    const { board, window, edition } = resolved;
    if (edition?.kind !== 'final') {
      const detail = `"${window.id}" has no final standings: it has not ended, or they are being written.`;
      throw new LadderError('EDITION_NOT_FOUND', detail);
    }
    const found = await this.editions.list(window.uid, before, limit + 1);
    const { page, next } = cutPage(found, limit, ({ number }) => String(number));
    return {
      board: board.id,
      window: describeResolved(resolved),
      editions: page.map(({ number, atMs, reason, acts }) => ({
        edition: number,
        at: toTimestamp(atMs),
        reason: seesActs ? reason : null,
        acts: seesActs ? acts : [],
      })),
      next,
    };
  }
}
