import {
  GUILDS_SCOPE,
  holdsOn,
  keyOfEntry,
  type Board,
  type BoardOrdering,
  type PlayerFace,
  type RankedEntry,
  type RankStyle,
  type SanctionInForce,
} from '@laddercast/domain';
import { Extensions } from '@laddercast/extension';
import { PostgresDatabase, runDetails, type PatchRunDetails, type SqlRunner } from '@laddercast/ledger';
import { Environment, nowMs, toTimestamp } from '@laddercast/platform';
import type { Announcement, ProjectedEntry } from '@laddercast/projections';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { WhenRead } from './lists-without-metadata.js';
import { DayChanges } from './day-changes.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { detailsShown, RunDetailsOfLists } from './run-metadata.js';
import { taxedFromOf, taxOfRow } from './taxed-rows.js';
import { PlayerDecorations } from './player-decorations.js';
import { PlayerFaces } from './player-faces.js';
import { PlayerNames } from './player-names.js';
import type { UnlistedShown } from '../shared/shown-player.js';

/** How long after its announcement a sanction may not show in the ranks yet. */
const RANKS_FOLLOW_WITHIN_MS = 1000;

export interface CompleteOptions {
  /** Players who are shown although they are not listed; `all`: everyone is. Default: none. */
  including?: UnlistedShown;
  /** Whether the entries are as they were: what is known of a later run only is null then. Default: false. */
  arePast?: boolean;
  /**
   * Whether the rows are shown until the list changes again, and not asked for anew: then what is remembered for a second counts
   * only where the sort key tells which run it is of. Default: false.
   */
  areLasting?: boolean;
  /** When the entries were read: it spares look-ups on boards without metadata. */
  read?: WhenRead;
  /** What {@link EntryDetails.ahead} gave when the request came: it spares the time to ask. */
  profiles?: Promise<boolean | null> | undefined;
}

/**
 * Makes what clients see of ranked entries: names, metadata, whether a run is verified, and (where the tie-break keeps no
 * time) achievedAt, by keyed queries of PostgreSQL, and names of the {@link EntryEnricher}. What was looked up is remembered for a second.
 * While PostgreSQL is away rows come with what was known.
 *
 * Players who are not listed, or whom a moderator hid, are left out: rows keep their ranks, and show a gap.
 */
