import {
  ACHIEVED_AT_MS_MAX,
  assertColumnsInBounds,
  assertRawScoreInBounds,
  assertScoreInBounds,
  countedKey,
  encodeMemberPrefix,
  isPatchScope,
  LadderError,
  patchesBehind,
  publishedPatch,
  taxedScore,
  taxRateOf,
  toRankScore,
  type BoardOrdering,
  type SortKey,
} from '@laddercast/domain';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { ResolvedList } from '../lists/list-resolver.js';
import { ListReader } from '../rows/list-reader.js';
import { GetRankOfScoreQuery, type RankOfScore } from '../queries.js';
import { RankEstimates, rankOf } from '../lists/rank-estimates.js';

@QueryHandler(GetRankOfScoreQuery)
export class GetRankOfScoreHandler implements IQueryHandler<GetRankOfScoreQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly estimates: RankEstimates,
  ) {}

  async execute({ selection, score: given, columns, accuracy, patch }: GetRankOfScoreQuery): Promise<RankOfScore> {
    const { resolved, style } = await this.reader.open(selection);
    const { ordering } = resolved.list;
    const score = patch === undefined ? given : scoreOfRun(resolved, patch, given, columns);
    const key = asSubmittedAt(resolved.atMs, ordering, score, columnsOf(resolved.board.id, ordering, columns));
    const options = { style, minVersion: selection.minVersion };
    const sketched = accuracy === 'estimated' ? await this.estimates.sketchOf(resolved, options) : null;
    if (sketched) {
      const { sketch, listVersion, asOfMs } = sketched;
      const { rank, errorBound } = rankOf(sketch.estimate(countedKey(ordering, key, style)));
      const reading = { total: sketch.total, listVersion, accuracy: 'estimated', errorBound } as const;
      return { ...this.reader.envelope(resolved, style, reading, asOfMs), rank };
    }
    const reading = await resolved.ranks.rankOfKey(resolved.list, key, style);
    return { ...this.reader.envelope(resolved, style, reading), rank: reading.rank };
  }
}

/**
 * What a run on a patch comes to in the list; one that the board would not take has no rank.
 * @throws NOT_SUPPORTED, PATCH_UNKNOWN, SCORE_OUT_OF_BOUNDS, COLUMN_OUT_OF_BOUNDS
 */
function scoreOfRun(
  { board, list }: ResolvedList,
  patch: string,
  raw: number,
  columns: Readonly<Record<string, number>>,
): number {
  const { definition } = board;
  const { decay, order } = definition;
  if (!decay || !board.patches) {
    const detail = `Board "${board.id}" has no decay, and its scores are of no patch: leave patch out.`;
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'patch' });
  }
  const { countsAs } = publishedPatch(board.patches, patch, 404);
  assertScoreInBounds(definition, raw, 'The score');
  assertRawScoreInBounds(raw);
  const given = definition.columns.filter(({ name }) => Object.hasOwn(columns, name));
  assertColumnsInBounds(
    { ...definition, columns: given },
    given.map(({ name }) => columns[name]!),
  );
  if (isPatchScope(list.scope)) return raw;
  return taxedScore(order, taxRateOf(decay.perPatch), raw, patchesBehind(list.tax!, countsAs));
}

/** Where a run that is achieved at `atMs` would stand: behind equal ones under `earliest` and `none`, before them under `latest`. */
function asSubmittedAt(atMs: number, ordering: BoardOrdering, score: number, columns: number[]): SortKey {
  const achievedAtMs = ordering.tiebreak === 'earliest' ? ACHIEVED_AT_MS_MAX : atMs;
  const prefix = encodeMemberPrefix(ordering, { columns, achievedAtMs });
  // No player id reaches 0xff: with it the key stands behind every entry of the same values.
  const behindEqual = ordering.tiebreak === 'latest' ? Buffer.alloc(0) : Buffer.from([0xff]);
  return { score: toRankScore(ordering.order, score), member: Buffer.concat([prefix, behindEqual]) };
}

/**
 * The board's columns in their order; one that is not given is taken as the worst there is, so that no rank is promised
 * too high.
 * @throws COLUMNS_MISMATCH
 */
function columnsOf(boardId: string, ordering: BoardOrdering, given: Readonly<Record<string, number>>): number[] {
  const known = ordering.columns.map(({ name }) => name);
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const has = known.length === 0 ? 'no extra columns' : `the columns ${known.join(', ')}`;
    throw new LadderError('COLUMNS_MISMATCH', `Board "${boardId}" has ${has}.`, { missing: [], unknown });
  }
  const worst = { asc: Number.MAX_VALUE, desc: -Number.MAX_VALUE };
  return ordering.columns.map(({ name, order }) => (Object.hasOwn(given, name) ? given[name]! : worst[order]));
}
