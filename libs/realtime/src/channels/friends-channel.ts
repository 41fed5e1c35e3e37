import {
  CIRCLE_ENTRIES_MAX,
  LadderError,
  rankAmongThemselves,
  type CircleRow,
  type RankStyle,
} from '@laddercast/domain';
import { assertMayReadFriends, type Identity } from '@laddercast/identity';
import type { ProjectedEntry } from '@laddercast/projections';
import { faultOfStyle, type CircleMembers, type EntryDetails, type ResolvedList } from '@laddercast/queries';
import { ChannelMessage, IsPlayerId } from '../protocol/client-messages.js';
import { worthOf, type FrameWorth } from '../protocol/frame-worth.js';
import type { ChannelKind } from './channel-kind.js';
import { completedRows, shownOf } from './completed-rows.js';
import type { WatchBudget } from './watch-budget.js';
import type { RowsReading, StyledWatch } from './watched-channel.js';
import { viewOf, type RowsReader } from './watched-rows.js';

/** How many circles' members are looked up at the same time. */
const LOOKED_UP_AT_ONCE = 8;

/** The friends of a player, and the player. */
interface Asked {
  playerId: string;
}

type FriendsWatch = Asked & StyledWatch;

class FriendsMessage extends ChannelMessage<Asked> {
  @IsPlayerId()
  playerId!: string;

  override asked(): Asked {
    return { playerId: this.playerId };
  }

  override assertMayWatch(identity: Identity): void {
    assertMayReadFriends(identity, this.playerId);
  }
}

interface WatchedCircle {
  playerId: string;
  members: readonly string[];
  /** The party in whose name it is watched. */
  party: string | null;
  /** Set when the circle has outgrown the budget. */
  fault: LadderError | null;
}

/**
 * Reads the watched circles of friends of one list: each member once, in however many circles, by one pipelined look-up.
 * Nothing is ever kept for each follower.
 */
export class FriendsRows implements RowsReader<FriendsWatch> {
  /** All at once, because circles share members. */
  readonly atOnce = Infinity;
  private readonly circles = new Map<string, WatchedCircle>();

  /** @param budget of members */
  constructor(
    private readonly members: CircleMembers,
    private readonly details: EntryDetails,
    private readonly budget: WatchBudget,
  ) {}

  keyOf({ playerId, ...view }: FriendsWatch): string {
    return `${viewOf(view)}:${playerId}`;
  }

  /** @throws SUBSCRIPTION_LIMIT, LEDGER_UNAVAILABLE */
  async open(watch: FriendsWatch, party: string | null): Promise<void> {
    const [key, { playerId }] = [this.keyOf(watch), watch];
    if (this.circles.has(key)) return;
    const members = await this.members.of({ kind: 'friends', playerId });
    this.budget.take(party, members.length);
    this.circles.set(key, { playerId, members, party, fault: null });
  }

  close(watch: FriendsWatch): void {
    const key = this.keyOf(watch);
    const circle = this.circles.get(key);
    if (!circle) return;
    this.circles.delete(key);
    this.budget.give(circle.party, circle.members.length);
  }

  /**
   * Looks up the members of the circles; a circle that cannot be looked up stays as it was. @returns whether any
   * changed
   */
  async lookAgain(): Promise<boolean> {
    const keys = [...this.circles.keys()];
    let isChanged = false;
    const look = async (): Promise<void> => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) isChanged = (await this.lookAt(key)) || isChanged;
    };
    await Promise.all(Array.from({ length: LOOKED_UP_AT_ONCE }, look));
    return isChanged;
  }

  async read(resolved: ResolvedList, watches: readonly FriendsWatch[]): Promise<(RowsReading | LadderError)[]> {
    const readings = new Map<FriendsWatch, RowsReading | LadderError>();
    for (const style of new Set(watches.map((watch) => watch.style))) {
      const ofStyle = watches.filter((watch) => watch.style === style);
      const fault = faultOfStyle(resolved, style);
      const read = fault ? ofStyle.map(() => fault) : await this.readInStyle(resolved, ofStyle, style);
      for (const [index, watch] of ofStyle.entries()) readings.set(watch, read[index]!);
    }
    return watches.map((watch) => readings.get(watch)!);
  }

  private async readInStyle(
    resolved: ResolvedList,
    watches: readonly FriendsWatch[],
    style: RankStyle,
  ): Promise<(RowsReading | LadderError)[]> {
    // The rows belong to the members that were asked for, even if somebody joins meanwhile.
    const circles = watches.map((watch) => this.circles.get(this.keyOf(watch)) ?? { members: [], fault: null });
    const membersOf = circles.map(({ members }) => members);
    const { entries, ...worth } = await this.entriesOf(resolved, [...new Set(membersOf.flat())], style);
    const rows = new Map((await completedRows(this.details, resolved, entries)).map((one) => [one.row.playerId, one]));
    const entryOf = new Map(entries.map((entry) => [entry.playerId, entry]));
    return watches.map(({ playerId }, index) => {
      const { fault } = circles[index]!;
      if (fault) return fault;
      const found = membersOf[index]!.flatMap((id) => entryOf.get(id) ?? []);
      const ranked = rankAmongThemselves(resolved.list.ordering, found, style).map((entry) => {
        const { row, isListed } = rows.get(entry.playerId)!;
        const shown: CircleRow = { ...row, rank: entry.rank, globalRank: entry.globalRank };
        return { row: shown, isListed };
      });
      return { ...shownOf(ranked, found.length, playerId), ...worth };
    });
  }

  private async lookAt(key: string): Promise<boolean> {
    const looked = this.circles.get(key);
    if (!looked) return false;
    const members = await this.members.of({ kind: 'friends', playerId: looked.playerId }).catch(() => null);
    const circle = this.circles.get(key);
    if (members === null || !circle || circle.fault || isSame(members, circle.members)) return false;
    try {
      this.budget.give(circle.party, circle.members.length);
      this.budget.take(circle.party, members.length);
      circle.members = members;
    } catch (error) {
      circle.members = [];
      circle.fault = error as LadderError;
    }
    return true;
  }

  private async entriesOf(
    { ranks, list }: ResolvedList,
    ids: readonly string[],
    style: RankStyle,
  ): Promise<FrameWorth & { entries: ProjectedEntry[] }> {
    const parts: ReturnType<typeof ranks.lookup>[] = [];
    for (let start = 0; start < ids.length; start += CIRCLE_ENTRIES_MAX) {
      parts.push(ranks.lookup(list, ids.slice(start, start + CIRCLE_ENTRIES_MAX), style));
    }
    const readings = await Promise.all(parts);
    return {
      ...worthOf(...readings),
      entries: readings.flatMap(({ entries }) => entries).filter((entry) => entry !== null),
    };
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  const known = new Set(a);
  return b.every((id) => known.has(id));
}

export const friendsChannel: ChannelKind<Asked> = {
  message: FriendsMessage,
  description: 'A player and its friends, ranked among themselves',
  rows: ({ members, details, channels, circleMembers }) => [
    { reader: new FriendsRows(members, details, circleMembers), budget: channels },
  ],
};
