import { LadderError, type SanctionInForce } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';

/** Why a run of a banned player is refused, with what the player may know of the ban. */
export function playerBanned(
  playerId: string,
  boardId: string,
  { untilMs, publicReason }: Pick<SanctionInForce, 'untilMs' | 'publicReason'>,
): LadderError {
  const until = untilMs === null ? null : toTimestamp(untilMs);
  const detail = `"${playerId}" is banned from board "${boardId}"${until === null ? '' : ` until ${until}`}; the run is not counted.`;
  return new LadderError('PLAYER_BANNED', detail, { sanction: { kind: 'ban', until, publicReason } });
}
