import { denseNotKept, LadderError, wantsDense, type RankStyle } from '@laddercast/domain';
import type { ResolvedList } from './list-resolver.js';

/** How long readers of dense ranks wait until they ask again, while the distinct values are being gathered. */
const GATHERING_RETRY_SECONDS = 5;

/** Where a list is read. */
type ReadList = Pick<ResolvedList, 'board' | 'list' | 'edition'>;

/**
 * The style that ranks of a list are read in: as asked, else the board's own. A board whose own is dense is read in
 * competition until its distinct values are gathered, so that its readers go on; answers say their style.
 * @throws RANK_STYLE_NOT_KEPT, and PROJECTION_BEHIND while the distinct values are being gathered
 */
export function styleToRead(resolved: ReadList, asked: RankStyle | undefined): RankStyle {
  const style = asked ?? resolved.board.definition.rankStyle;
  const fault = faultOfStyle(resolved, style);
  if (fault === null) return style;
  if (asked === undefined) return 'competition';
  throw fault;
}

/** Why a list cannot be read in a style now, null when it can; standings are kept in every one. */
export function faultOfStyle({ board, list, edition }: ReadList, style: RankStyle): LadderError | null {
  if (style !== 'dense' || list.dense || edition !== null) return null;
  if (!wantsDense(board.definition)) return denseNotKept();
  return new LadderError('PROJECTION_BEHIND', 'The dense ranks of this board are being made; try again shortly.', {
    retryAfterSeconds: GATHERING_RETRY_SECONDS,
  });
}
