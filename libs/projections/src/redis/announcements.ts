/** Something that every process should know soon, beside the ticks of lists. */
export type Announcement =
  | {
      kind: 'players';
      /** Players (or guilds) whose name, listing or sanction changed: what is remembered of them is old. */
      ids: string[];
      isGuild: boolean;
      /** Whether sanctions changed: lists that were kept of a moment ago rank these players as they were ranked then. */
      ofSanctions?: boolean;
    }
  | {
      kind: 'ratings';
      poolUid: number;
      /** Players whose ratings in the pool changed. */
      ids: string[];
    }
  | {
      kind: 'window-closed';
      boardUid: number;
      windowUid: number;
    }
  | {
      /** Another edition of its standings was written, of a window that has ended or is frozen. */
      kind: 'standings-revised';
      boardUid: number;
      windowUid: number;
    };

/** Tells all processes what the log says. Announcements can be lost with a connection; then listeners hear `null`. */
export abstract class Announcements {
  abstract announce(announcement: Announcement): Promise<void>;

  /**
   * Calls the listener for each announcement until that is ended, and with null when some may have been missed: as soon
   * as it hears any, and again after each interruption. It never fails: who is away is tried again for ever.
   * @returns how to end it; from then on the listener is called no more
   */
  abstract onAnnounced(listener: (announcement: Announcement | null) => void): () => void;
}
