import type { Announcement } from '@laddercast/projections';
import { monotonicMs } from '@laddercast/platform';

/** After this long every process has forgotten the old names, and readings with them have been published. */
const LOOK_AGAIN_AFTER_MS = 1200;

/** Whose name or listing changed; null: it is not known whose. */
export interface Renamed {
  players: ReadonlySet<string> | null;
  guilds: ReadonlySet<string> | null;
}

interface Batch {
  players: Set<string>;
  guilds: Set<string>;
  isOfAll: boolean;
}

const newBatch = (): Batch => ({ players: new Set(), guilds: new Set(), isOfAll: false });

/**
 * Gathers changes of names, and gives each out twice: at once, and again a little later, because a reading that was
 * under way may publish the old name in between.
 */
export class RenamedPlayers {
  private fresh = newBatch();
  private later: { batch: Batch; dueAtMs: number }[] = [];

  add(announcement: Announcement | null): void {
    if (announcement === null) this.fresh.isOfAll = true;
    else if (announcement.kind === 'players') {
      const ids = announcement.isGuild ? this.fresh.guilds : this.fresh.players;
      for (const id of announcement.ids) ids.add(id);
    }
  }

  /** The changes that are due now; null: none. */
  take(): Renamed | null {
    const now = monotonicMs();
    const due = this.later.filter(({ dueAtMs }) => dueAtMs <= now).map(({ batch }) => batch);
    this.later = this.later.filter(({ dueAtMs }) => dueAtMs > now);
    if (!isEmpty(this.fresh)) {
      due.push(this.fresh);
      this.later.push({ batch: this.fresh, dueAtMs: now + LOOK_AGAIN_AFTER_MS });
      this.fresh = newBatch();
    }
    if (due.length === 0) return null;
    if (due.some(({ isOfAll }) => isOfAll)) return { players: null, guilds: null };
    return { players: union(due.map(({ players }) => players)), guilds: union(due.map(({ guilds }) => guilds)) };
  }
}

const isEmpty = ({ players, guilds, isOfAll }: Batch): boolean => players.size === 0 && guilds.size === 0 && !isOfAll;

const union = (sets: readonly Set<string>[]): Set<string> =>
  sets.length === 1 ? sets[0]! : new Set(sets.flatMap((set) => [...set]));
