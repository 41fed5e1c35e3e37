import { keyOfEntry, type EntryId } from '@laddercast/domain';
import type { LiveSubscription } from '../connection/live-subscription.js';

/** What a channel shows of a list. */
interface Shown {
  total: number;
  entries: readonly EntryId[];
}

/**
 * To be awaited before subscribers are told that a list lost an entry, which can be that of the player whose socket it is: a
 * player that was shadowed is served in its own world from then on, and does not see itself go.
 */
export async function beforeLoss(subscribers: Iterable<LiveSubscription>, before: Shown, after: Shown): Promise<void> {
  const left = new Set(after.entries.map(keyOfEntry));
  const lost = before.entries.filter((entry) => !left.has(keyOfEntry(entry)));
  const gone = new Set(lost.map(({ playerId }) => playerId));
  const isShorter = after.total < before.total;
  if (!isShorter && gone.size === 0) return;
  const doubted = [...subscribers].filter(
    ({ ownPlayer, worldOf }) => ownPlayer !== null && worldOf === null && (isShorter || gone.has(ownPlayer)),
  );
  await Promise.all(doubted.map((subscription) => subscription.lookAtWorld()));
}
