import type { CircleMembers, EntryDetails, RankEstimates } from '@laddercast/queries';
import type { ChannelMessageClass } from '../protocol/client-messages.js';
import type { WatchBudget } from './watch-budget.js';
import type { RowsReader, StyledWatch } from './watched-rows.js';

/** What channels read from, and what they may take. */
export interface ChannelSources {
  details: EntryDetails;
  /** Who is in a circle. */
  members: CircleMembers;
  estimates: RankEstimates;
  /** Of watched channels, whatever they show. */
  channels: WatchBudget;
  /** Of members of watched circles. */
  circleMembers: WatchBudget;
  /** Of players whose ranks are estimated, because no more can be kept exact. */
  estimatedPlayers: WatchBudget;
}

/** What decides how a reader sees a channel, beside what it asks for. */
export interface Viewed extends StyledWatch {
  /** Whether the reader sees the watched player also when it is not listed. */
  isOwn: boolean;
}

/** How rows of a channel are read, and what each different watch takes one of. */
export interface WatchedBy<Watch> {
  reader: RowsReader<Watch>;
  budget: WatchBudget;
}

/** One kind of channel: a row of the channel table. */
export interface ChannelKind<Asked extends object = object> {
  /** What clients send: its decorators check it, and say it in /asyncapi.json; it says who may watch. */
  message: ChannelMessageClass<Asked>;
  /** What the channel shows, for /asyncapi.json. */
  description: string;
  /**
   * The readers of a list's rows: a watch is served by the first that has room for it, or refused by the last. Absent: the
   * channel shows the first places, which every list has in memory.
   */
  rows?(sources: ChannelSources): WatchedBy<Asked & Viewed>[];
}
