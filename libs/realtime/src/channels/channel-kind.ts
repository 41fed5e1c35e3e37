import type { CircleMembers, EntryDetails, RankEstimates } from '@laddercast/queries';
import type { ChannelMessageClass } from '../protocol/client-messages.js';
import type { WatchBudget } from './watch-budget.js';
import type { StyledWatch } from './watched-channel.js';
import type { RowsReader } from './watched-rows.js';

/** What channels read from, and the budgets that they share. */
export interface ChannelSources {
  details: EntryDetails;
  /** Who is in a circle. */
  members: CircleMembers;
  estimates: RankEstimates;
  /** The budget of watched channels, of all kinds. */
  channels: WatchBudget;
  /** The budget of members of watched circles. */
  circleMembers: WatchBudget;
  /** The budget of players whose ranks are estimated, because no more can be exact. */
  estimatedPlayers: WatchBudget;
}

/** What a channel's rows depend on, beside the request itself. */
export interface Viewed extends StyledWatch {
  /** Whether the reader sees the watched player also when it is not listed. */
  isOwn: boolean;
}

/** How rows of a channel are read, and the budget of which each different watch takes one. */
export interface WatchedBy<Watch> {
  reader: RowsReader<Watch>;
  budget: WatchBudget;
}

/** One kind of channel: a row of the channel table. */
export interface ChannelKind<Asked extends object = object> {
  /**
   * What clients send. Its decorators check it and give its schema in /asyncapi.json; its methods say who may watch.
   */
  message: ChannelMessageClass<Asked>;
  /** What the channel shows, for /asyncapi.json. */
  description: string;
  /**
   * The readers of a list's rows: a watch is served by the first that has room for it, or refused by the last. Absent: the
   * channel shows the first places, which every list has in memory.
   */
  rows?(sources: ChannelSources): WatchedBy<Asked & Viewed>[];
}
