import type { PlayerRegistry } from '@laddercast/ledger';
import type { UnlistedShown } from '../queries.js';

/** Whether a caller sees a player: to others, one who is not listed looks like one who never played. */
export async function isPlayerShown(
  players: Pick<PlayerRegistry, 'find'>,
  playerId: string,
  unlistedShown: UnlistedShown,
): Promise<boolean> {
  if (unlistedShown === 'all' || unlistedShown.includes(playerId)) return true;
  return (await players.find(playerId))?.listed ?? true;
}
