import {
  firstRollingHour,
  holdsOn,
  HOUR_MS,
  LadderError,
  rollingHours,
  type RankedEntry,
  type RankStyle,
  type StoredWindow,
  NEVER_USED_SCOPE,
} from '@laddercast/domain';
import { monotonicMs, nowMs, sleep, toTimestamp } from '@laddercast/platform';
import { AnsweredVersions, entriesInStyle, type RankSnapshot, type Reading } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { boardVersionOf } from '../lists/board-version.js';
import { EntryDetails } from './entry-details.js';
import { isShadowedOn, OwnWorlds } from '../lists/own-worlds.js';
import { servedTaxOf } from '../lists/served-tax.js';
import { ListResolver, type ResolvedList, type ResolveOptions } from '../lists/list-resolver.js';
import type { ListEnvelope, ListSelection } from '../queries.js';
import { RetaxProgress } from '../lists/retax-progress.js';
import { PlayerCounts } from '../lists/player-counts.js';
import { accuracyOf } from '../lists/rank-estimates.js';
import { faultOfStyle, styleToRead } from '../lists/rank-style.js';
import { SnapshotCache } from '../snapshots/snapshot-cache.js';

/** How long a read waits for the projection to reach `minVersion`. */
const MIN_VERSION_WAIT_MS = 1000;
const MIN_VERSION_POLL_MS = 20;

/** What the query handlers share: finding the list, its version, and the envelope of an answer. */
@Injectable()
export class ListReader {
  constructor(
    private readonly resolver: ListResolver,
    readonly details: EntryDetails,
    private readonly snapshots: SnapshotCache,
    private readonly answered: AnsweredVersions,
    private readonly worlds: OwnWorlds,
    private readonly counts: PlayerCounts,
    private readonly retaxes: RetaxProgress,
  ) {}

  /** @throws BOARD_NOT_FOUND, WINDOW_NOT_FOUND, SCOPE_NOT_FOUND, SNAPSHOT_GONE, RANK_STYLE_NOT_KEPT, PROJECTION_BEHIND */
  async open(selection: ListSelection): Promise<{ resolved: ResolvedList; style: RankStyle }> {
    const found = withFields(selection, await this.find(selection));
    const style = styleToRead(found, selection.rankStyle);
    // As it stood is as it stood: no version of now can be waited for.
    const waits = selection.minVersion !== undefined && found.edition?.kind !== 'kept';
    const resolved = waits
      ? withFields(selection, await this.atVersion(found, selection, selection.minVersion!))
      : found;
    return { resolved: await this.counts.counted(await this.asSeenBy(selection.readerId, resolved)), style };
  }

  /** The list as a player sees it: a shadowed one finds itself in it. */
  async asSeenBy(readerId: string | undefined, resolved: ResolvedList): Promise<ResolvedList> {
    if (readerId === undefined) return resolved;
    return (await this.isShadowed(readerId, resolved.board.id)) ? this.worlds.of(resolved, readerId) : resolved;
  }

  /** Whether a player is ranked on a board for itself alone. */
  async isShadowed(playerId: string, boardId: string): Promise<boolean> {
    return isShadowedOn(await this.details.sanctionOf(playerId), boardId);
  }

  /**
   * The list with the entry of a player in it, also of a banned or shadowed one: for moderators.
   * @param profiles what was asked ahead for this reader
   */
  async withEntryOf(
    playerId: string,
    resolved: ResolvedList,
    profiles?: Promise<boolean | null>,
  ): Promise<ResolvedList> {
    // A moderator reads what it decided a moment ago: what is remembered may be older. While PostgreSQL is away nothing
    // newer is known, and the list is read as it is.
    this.details.forget([playerId], false);
    const sanction = await this.details.sanctionOf(playerId, profiles);
    const isUnranked = sanction !== null && sanction.kind !== 'hide' && holdsOn(sanction, resolved.board.id);
    return isUnranked ? this.worlds.of(resolved, playerId) : resolved;
  }

  /**
   * The list of somebody who reads on in it, in whatever style: nothing is asked of the style.
   * @param isOwn whether it was read with an entry in it that only the reader has
   * @throws as {@link open}
   */
  async reopen(selection: ListSelection, options: ResolveOptions, isOwn: boolean): Promise<ResolvedList> {
    const found = withFields(selection, await this.resolver.resolve(selection, options));
    const seen = await this.asSeenBy(selection.readerId, found);
    const isAsSeen = isOwn || seen.ownWorldOf === undefined;
    return this.counts.counted(isAsSeen ? seen : { ...found, ownWorldOf: seen.ownWorldOf! });
  }

