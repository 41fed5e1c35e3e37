import { patchIdOf, type Board } from '@laddercast/domain';
import { RunList, runsNotKept, type ListedRun } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListResolver } from '../lists/list-resolver.js';
import { cutPage } from '../shared/cut-page.js';
import { ListRunsQuery, type RunsPage, type ShownRun } from './runs-query.js';

@QueryHandler(ListRunsQuery)
export class ListRunsHandler implements IQueryHandler<ListRunsQuery> {
  constructor(
    private readonly resolver: ListResolver,
    private readonly runs: RunList,
  ) {}

  async execute({ boardId, wanted, page: { limit, before }, reasonsShown }: ListRunsQuery): Promise<RunsPage> {
    const board = await this.resolver.board(boardId);
    const { runsFrom } = board;
    if (runsFrom === undefined) throw runsNotKept(boardId);
    const { windowName, ...rest } = wanted;
    const window = windowName === undefined ? null : await this.resolver.window(board, windowName);
    const filter = window === null ? rest : { ...rest, windowUid: window.uid };
    // One more, to know whether there is a next page.
    const found = await this.runs.list({ ...board, runsFrom }, filter, { limit: limit + 1, before });
    const { page, next } = cutPage(found, limit, ({ version }) => String(version));
    return { runs: page.map((run) => shown(board, run, reasonsShown)), next };
  }
}

function shown(board: Board, run: ListedRun, reasonsShown: boolean): ShownRun {
  const { columns, achievedAtMs, acceptedAtMs, metadata, patch, reason, ...rest } = run;
  const { definition, patches } = board;
  const names = run.score === null ? [] : definition.columns;
  return {
    ...rest,
    columns: Object.fromEntries(names.map(({ name }, at) => [name, columns[at]!])),
    achievedAt: toTimestamp(achievedAtMs),
    acceptedAt: toTimestamp(acceptedAtMs),
    metadata: metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>),
    ...(patches && { patch: patch === null ? null : (patchIdOf(patches, patch) ?? String(patch)) }),
    ...(reasonsShown && { reason }),
  };
}
