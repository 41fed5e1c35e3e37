import { GUILDS_SCOPE, NEVER_USED_SCOPE } from '@laddercast/domain';
import type { ListNames, ResolvedList } from '@laddercast/queries';
import type { LiveSubscription } from '../connection/live-subscription.js';
import type { ListFeed } from '../feeds/list-feed.js';
import type { ChannelMessage } from '../protocol/client-messages.js';

/** The names of the list that a request asks for. */
export const namesOfRequest = (request: ChannelMessage): ListNames => ({
  boardId: request.board,
  window: request.window,
  scope: request.listScope(),
  ofGuilds: request.isOfGuilds(),
});

/**
 * The names by which a feed's list is resolved anew, whichever window runs by now, each with the subscribers that it
 * stands for: mostly one name for all, but one list stands for all scopes without a score.
 */
export function namesInUse(feed: ListFeed): [ListNames, LiveSubscription[]][] {
  const { board, window, list } = feed.resolved;
  const subscribers = [...feed.subscribers()];
  if (list.scope !== NEVER_USED_SCOPE) return [[namesOf(feed.resolved), subscribers]];
  const byScope = new Map<string, [ListNames, LiveSubscription[]]>();
  for (const subscription of subscribers) {
    const names = { ...namesOfRequest(subscription.request), boardId: board.id, window: window.id };
    const key = JSON.stringify(names);
    const known = byScope.get(key);
    if (known) known[1].push(subscription);
    else byScope.set(key, [names, [subscription]]);
  }
  return [...byScope.values()];
}

const namesOf = ({ board, window, scope, list }: ResolvedList): ListNames =>
  list.scope === GUILDS_SCOPE
    ? { boardId: board.id, window: window.id, ofGuilds: true }
    : { boardId: board.id, window: window.id, scope };
