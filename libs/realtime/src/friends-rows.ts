import { CIRCLE_ENTRIES_MAX, LadderError, rankAmongThemselves, type CircleRow } from '@laddercast/domain';
import type { ProjectedEntry } from '@laddercast/projections';
import type { CircleMembers, EntryDetails, ResolvedList } from '@laddercast/queries';
import { completedRows, shownOf } from './completed-rows.js';
import type { WatchBudget } from './watch-budget.js';
import type { RowsReader, RowsReading } from './watched-rows.js';

/** Circles whose members are looked up at the same time. */
const LOOKED_UP_AT_ONCE = 8;

/** The friends of a player, and the player. */
export interface FriendsWatch {
  playerId: string;
}

interface WatchedCircle {
  members: readonly string[];
  /** Set when it outgrew what can be watched. */
  fault: LadderError | null;
}

/**
 * Reads the watched circles of friends of one list: each member once, in however many circles, by one pipelined look-up.
 * Nothing is ever kept for each follower.
 */
export class FriendsRows implements RowsReader<FriendsWatch> {
  /** All: circles share members. */
  readonly atOnce = Infinity;
  private readonly circles = new Map<string, WatchedCircle>();

  /** @param budget of members */
  constructor(
    private readonly members: CircleMembers,
    private readonly details: EntryDetails,
    private readonly budget: WatchBudget,
  ) {}

  keyOf({ playerId }: FriendsWatch): string {
    return playerId;
  }

  /** @throws SUBSCRIPTION_LIMIT, LEDGER_UNAVAILABLE */
  async open({ playerId }: FriendsWatch): Promise<void> {
    if (this.circles.has(playerId)) return;
    const members = await this.members.of({ kind: 'friends', playerId });
    this.budget.take(members.length);
    this.circles.set(playerId, { members, fault: null });
  }

  close({ playerId }: FriendsWatch): void {
    const circle = this.circles.get(playerId);
    if (!circle) return;
    this.circles.delete(playerId);
    this.budget.give(circle.members.length);
  }

  /** Looks who is in the circles now; one that cannot be looked up stays as it was. @returns whether any changed */
  async lookAgain(): Promise<boolean> {
    const ids = [...this.circles.keys()];
    let isChanged = false;
    const look = async (): Promise<void> => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) isChanged = (await this.lookAt(id)) || isChanged;
    };
    await Promise.all(Array.from({ length: LOOKED_UP_AT_ONCE }, look));
    return isChanged;
  }

  async read(resolved: ResolvedList, watches: readonly FriendsWatch[]): Promise<(RowsReading | LadderError)[]> {
    // What is read belongs to the members that were asked for, whoever joins meanwhile.
    const circles = watches.map(({ playerId }) => this.circles.get(playerId) ?? { members: [], fault: null });
    const membersOf = circles.map(({ members }) => members);
    const entries = await this.entriesOf(resolved, [...new Set(membersOf.flat())]);
    const rows = new Map((await completedRows(this.details, resolved, entries)).map((one) => [one.row.playerId, one]));
    const entryOf = new Map(entries.map((entry) => [entry.playerId, entry]));
    return watches.map(({ playerId }, index) => {
      const { fault } = circles[index]!;
      if (fault) return fault;
      const found = membersOf[index]!.flatMap((id) => entryOf.get(id) ?? []);
      const ranked = rankAmongThemselves(resolved.list.ordering, found, 'ordinal').map((entry) => {
        const { row, isListed } = rows.get(entry.playerId)!;
        const shown: CircleRow = { ...row, rank: entry.rank, globalRank: entry.globalRank };
        return { row: shown, isListed };
      });
      return shownOf(ranked, found.length, playerId);
    });
  }

  private async lookAt(playerId: string): Promise<boolean> {
    const members = await this.members.of({ kind: 'friends', playerId }).catch(() => null);
    const circle = this.circles.get(playerId);
    if (members === null || !circle || circle.fault || isSame(members, circle.members)) return false;
    try {
      this.budget.give(circle.members.length);
      this.budget.take(members.length);
      circle.members = members;
    } catch (error) {
      circle.members = [];
      circle.fault = error as LadderError;
    }
    return true;
  }

  private async entriesOf(resolved: ResolvedList, ids: readonly string[]): Promise<ProjectedEntry[]> {
    const parts: Promise<(ProjectedEntry | null)[]>[] = [];
    for (let start = 0; start < ids.length; start += CIRCLE_ENTRIES_MAX) {
      const part = ids.slice(start, start + CIRCLE_ENTRIES_MAX);
      parts.push(resolved.ranks.lookup(resolved.list, part, 'ordinal').then(({ entries }) => entries));
    }
    return (await Promise.all(parts)).flat().filter((entry) => entry !== null);
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  const known = new Set(a);
  return b.every((id) => known.has(id));
}
