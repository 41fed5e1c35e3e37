import type { PlayerFace } from '@laddercast/domain';

/**
 * What people see of a player beside the id. Of the face, which lists show where they are asked for it, what is left out comes
 * from the profile that the service keeps; null says that there is none. An `avatarUrl` that is no http or https address
 * of at most 512 characters is left out.
 */
export interface PlayerDecoration extends Partial<PlayerFace> {
  displayName: string | null;
}

/**
 * Supplies the names and faces that lists and channels show. Default: those of the players' profiles.
 * Called with up to 500 ids at once, never once per row; answers are cached by each process for a second.
 * Ids without a decoration are left out of the answer: they have what their profile says. So are all rows where it fails, unless
 * something was known before; it never fails a read.
 */
export abstract class EntryEnricher {
  abstract decorate(playerIds: readonly string[]): Promise<ReadonlyMap<string, PlayerDecoration>>;
}
