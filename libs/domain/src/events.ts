/** Events as they stand in the outbox and the log. The page `topics.ts` of the event log lists where each travels. */

/** The whole new state of one entry in one window, or its removal. */
export interface EntryChange {
  windowUid: number;
  /** When the window's keys may go from the projection, Unix ms; null for windows without end. */
  keepUntilMs: number | null;
  /** null: the entry was removed (a tombstone, versioned like any change). */
  entry: { score: number; columns: number[]; achievedAtMs: number } | null;
}

/** One ledger write changed a player's entries on one board; `version` is the event's own log position. */
export interface EntryChanged {
  type: 'entry-changed';
  boardUid: number;
  playerId: string;
  version: number;
  changes: EntryChange[];
}

/** A board was created, redefined, reset or deleted; written once in every lane. */
export interface BoardChanged {
  type: 'board-changed';
  boardUid: number;
  /** null: this uid is gone for ever (deleted or reset). */
  boardId: string | null;
  revision: number;
}

export type LadderEvent = EntryChanged | BoardChanged;
export type LadderEventType = LadderEvent['type'];