@Injectable()
export class EntryDetails {
  private readonly runs: RunDetailsOfLists;
  private readonly decorations: PlayerDecorations;
  private readonly names: PlayerNames;
  private readonly faces: PlayerFaces;
  private readonly days: DayChanges;
  private sanctionsHeardAtMs = -Infinity;

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    extensions: Extensions,
    @Optional()
    @Inject(Environment)
    { PLAYER_ATTRIBUTES_SHOWN }: Pick<Environment, 'PLAYER_ATTRIBUTES_SHOWN'> = new Environment(),
  ) {
    this.runs = new RunDetailsOfLists(database);
    this.decorations = new PlayerDecorations(() => extensions.enricher);
    this.names = new PlayerNames(database, this.decorations);
    this.faces = new PlayerFaces(database, this.decorations, shownOf(PLAYER_ATTRIBUTES_SHOWN));
    this.days = new DayChanges(database);
  }

  /** Asks for what the list's rows will need, while they are read; undefined: nothing. */
  ahead({ list }: ResolvedList): Promise<boolean | null> | undefined {
    return list.scope === GUILDS_SCOPE ? undefined : this.names.haveProfiles();
  }

  async complete(
    resolved: ResolvedList,
    entries: readonly ProjectedEntry[],
    options: CompleteOptions = {},
  ): Promise<RankedEntry[]> {
    return (await this.completeOrPartial(resolved, entries, options)).entries;
  }

  /** As {@link complete}; `partial` says that something could not be looked up in time. */
  async completeOrPartial(
    resolved: ResolvedList,
    entries: readonly ProjectedEntry[],
    { including = [], arePast = false, areLasting = false, read, profiles }: CompleteOptions = {},
  ): Promise<{ entries: RankedEntry[]; partial: boolean }> {
    const isGuild = resolved.list.scope === GUILDS_SCOPE;
    const ids = [...new Set(entries.map(({ playerId }) => playerId))];
    const loaded = await Promise.all([
      this.runs.load(resolved, entries, { read, areLasting }),
      this.names.load(ids, isGuild, profiles),
      ...(resolved.withPlayers ? [this.faces.load(ids)] : []),
    ]);
    const rows = entries
      .filter(
        ({ playerId }) => including === 'all' || including.includes(playerId) || this.isShownIn(resolved, playerId),
      )
      .map((entry) => this.row(resolved, entry, isGuild, arePast));
    return { entries: resolved.withPlayers ? this.faced(rows) : rows, partial: loaded.includes(false) };
  }

  /** Rows that were complete already, with the faces of their players where the list is read with them. */
  async withPlayers({ withPlayers }: Pick<ResolvedList, 'withPlayers'>, rows: RankedEntry[]): Promise<RankedEntry[]> {
    if (!withPlayers) return rows;
    await this.faces.load(rows.map(({ playerId }) => playerId));
    return this.faced(rows);
  }

  /** The faces of players, each as it was last known where it cannot be looked up; in the order asked. */
  async facesOf(playerIds: readonly string[]): Promise<PlayerFace[]> {
    await this.faces.load(playerIds);
    return playerIds.map((playerId) => this.faces.of(playerId));
  }

  /**
   * The rows with their `change`, on boards that ask for it; the others' as they are.
   * @param ordinals the places of the rows' players where they are known; else the ranks are looked up where the style
   * is another
   */
  withChange(
    resolved: ResolvedList,
    style: RankStyle,
    rows: RankedEntry[],
    ordinals?: ReadonlyMap<string, number>,
  ): Promise<RankedEntry[]> {
    return this.days.added(resolved, style, rows, ordinals);
  }

  /** Whether everybody sees the rows of a player, or guild, in a list: by what was looked up last. */
  isShownIn({ board, list, ownWorldOf }: ResolvedList, playerId: string): boolean {
    return this.isListed(board.id, playerId, list.scope === GUILDS_SCOPE, ownWorldOf);
  }

  /** Whether a player is shown on a board: it is listed, or one of those who are included. */
  async shows(boardId: string, playerId: string, including: UnlistedShown): Promise<boolean> {
    if (including === 'all' || including.includes(playerId)) return true;
    await this.names.load([playerId], false);
    return this.isListed(boardId, playerId, false);
  }

  /**
   * The sanction of a player that is in force, as of a second ago at most.
   * @param profiles what was asked {@link ahead}
   */
  async sanctionOf(playerId: string, profiles?: Promise<boolean | null>): Promise<SanctionInForce | null> {
    await this.names.load([playerId], false, profiles);
    return this.names.of(playerId, false).sanction;
  }

  /** Whether a player is shadowed somewhere, as far as this process knows by what it looked up last. */
  isShadowed(playerId: string): boolean {
    return this.names.of(playerId, false).sanction?.kind === 'shadow';
  }

  /** A player's runs on a board with decay, as the ledger has them now; in a frozen window those that it had at the freeze. */
  async patchRunsOf({ board, window, edition }: ResolvedList, playerId: string): Promise<PatchRunDetails[]> {
    const [row] = await runDetails(this.database, window.uid, [playerId], board, edition?.kind === 'frozen');
    return row?.patch_runs ?? [];
  }

  /** Looks names, listings and runs up again at the next reading: of these players (or guilds), or of all where null. */
  forget(ids: readonly string[] | null, isGuild: boolean): void {
    this.names.forget(ids, isGuild);
    if (isGuild) return;
    this.decorations.forget(ids);
    this.faces.forget(ids);
    this.runs.forget(ids);
  }

  /** Forgets the names, listings and runs that are announced to have changed; null: any may have. */
  hear(announcement: Announcement | null): void {
    if (announcement !== null && announcement.kind !== 'players') return;
    if (announcement === null) for (const isGuild of [false, true]) this.forget(null, isGuild);
    else this.forget(announcement.ids, announcement.isGuild);
    if (announcement === null || announcement.ofSanctions) this.sanctionsHeardAtMs = nowMs();
  }

  /**
   * Whether a list that was kept at a moment (Unix ms by a process's clock) may rank players whose sanctions changed since.
   */
  mayPrecedeSanctions(keptAtMs: number): boolean {
    const heardAtMs = this.sanctionsHeardAtMs;
    const followedAtMs = heardAtMs + RANKS_FOLLOW_WITHIN_MS;
    return keptAtMs < (nowMs() < followedAtMs ? heardAtMs : followedAtMs);
  }

  private faced(rows: readonly RankedEntry[]): RankedEntry[] {
    return rows.map((row) => ({ ...row, player: this.faces.of(row.playerId) }));
  }

  /** To itself a sanctioned player is listed as ever. */
  private isListed(boardId: string, playerId: string, isGuild: boolean, ownWorldOf?: string): boolean {
    const { listed, sanction } = this.names.of(playerId, isGuild);
    return listed && (playerId === ownWorldOf || !holdsOn(sanction, boardId));
  }

  private row(resolved: ResolvedList, entry: ProjectedEntry, isGuild: boolean, isPast: boolean): RankedEntry {
    const { entryId } = entry;
    const run = this.runs.of(resolved, keyOfEntry(entry));
    const shown = detailsShown(resolved, entry, run);
    const taxedFrom = taxedFromOf(resolved, entry);
    const ofRun = isPast ? shown : run;
    const achievedAtMs = entry.achievedAtMs ?? ofRun?.achievedAtMs ?? null;
    return {
      rank: entry.rank,
      playerId: entry.playerId,
      ...(entryId !== undefined && { entryId }),
      displayName: this.names.of(entry.playerId, isGuild).displayName,
      score: entry.score,
      columns: columnsByName(resolved.list.ordering, entry.columns),
      achievedAt: achievedAtMs === null ? null : toTimestamp(achievedAtMs),
      metadata: (isGuild ? run : shown)?.metadata ?? null,
      ...(!isGuild && verificationOf(resolved.board, shown)),
      ...(taxedFrom && taxOfRow(resolved, taxedFrom)),
    };
  }
}

/** Which attributes PLAYER_ATTRIBUTES_SHOWN names. */
function shownOf(names: string): (attribute: string) => boolean {
  if (names === '*') return () => true;
  const shown = new Set(names.split(','));
  return (attribute) => shown.has(attribute);
}

/** What rows of a board that keeps runs say of the run that an entry rests on; of other boards nothing. */
export function verificationOf(
  { definition, runsFrom }: Board,
  run: { verified?: boolean | null; proof?: string | null } | null,
): Pick<RankedEntry, 'verified' | 'proof'> {
  if (runsFrom === undefined) return {};
  const verified = run?.verified ?? false;
  return definition.proof === 'everyone' ? { verified, proof: run?.proof ?? null } : { verified };
}

/** An entry's extra columns as clients see them. */
export const columnsByName = ({ columns }: BoardOrdering, values: readonly number[]): Record<string, number> =>
  Object.fromEntries(columns.map(({ name }, index) => [name, values[index]!]));
