import { GLOBAL_SCOPE, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { dayStartOf, placesOfDay, type SqlRunner } from '@laddercast/ledger';
import { answered } from '../shared/time-out.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { ShortMemory } from '../shared/short-memory.js';
import { growingCache } from '@laddercast/platform';

/** The most players whose place of the day is remembered; who was asked for longest ago goes first. */
const PLACES_MAX = 100_000;

/** Where a player stood; null: it was not there. */
interface Place {
  ordinal: number | null;
}

/**
 * Says how far players have moved since the day of their board began. What a day began with does not change: it is read
 * once for each player shown, and remembered. Where it is not known (the day's start was missed, PostgreSQL is away),
 * nothing is said.
 */
export class DayChanges {
  /** By window, start of the day and player. */
  private readonly places = growingCache<string, Place>(PLACES_MAX);
  /** Windows of which no day was kept a moment ago. */
  private readonly missing = new ShortMemory<true>();

  constructor(private readonly database: SqlRunner) {}

  /**
   * The rows with their `change`, on boards that ask for it.
   * @param ordinals the present places of the rows' players, where they are known
   */
  async added(
    resolved: ResolvedList,
    style: RankStyle,
    rows: RankedEntry[],
    ordinals?: ReadonlyMap<string, number>,
  ): Promise<RankedEntry[]> {
    if (!resolved.board.definition.change) return rows;
    const ids = rows.map(({ playerId }) => playerId);
    const before = await this.placesOf(resolved, ids);
    if (before === null) return rows.map((row) => ({ ...row, change: null }));
    const now = await placesNow(resolved, style, rows, ordinals);
    return rows.map((row) => {
      const [from, to] = [before.get(row.playerId) ?? null, now.get(row.playerId) ?? null];
      return { ...row, change: from === null || to === null ? null : from - to };
    });
  }

  /** Where the players stood when the day began; null where nothing of the kind is kept, or can be read now. */
  private async placesOf(resolved: ResolvedList, ids: readonly string[]): Promise<Map<string, number | null> | null> {
    const startMs = dayOf(resolved);
    if (startMs === null || ids.length === 0) return null;
    const day = `${resolved.window.uid}/${startMs}`;
    const unknown = ids.filter((id) => this.places.get(`${day}/${id}`) === undefined);
    if (unknown.length > 0 && !(await this.load(day, resolved.window.uid, startMs, unknown))) return null;
    return new Map(ids.map((id) => [id, this.places.get(`${day}/${id}`)?.ordinal ?? null]));
  }

  private async load(day: string, windowUid: number, startMs: number, ids: string[]): Promise<boolean> {
    if (this.missing.get(day) !== undefined) return false;
    const remember = this.missing.asking();
    const rows = await answered(placesOfDay(this.database, windowUid, startMs, ids));
    if (rows?.length === 0) remember(day, true);
    if (rows === null || rows.length === 0) return false;
    for (const { player_id, ordinal } of rows) {
      this.places.set(`${day}/${player_id}`, { ordinal });
    }
    return true;
  }
}

/** When the day began that a list's changes are counted from, Unix ms; null for lists that have none. */
function dayOf({ board, window, list, edition, atMs: now }: ResolvedList): number | null {
  const isOver = window.endsAtMs !== null && now >= window.endsAtMs;
  const isOfNow = edition === null || edition.kind === 'frozen';
  if (list.scope !== GLOBAL_SCOPE || isOver || !isOfNow) return null;
  const startMs = dayStartOf(board.definition.timeZone, now);
  // A window that began with the day, or in it, was not there before.
  return startMs === null || (window.startsAtMs !== null && window.startsAtMs >= startMs) ? null : startMs;
}

/** The present places, without the entry that only the reader has: the day began without it. */
async function placesNow(
  resolved: ResolvedList,
  style: RankStyle,
  rows: readonly RankedEntry[],
  ordinals?: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const { everybodys: ranks } = resolved;
  if (ranks === undefined) return ordinals ?? ordinalsOf(resolved, style, rows);
  return lookedUp({ ...resolved, ranks }, rows);
}

/** The ordinal ranks of the rows' players; those of other styles share theirs. */
async function ordinalsOf(
  { ranks, list }: ResolvedList,
  style: RankStyle,
  rows: readonly RankedEntry[],
): Promise<Map<string, number>> {
  if (style === 'ordinal') return new Map(rows.map(({ playerId, rank }) => [playerId, rank]));
  return lookedUp({ ranks, list }, rows);
}

async function lookedUp(
  { ranks, list }: Pick<ResolvedList, 'ranks' | 'list'>,
  rows: readonly RankedEntry[],
): Promise<Map<string, number>> {
  const ids = rows.map(({ playerId }) => playerId);
  const { entries } = await ranks.lookup(list, ids, 'ordinal');
  return new Map(entries.flatMap((entry) => (entry ? [[entry.playerId, entry.rank] as const] : [])));
}