  /**
   * The top in memory, where it is not older than `minVersion`, nor than what this process answered of the list; asking
   * keeps the list in use.
   */
  snapshot(resolved: ResolvedList, minVersion: number | undefined): RankSnapshot | undefined {
    if (!isFollowed(resolved)) return undefined;
    const snapshot = asRead(resolved, this.snapshots.latest(resolved), minVersion);
    return snapshot && this.isLatest(resolved, snapshot) ? snapshot : undefined;
  }

  /**
   * The last top that this process saw, however old: what is left to show while the shards cannot be asked. It calls
   * itself estimated where something newer was answered already: exact answers never go back. What was read after a loss is
   * not shown.
   */
  lastKnown(resolved: ResolvedList, minVersion: number | undefined): RankSnapshot | undefined {
    if (!isFollowed(resolved)) return undefined;
    const last = asRead(resolved, this.snapshots.lastKnown(resolved), minVersion);
    if (!last || this.isLatest(resolved, last)) return last;
    const { list } = resolved;
    const isOfList = (last.generation ?? 1) === list.generation;
    if (isOfList && this.answered.isOfLoss(list, last.listVersion, last.asOfMs)) return undefined;
    // Its rows may be under another tax than the answer says.
    if (!isOfList && resolved.list.tax) return undefined;
    // As of its `asOf` it is off by nothing.
    return { ...last, accuracy: 'estimated', errorBound: last.errorBound ?? 0 };
  }

  /** Whether nothing newer than a snapshot was answered; standings do not change. */
  private isLatest({ list, edition }: ResolvedList, snapshot: RankSnapshot): boolean {
    if (edition !== null) return true;
    // Of another generation it is right as it is, but its version is of other numbers.
    if ((snapshot.generation ?? 1) !== list.generation) return false;
    return snapshot.accuracy === 'estimated' || this.answered.admits(list, snapshot.listVersion);
  }

  /**
   * What an answer says of a list that was read.
   * @param asOfMs of an answer as of a moment before; without it, nothing older is answered as exact from here on
   * @throws PROJECTION_BEHIND when the list froze while it was read
   */
  envelope(resolved: ResolvedList, style: RankStyle, reading: Reading, asOfMs?: number): ListEnvelope {
    this.assertShown(resolved);
    const isExactNow = asOfMs === undefined && resolved.edition === null && reading.accuracy !== 'estimated';
    if (isExactNow) this.answered.note(resolved.list, reading.listVersion, nowMs());
    const { board, scope, edition, atMs, players } = resolved;
    const tax = servedTaxOf(resolved, (one) => this.retaxes.doneOf(one));
    return {
      board: board.id,
      window: describeResolved(resolved),
      scope,
      total: reading.total,
      ...(players !== undefined && { players: playersAmong(reading.total, players) }),
      boardVersion: boardVersionOf(resolved, reading.listVersion, atMs),
      asOf: toTimestamp(edition?.asOfMs ?? asOfMs ?? nowMs()),
      rankStyle: style,
      ...accuracyOf(reading),
      ...(tax && { decay: tax }),
    };
  }

  /** After each reading of a list: @throws PROJECTION_BEHIND when it froze meanwhile */
  assertShown(resolved: ResolvedList): void {
    this.resolver.assertShown(resolved);
  }

  /**
   * The list, where it can be read in the style that is asked for: of a window that is over its final standings, which are
   * in every style, when the projection does not keep that one. Final standings of a window that is still shown from the
   * projection say its version: whoever read them is not told that the window is behind.
   */
  private async find(selection: ListSelection): Promise<ResolvedList> {
    const found = await this.resolver.resolve(selection);
    const isKept = faultOfStyle(found, selection.rankStyle ?? found.board.definition.rankStyle) === null;
    const settled = isKept ? found : await this.resolver.resolve(selection, { prefersStandings: true });
    if (settled.edition?.kind !== 'final') return found;
    const looksBack = selection.edition !== undefined || selection.asOfMs !== undefined;
    const shown = looksBack
      ? await this.resolver.resolve({ ...selection, edition: undefined, asOfMs: undefined })
      : found;
    if (shown.edition !== null) return settled;
    const { listVersion } = await shown.ranks.total(shown.list);
    this.answered.note(shown.list, listVersion, nowMs());
    return { ...settled, boardVersion: boardVersionOf(shown, listVersion, shown.atMs) };
  }

