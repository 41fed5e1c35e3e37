import type { AuditRecord } from '../operators/audit-log.js';
import type {
  Board,
  EntryState,
  FedEntry,
  LadderError,
  PublishedPatch,
  StoredWindow,
  SubmissionOperator,
  SubmissionOutcome,
} from '@laddercast/domain';

/** A run to be counted. The board is the one the caller saw; it is checked again under the lane's lock. */
export interface SubmitWrite {
  kind: 'submit';
  board: Board;
  playerId: string;
  submissionId: string;
  /** Whether the client chose the id: only then can it come again. */
  idFromClient: boolean;
  score: number;
  /** On sum boards; absent: sum. */
  operator?: SubmissionOperator;
  columns: number[];
  /** Unix ms; null: now, by the database's clock. */
  achievedAtMs: number | null;
  /** The full id of the window the client named, or null. */
  windowId: string | null;
  /** JSON text. */
  metadata: string | null;
  /** What the client named it by elsewhere; absent: nothing. */
  sourceId?: string;
  /** On boards with decay: the patch that was named, and the one as which the run counts. */
  patch?: PublishedPatch;
  /** On boards that keep runs: an https URL; absent: none. */
  proof?: string;
  /** On boards that keep runs: whether a key, or a check, has verified it. */
  verified?: boolean;
  /** On boards that keep runs: a check wants it held; absent: none does. */
  hold?: { check: string; reason: string };
  /** SHA-256 of everything the client sent: tells a retry from another body under the same id. */
  bodySha256: Buffer;
  /** Why the run is refused, unless its id was counted before. */
  refusal: LadderError | null;
  /** Drawn where it is handed to another process: by this the copy that comes second knows the first as its own. */
  handOverId?: string;
  /** W3C trace context that its event carries; absent: it is not traced. */
  traceparent?: string;
}

/** An operator's hand: removes a player's entry from the running windows, or sets it whatever the operator. */
export interface OverrideWrite {
  kind: 'override';
  board: Board;
  playerId: string;
  /** null removes the entry. */
  entry: { score: number; columns: number[] } | null;
  /** How it stands among the runs of a board that keeps them; absent on others. */
  run?: { submissionId: string; reason: string };
  audit: AuditRecord;
  /** As of a {@link SubmitWrite}. */
  traceparent?: string;
}

export interface FedPlace {
  window: StoredWindow;
  /** null: no entry. */
  entry: FedEntry | null;
  /** The player's last game there is longer ago than entries live: one that went does not come back, unless by a later time. */
  isPastLifetime?: boolean;
}

/** What a rating pool says of a player: entries as they are to be, by no order of time. */
export interface FeedWrite {
  kind: 'feed';
  board: Board;
  playerId: string;
  /** Up to which the pool was rated when this was read; an entry that was fed from there, or later, stays as it is. */
  feedPosition: number;
  /** Of windows of this revision of the board. */
  entries: readonly FedPlace[];
  /** As of a {@link SubmitWrite}. */
  traceparent?: string;
}

export type LedgerWrite = SubmitWrite | OverrideWrite | FeedWrite;

/** What a submission did, as it is answered now and to every retry. */
export interface SubmissionAnswer {
  outcome: SubmissionOutcome;
  score: number;
  previousScore: number | null;
  version: number;
  windows: string[];
  /** Where each run is an entry: the one that this says the score of, the run or, where it does not stand, the player's best. */
  entryId?: string;
  /** The entry of the player that the run pushed out; absent: none. */
  displaced?: string;
  /** On boards with decay: what `score` is made of, and whether the run is kept, be it that another one stands. */
  taxed?: { rawScore: number; patch: string; patchesBehind: number; kept: boolean };
}

export interface SubmitReceipt {
  kind: 'submit';
  replayed: boolean;
  answer: SubmissionAnswer;
  /** The window that the answer's scores are of. */
  windowUid: number;
  /** The entry after and before this write; null for a replay, which changed nothing. */
  movement: { after: EntryState; before: EntryState | null } | null;
  /** Where each run is an entry: whether those of the player are ranked for nobody else. */
  unranked?: boolean;
}

export interface OverrideReceipt {
  kind: 'override';
  /** The windows in which something changed. */
  windows: string[];
  version: number;
  /** Whether it stands among the runs of the board, under the id of the write. */
  isKept: boolean;
  /** Whether an earlier try of this write, whose commit went unanswered, may have stored it already. */
  settledBefore: boolean;
}

export interface FeedReceipt {
  kind: 'feed';
  /** The windows for which this was news. */
  windows: string[];
}

export type LedgerReceipt = SubmitReceipt | OverrideReceipt | FeedReceipt;

/** The result of one write of a batch. */
export type WriteResult = { receipt: LedgerReceipt } | { error: LadderError | StaleBoardError };

/** Thrown when the board a write was made for is gone or was redefined meanwhile: look it up again and retry. */
export class StaleBoardError extends Error {
  constructor(readonly boardUid: number) {
    super(`Board ${boardUid} changed while the write was under way.`);
  }
}
