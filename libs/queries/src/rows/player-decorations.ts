import { faultOfAvatarUrl } from '@laddercast/domain';
import type { EntryEnricher, PlayerDecoration } from '@laddercast/extension';
import { ShortMemory } from '../shared/short-memory.js';
import { answered } from '../shared/time-out.js';

/** The most ids of one call of the {@link EntryEnricher}. */
const IDS_MAX = 500;

/** What the {@link EntryEnricher} of a team says of players, as of a second ago at most. */
export class PlayerDecorations {
  private readonly known = new ShortMemory<PlayerDecoration>();

  constructor(private readonly enricher: () => EntryEnricher | null) {}

  /** @returns false when it failed, or did not answer in time */
  async load(ids: readonly string[]): Promise<boolean> {
    const enricher = this.enricher();
    if (!enricher) return true;
    const missing = this.known.missing(ids);
    const parts: Promise<boolean>[] = [];
    for (let start = 0; start < missing.length; start += IDS_MAX) {
      parts.push(this.ask(enricher, missing.slice(start, start + IDS_MAX)));
    }
    return !(await Promise.all(parts)).includes(false);
  }

  /** As it was last known. */
  of(id: string): PlayerDecoration | null {
    return this.known.stale(id);
  }

  forget(ids: readonly string[] | null): void {
    this.known.forget(ids);
  }

  private async ask(enricher: EntryEnricher, ids: readonly string[]): Promise<boolean> {
    const remember = this.known.asking();
    const decorations = await answered(Promise.resolve(ids).then((asked) => enricher.decorate(asked)));
    if (decorations === null) return false;
    for (const id of ids) remember(id, showable(decorations.get(id)));
    return true;
  }
}

/** The decoration without an avatar's address that is none: it may be what a player wrote. */
function showable(decoration: PlayerDecoration | undefined): PlayerDecoration | null {
  if (decoration === undefined) return null;
  const { avatarUrl, ...rest } = decoration;
  const isFit = avatarUrl == null || (typeof avatarUrl === 'string' && faultOfAvatarUrl(avatarUrl) === null);
  return isFit ? decoration : rest;
}
