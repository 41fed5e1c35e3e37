import type { ListRef } from '../ranks/snapshot-store.js';

/** Says that a change which is traced is on its way into a list. */
export interface TraceNote {
  /** W3C trace context of the change's last span. */
  traceparent: string;
  /** Whose entry changes; the guild's id in the list of guilds. */
  playerId: string;
}

/** The most notes that a list keeps; older ones go first. */
export const TRACE_NOTES_MAX = 64;
/** How long a note is good for: what is not published by then is below what is published. */
export const TRACE_NOTE_MS = 10_000;

/** Leads traces from who applies a change to who publishes it, which may be another process. Only traced changes cost anything. */
export abstract class TraceNotes {
  /** To be called before the change is applied: who publishes it is sure to find the note then. */
  abstract leave(list: ListRef, notes: readonly TraceNote[]): Promise<void>;

  /** The notes of a list that are not too old, at most {@link TRACE_NOTES_MAX}. */
  abstract waiting(list: ListRef): Promise<TraceNote[]>;

  /** They were published. */
  abstract forget(list: ListRef, notes: readonly TraceNote[]): Promise<void>;
}
