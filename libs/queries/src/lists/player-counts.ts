import { isPerRun, NEVER_USED_SCOPE } from '@laddercast/domain';
import { countRankedPlayers, PostgresDatabase, StandingsReader, type SqlRunner } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { answered } from '../shared/time-out.js';
import type { ResolvedList } from './list-resolver.js';
import { lackedBy } from './own-worlds.js';

const LISTS_KEPT_MAX = 10_000;
/** The most lists that are counted at a time: each count reads all entries of a list, on a connection of its own. */
const UNDER_WAY_MAX = 4;
/** A count is kept this many times as long as it took: counting takes a twentieth of a connection at most. */
const KEPT_PER_MS = 20;
const KEPT_LEAST_MS = 1000;
const KEPT_MOST_MS = 60_000;

interface Count {
  /** null: it could not be counted in time. */
  players: number | null;
  /** By the monotonic clock. Standings stay as they were written. */
  untilMs: number;
}

/**
 * How many players lists have where each run is an entry, as of a moment ago: each is counted once at a time, and kept for the
 * longer the longer that took.
 */
@Injectable()
export class PlayerCounts {
  private readonly kept = new LRUCache<string, Count>({ max: LISTS_KEPT_MAX });
  private readonly underWay = new Map<string, Promise<number>>();

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly editions: StandingsReader,
  ) {}

  /**
   * The list with its number of players, where it is one of entries of runs; null where that is not known: as long as it
   * cannot be counted in time and never was, and of lists as they stood, of which the first places alone were kept.
   */
  async counted(resolved: ResolvedList): Promise<ResolvedList> {
    const { board, list, edition } = resolved;
    if (!isPerRun(board.definition)) return resolved;
    if (list.scope === NEVER_USED_SCOPE) return { ...resolved, players: 0 };
    if (edition?.kind === 'kept') return { ...resolved, players: null };
    const players = await this.of(resolved);
    return { ...resolved, players: players === null ? null : players + (await this.besideThem(resolved)) };
  }

  private async of(resolved: ResolvedList): Promise<number | null> {
    const { list, edition } = resolved;
    const key = edition ? `edition/${edition.uid}/${list.scope}` : `window/${list.windowUid}/${list.scope}`;
    const known = this.kept.get(key);
    if (known && known.untilMs > monotonicMs()) return known.players;
    const counting = this.underWay.get(key) ?? this.begin(key, resolved);
    const players = counting && (await answered(counting));
    if (players !== null) return players;
    // Pages wait for it once in a while, and not each of them.
    const last = known?.players ?? null;
    this.kept.set(key, { players: last, untilMs: monotonicMs() + KEPT_LEAST_MS });
    return last;
  }

  /** null where as many as may be are under way. */
  private begin(key: string, resolved: ResolvedList): Promise<number> | null {
    if (this.underWay.size >= UNDER_WAY_MAX) return null;
    const counting = this.count(key, resolved).finally(() => this.underWay.delete(key));
    this.underWay.set(key, counting);
    return counting;
  }

  private async count(key: string, { list, edition }: ResolvedList): Promise<number> {
    const { scope, ordering } = list;
    const beganAtMs = monotonicMs();
    const players = edition
      ? await this.editions.players({ edition: edition.uid, scope, ordering })
      : await countRankedPlayers(this.database, list);
    const now = monotonicMs();
    const keptMs = Math.min(KEPT_MOST_MS, Math.max(KEPT_LEAST_MS, KEPT_PER_MS * (now - beganAtMs)));
    this.kept.set(key, { players, untilMs: edition ? Infinity : now + keptMs });
    return players;
  }

  /** A player who is there for its reader alone is one more. */
  private async besideThem({ list, everybodys, ownEntries = [] }: ResolvedList): Promise<number> {
    if (everybodys === undefined || ownEntries.length === 0) return 0;
    const lacking = await lackedBy({ list, ranks: everybodys }, ownEntries);
    return lacking.length === ownEntries.length ? 1 : 0;
  }
}