  /** The list once it has reached the version; looked for anew each time, since another generation may serve meanwhile. */
  private async atVersion(found: ResolvedList, selection: ListSelection, minVersion: number): Promise<ResolvedList> {
    const untilMs = monotonicMs() + MIN_VERSION_WAIT_MS;
    for (let resolved = found; ; resolved = await this.find(selection)) {
      const { list, ranks, edition } = resolved;
      if (boardVersionOf(resolved, (await ranks.total(list)).listVersion, resolved.atMs) >= minVersion) return resolved;
      // Standings do not change: there is nothing to wait for.
      if (edition !== null || monotonicMs() > untilMs) {
        throw new LadderError('PROJECTION_BEHIND', `The board has not reached version ${minVersion} yet.`, {
          retryAfterSeconds: 1,
        });
      }
      await sleep(MIN_VERSION_POLL_MS);
    }
  }
}

/** The list with what its rows are to show beside what all rows do. */
const withFields = ({ withPlayers, ofGuilds }: ListSelection, resolved: ResolvedList): ResolvedList =>
  withPlayers && !ofGuilds ? { ...resolved, withPlayers } : resolved;

/** The count can be of a moment before the reading: players have an entry each at least. */
const playersAmong = (total: number, players: number | null): number | null =>
  players === null ? null : Math.min(total, Math.max(players, 1));

/** Whether the list is one that snapshots are made of: those show what everyone sees now. */
const isFollowed = ({ list, edition, isWithheld = false, ownWorldOf }: ResolvedList): boolean =>
  list.scope !== NEVER_USED_SCOPE && !isWithheld && ownWorldOf === undefined && edition?.kind !== 'kept';

/** The snapshot, when it is of where the list is read now, and new enough. */
function asRead(resolved: ResolvedList, snapshot: RankSnapshot | undefined, minVersion = 0): RankSnapshot | undefined {
  if (!snapshot || snapshot.edition !== resolved.edition?.uid) return undefined;
  return boardVersionOf(resolved, snapshot.listVersion, resolved.atMs) >= minVersion ? snapshot : undefined;
}

/** The window of a list, and of an ended one which edition its answer is of. */
export function describeResolved({ window, edition, final, atMs }: ResolvedList): ListEnvelope['window'] {
  const described = describeWindow(window, atMs);
  if (final === undefined || edition?.kind === 'kept') return described;
  const number = edition?.kind === 'final' ? edition.number : final.number;
  return { ...described, edition: number, ...(final.isRevising && { revising: true }) };
}

/** A window's times as answers carry them: a rolling one reaches back from the present hour, and loses one when that ends. */
export function describeWindow(window: StoredWindow, atMs: number): ListEnvelope['window'] {
  const time = (ms: number | null): string | null => (ms === null ? null : toTimestamp(ms));
  if (window.kind === 'rolling') {
    const first = firstRollingHour(rollingHours(window.id), atMs);
    const nextHour = Math.floor(atMs / HOUR_MS) + 1;
    return { id: window.id, startsAt: time(first * HOUR_MS), endsAt: null, resetsAt: time(nextHour * HOUR_MS) };
  }
  const runs = window.endsAtMs !== null && atMs < window.endsAtMs;
  return {
    id: window.id,
    startsAt: time(window.startsAtMs),
    endsAt: time(window.endsAtMs),
    resetsAt: runs ? time(window.endsAtMs) : null,
  };
}

/**
 * The rows of a snapshot whose places are after the 0-based `offset`, at most `limit` places, with ranks in the style;
 * null when the snapshot does not show them all. Players who are not listed leave gaps, and no place moves up.
 */
export function rowsOfSnapshot(
  snapshot: RankSnapshot,
  offset: number,
  limit: number,
  style: RankStyle,
): RankedEntry[] | null {
  const end = offset + limit;
  if (snapshot.depth < Math.min(end, snapshot.total)) return null;
  const isOnPage = ({ rank }: RankedEntry): boolean => rank > offset && rank <= end;
  const styled = entriesInStyle(snapshot, style);
  return styled && styled.filter((_, index) => isOnPage(snapshot.entries[index]!));
}
