import {
  hasShownProfiles,
  shownProfiles,
  type ProfileRow,
  type ShownProfile,
  type SqlRunner,
} from '@laddercast/ledger';
import { CoalescedCall } from '@laddercast/platform';
import { GATHERED, answered } from '../shared/time-out.js';
import { MergedLookups } from '../shared/merged-lookups.js';
import { ShortMemory } from '../shared/short-memory.js';
import type { PlayerDecorations } from './player-decorations.js';

/** What people see of players and guilds beside the id: names, of players those of a team first, and to whom they are shown. */
export class PlayerNames {
  private readonly players = new ShortMemory<ShownProfile>();
  private readonly guilds = new ShortMemory<ShownProfile>();
  private readonly lookups: MergedLookups<boolean, ProfileRow>;
  private readonly presence = new CoalescedCall(() => this.lookForProfiles(), GATHERED);
  /** Whether there was one: then each is looked up. */
  private hasProfiles = false;

  constructor(
    private readonly database: SqlRunner,
    private readonly decorations: PlayerDecorations,
  ) {
    this.lookups = new MergedLookups(
      (isGuild, ids) => shownProfiles(this.database, isGuild, ids),
      ({ id }) => id,
    );
  }

  /** Asks whether there are profiles at all, beside what takes time anyway; null: not in time. For {@link load}. */
  async haveProfiles(): Promise<boolean | null> {
    return this.hasProfiles || answered(this.presence.ask());
  }

  /**
   * @param profiles whether there are any, as it was asked by who needs these names and not before that
   * @returns false when something did not answer in time
   */
  async load(ids: readonly string[], isGuild: boolean, profiles?: Promise<boolean | null>): Promise<boolean> {
    if (isGuild) return this.loadProfiles(true, this.guilds.missing(ids));
    const loaded = await Promise.all([this.loadPlayers(ids, profiles), this.decorations.load(ids)]);
    return !loaded.includes(false);
  }

  /** As it was last known; nothing known is a listed player without a name. */
  of(id: string, isGuild: boolean): ShownProfile {
    const profile = (isGuild ? this.guilds : this.players).stale(id);
    const decoration = isGuild ? null : this.decorations.of(id);
    return {
      displayName: decoration?.displayName ?? profile?.displayName ?? null,
      listed: profile?.listed ?? true,
      sanction: profile?.sanction ?? null,
    };
  }

  /** The ids' names changed; null: any may have. */
  forget(ids: readonly string[] | null, isGuild: boolean): void {
    (isGuild ? this.guilds : this.players).forget(ids);
  }

  /** Where games keep names elsewhere there are no profiles: one look says it for all. */
  private async loadPlayers(ids: readonly string[], profiles?: Promise<boolean | null>): Promise<boolean> {
    const missing = this.players.missing(ids);
    if (missing.length === 0) return true;
    const hasProfiles = await (profiles ?? this.haveProfiles());
    if (hasProfiles === null) return false;
    return hasProfiles ? this.loadProfiles(false, missing) : true;
  }

  private async lookForProfiles(): Promise<boolean> {
    this.hasProfiles = await hasShownProfiles(this.database);
    return this.hasProfiles;
  }

  private async loadProfiles(isGuild: boolean, missing: readonly string[]): Promise<boolean> {
    if (missing.length === 0) return true;
    const remember = (isGuild ? this.guilds : this.players).asking();
    const rows = await this.lookups.ask(isGuild ? 'guilds' : 'players', isGuild, missing);
    if (rows === null) return false;
    for (const id of missing) remember(id, rows.get(id) ?? null);
    return true;
  }
}
