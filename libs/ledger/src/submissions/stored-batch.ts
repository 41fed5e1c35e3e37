import type { SanctionInForce } from '@laddercast/domain';
import type { EntryRow } from '../entries/entry-rows.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';
import type { RollingHourRow } from '../entries/rolling-hours.js';
import type { StoredAnswer } from '../entries/stored-answer.js';
import type { AttemptCounts } from './attempt-counts.js';
import { ownerOf } from './new-runs.js';

/** A remembered submission. */
export interface RememberedSubmission {
  bodySha256: Buffer;
  answer: StoredAnswer;
  /** The ledger's time of its commit, Unix ms. */
  acceptedAtMs: number;
}

export interface SubmissionRow {
  write: SubmitWrite;
  achievedAtMs: number;
  answer: StoredAnswer;
}

/** @param key the entry's, or its player's id */
export const entryKeyOf = (windowUid: number, key: string): string => `${windowUid}/${key}`;

export const submissionKeyOf = (write: SubmitWrite): string =>
  `${write.board.uid}/${ownerOf(write).length}/${ownerOf(write)}/${write.submissionId}`;

/** What is stored of everything that a batch touches. */
export interface StoredBatch {
  /** By {@link entryKeyOf}; null: there is none. */
  entries: ReadonlyMap<string, EntryRow | null>;
  /** By {@link submissionKeyOf}. */
  remembered: Map<string, RememberedSubmission>;
  /** By {@link hourKeyOf}; null: nothing counts there yet. */
  hours: ReadonlyMap<string, RollingHourRow | null>;
  /** The numbers of the scopes that rank a player on a board, by {@link scopesKeyOf}; absent: that of everybody alone. */
  scopes: Map<string, number[]>;
  /** Of boards that limit them. */
  attempts: AttemptCounts;
  /** The entries of players where each run is one, by {@link entryKeyOf}; absent: none. */
  standing: ReadonlyMap<string, readonly EntryRow[]>;
  /** From which position of their pool entries were fed, by {@link entryKeyOf}; absent: they never were. */
  feedPositions: ReadonlyMap<string, number>;
  /** By the player's id: of those that are in force. */
  sanctions: ReadonlyMap<string, SanctionInForce>;
}

/** From which position of its pool a player's entry was fed last, be it that there is none. */
export interface FeedPositionRow {
  windowUid: number;
  playerId: string;
  position: number;
}

export const scopesKeyOf = (boardUid: number, playerId: string): string => `${boardUid}/${playerId}`;
