import { holdsOn } from '@laddercast/domain';
import type { PlayerRegistry } from '@laddercast/ledger';

/** Some players, or `all`. */
export type UnlistedShown = readonly string[] | 'all';

/** Who asks for a player by its id. */
export interface PlayerReader {
  unlistedShown: UnlistedShown;
  /** Whether it sees banned and shadowed players. */
  moderates: boolean;
}

/**
 * Whether a caller sees a player: to others, one who is not listed, or sanctioned, looks like one who never played.
 * @param boardId the board that is asked for; null: none, then only sanctions on all boards matter
 */
export async function isPlayerShown(
  players: Pick<PlayerRegistry, 'find' | 'sanctionOf'>,
  playerId: string,
  { unlistedShown, moderates }: PlayerReader,
  boardId: string | null,
): Promise<boolean> {
  if (moderates || (unlistedShown !== 'all' && unlistedShown.includes(playerId))) return true;
  const sanction = await players.sanctionOf(playerId);
  const holds = boardId === null ? sanction?.boards === null : holdsOn(sanction, boardId);
  if (holds && sanction!.kind !== 'hide') return false;
  if (unlistedShown === 'all') return true;
  return !holds && ((await players.find(playerId))?.listed ?? true);
}
