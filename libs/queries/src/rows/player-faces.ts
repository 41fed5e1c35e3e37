import { NO_FACE, type PlayerFace } from '@laddercast/domain';
import { playerFaces, type FaceRow, type SqlRunner } from '@laddercast/ledger';
import { MergedLookups } from '../shared/merged-lookups.js';
import { ShortMemory } from '../shared/short-memory.js';
import type { PlayerDecorations } from './player-decorations.js';

const OF_PLAYERS = 'players';

/** Faces of players, those of a team first; only for readers who ask for them. */
export class PlayerFaces {
  private readonly known = new ShortMemory<PlayerFace>();
  private readonly lookups: MergedLookups<null, FaceRow>;

  /** @param isShown whether an attribute of profiles may be shown in lists */
  constructor(
    database: SqlRunner,
    private readonly decorations: PlayerDecorations,
    private readonly isShown: (attribute: string) => boolean,
  ) {
    this.lookups = new MergedLookups(
      (_of, ids) => playerFaces(database, ids),
      ({ id }) => id,
    );
  }

  /** @returns false when something did not answer in time */
  async load(ids: readonly string[]): Promise<boolean> {
    const loaded = await Promise.all([this.loadProfiles(this.known.missing(ids)), this.decorations.load(ids)]);
    return !loaded.includes(false);
  }

  /** As it was last known. */
  of(id: string): PlayerFace {
    const profile = this.known.stale(id) ?? NO_FACE;
    const decoration = this.decorations.of(id);
    if (decoration === null) return profile;
    const { avatarUrl = profile.avatarUrl, region = profile.region, attributes = profile.attributes } = decoration;
    return { avatarUrl, region, attributes };
  }

  /** These players' faces changed; null: any may have. */
  forget(ids: readonly string[] | null): void {
    this.known.forget(ids);
  }

  private async loadProfiles(missing: readonly string[]): Promise<boolean> {
    if (missing.length === 0) return true;
    const remember = this.known.asking();
    const rows = await this.lookups.ask(OF_PLAYERS, null, missing);
    if (rows === null) return false;
    for (const id of missing) {
      const row = rows.get(id);
      remember(id, row ? this.faceOf(row) : null);
    }
    return true;
  }

  private faceOf({ avatarUrl, region, attributes }: FaceRow): PlayerFace {
    const shown = Object.entries(attributes).filter(([name]) => this.isShown(name));
    return { avatarUrl, region, attributes: Object.fromEntries(shown) };
  }
}
