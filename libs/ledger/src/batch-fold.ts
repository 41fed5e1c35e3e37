import {
  applyRun,
  assertScoreInBounds,
  isWindowOpen,
  LadderError,
  parseWindowId,
  windowAt,
  withoutNegativeZero,
  type EntryChange,
  type EntryChanged,
  type EntryState,
  type StoredWindow,
  type WindowBounds,
} from '@laddercast/domain';
import type { AuditRecord } from './audit-log.js';
import type { LedgerWrite, OverrideWrite, SubmissionAnswer, SubmitWrite, WriteResult } from './writes.js';

/** A run may lie this far ahead of the database's clock; it then becomes now. */
const FUTURE_TOLERANCE_MS = 60_000;

/** A write with its time settled and the windows it goes to; the first of them is the one that is answered. */
export interface PlacedWrite<Write extends LedgerWrite = LedgerWrite> {
  write: Write;
  atMs: number;
  windows: StoredWindow[];
}

/** A remembered submission. */
export interface RememberedSubmission {
  bodySha256: Buffer;
  answer: SubmissionAnswer & { windowUid: number };
}

/** A row to store in `entries`; a removed entry keeps its version. */
export interface EntryRow {
  boardUid: number;
  windowUid: number;
  playerId: string;
  state: EntryState;
  removed: boolean;
}

export interface SubmissionRow {
  write: SubmitWrite;
  achievedAtMs: number;
  answer: SubmissionAnswer & { windowUid: number };
}

export const entryKeyOf = (windowUid: number, playerId: string): string => `${windowUid}/${playerId}`;

/** Submission ids are per board; where players submit for themselves, per player too. */
export const ownerOf = (write: SubmitWrite): string =>
  write.board.definition.submitters === 'players' ? write.playerId : '';

export const submissionKeyOf = (write: SubmitWrite): string =>
  `${write.board.uid}/${ownerOf(write).length}/${ownerOf(write)}/${write.submissionId}`;

/**
 * The windows a write goes to at `nowMs` (the database's clock), by their bounds.
 * @throws the write's own refusal, ACHIEVED_AT_IN_FUTURE, WINDOW_CLOSED, WINDOW_MISMATCH
 */
export function placeWrite(write: LedgerWrite, nowMs: number): { atMs: number; windows: WindowBounds[] } {
  const { definition } = write.board;
  if (write.kind === 'override') {
    return { atMs: nowMs, windows: definition.windows.map((kind) => windowAt(kind, nowMs)) };
  }
  if (write.refusal) throw write.refusal;
  const given = write.achievedAtMs ?? nowMs;
  if (given > nowMs + FUTURE_TOLERANCE_MS) {
    throw new LadderError(
      'ACHIEVED_AT_IN_FUTURE',
      `achievedAt lies ${Math.ceil((given - nowMs) / 1000)} s ahead of the server; at most ${FUTURE_TOLERANCE_MS / 1000} s are tolerated.`,
    );
  }
  const atMs = Math.min(given, nowMs);
  const holding = definition.windows.map((kind) => windowAt(kind, atMs));
  const open = holding.filter((window) => isWindowOpen(window, definition.graceSeconds, nowMs));
  if (write.windowId !== null) {
    const named = holding.find((window) => window.id === write.windowId);
    const asked = parseWindowId(write.windowId);
    if (asked && definition.windows.includes(asked.kind) && !isWindowOpen(asked, definition.graceSeconds, nowMs)) {
      throw windowClosed([asked.id]);
    }
    if (!named) {
      throw new LadderError(
        'WINDOW_MISMATCH',
        `The window "${write.windowId}" does not hold ${new Date(atMs).toISOString()}; send the achievedAt of the run.`,
      );
    }
    return { atMs, windows: [named, ...open.filter((window) => window !== named)] };
  }
  if (open.length === 0) throw windowClosed(holding.map((window) => window.id));
  return { atMs, windows: open };
}

const windowClosed = (ids: string[]): LadderError =>
  new LadderError('WINDOW_CLOSED', `${ids.join(', ')} no longer takes runs: the grace after the end is over.`);

/**
 * A batch of one lane, folded in the order of arrival: pure, so that the same writes on the same entries always give
 * the same rows. What it holds at the end is what one transaction stores.
 */
export class BatchFold {
  readonly changedEntries = new Map<string, EntryRow>();
  readonly newSubmissions: SubmissionRow[] = [];
  readonly events: EntryChanged[] = [];
  readonly audits: AuditRecord[] = [];

  /**
   * @param entries the stored entries of every (window, player) that the batch touches
   * @param remembered the stored submissions of every id that the batch carries
   */
  constructor(
    private readonly entries: Map<string, EntryRow>,
    private readonly remembered: Map<string, RememberedSubmission>,
  ) {}

  /** Counts one write under the log position that its event would carry. */
  apply(placed: PlacedWrite, position: number): WriteResult {
    try {
      return placed.write.kind === 'submit'
        ? this.submit(placed as PlacedWrite<SubmitWrite>, position)
        : this.override(placed as PlacedWrite<OverrideWrite>, position);
    } catch (error) {
      if (error instanceof LadderError) return { error };
      throw error;
    }
  }

  /** The answer to an id that was seen before; null when it is new. */
  replay(write: SubmitWrite): WriteResult | null {
    const seen = this.remembered.get(submissionKeyOf(write));
    if (!seen) return null;
    if (!seen.bodySha256.equals(write.bodySha256)) {
      return {
        error: new LadderError(
          'SUBMISSION_ID_REUSED',
          `"${write.submissionId}" was used on this board for another body; a new run needs a new id.`,
        ),
      };
    }
    const { windowUid, ...answer } = seen.answer;
    const window = { uid: windowUid } as StoredWindow;
    return { receipt: { kind: 'submit', replayed: true, answer, window, movement: null } };
  }

  private submit({ write, atMs, windows }: PlacedWrite<SubmitWrite>, position: number): WriteResult {
    const run = { ...write, achievedAtMs: atMs };
    const applied = windows.map((window) => {
      const before = this.current(window, write.playerId);
      return { window, before, ...applyRun(write.board.definition, before, run, position) };
    });
    // Only now is it certain that no window refuses the run: it counts in all of them or in none.
    this.store(
      write,
      applied.filter(({ outcome }) => outcome !== 'unchanged').map((one) => ({ ...one, after: one.entry })),
      position,
    );
    const first = applied[0]!;
    const answer: SubmissionAnswer = {
      outcome: first.outcome,
      score: first.entry.score,
      previousScore: first.before?.score ?? null,
      version: first.entry.version,
      windows: windows.map((window) => window.id),
    };
    const remembered = { ...answer, windowUid: first.window.uid };
    this.newSubmissions.push({ write, achievedAtMs: atMs, answer: remembered });
    if (write.idFromClient) {
      this.remembered.set(submissionKeyOf(write), { bodySha256: write.bodySha256, answer: remembered });
    }
    const movement = { after: first.entry, before: first.before };
    return { receipt: { kind: 'submit', replayed: false, answer, window: first.window, movement } };
  }

  private override({ write, atMs, windows }: PlacedWrite<OverrideWrite>, position: number): WriteResult {
    if (write.entry) assertScoreInBounds(write.board.definition, write.entry.score, 'the score');
    const changed = windows
      .map((window) => ({ window, before: this.current(window, write.playerId) }))
      .filter(({ before }) => write.entry !== null || before !== null)
      .map((one) => ({ ...one, after: write.entry && this.overridden(write.entry, atMs, position) }));
    this.store(write, changed, position);
    if (changed.length > 0) this.audits.push(write.audit);
    const windowIds = changed.map(({ window }) => window.id);
    return { receipt: { kind: 'override', windows: windowIds, version: position, settledBefore: false } };
  }

  private overridden(entry: { score: number; columns: number[] }, atMs: number, position: number): EntryState {
    return {
      score: withoutNegativeZero(entry.score),
      columns: entry.columns.map(withoutNegativeZero),
      achievedAtMs: atMs,
      metadata: null,
      version: position,
    };
  }

  private current(window: StoredWindow, playerId: string): EntryState | null {
    const key = entryKeyOf(window.uid, playerId);
    const row = this.changedEntries.get(key) ?? this.entries.get(key);
    return row && !row.removed ? row.state : null;
  }

  private store(
    write: LedgerWrite,
    changed: { window: StoredWindow; before: EntryState | null; after: EntryState | null }[],
    position: number,
  ): void {
    if (changed.length === 0) return;
    const { board, playerId } = write;
    const changes = changed.map(({ window, before, after }): EntryChange => {
      const state = after ?? { ...before!, version: position };
      const row = { boardUid: board.uid, windowUid: window.uid, playerId, state, removed: after === null };
      this.changedEntries.set(entryKeyOf(window.uid, playerId), row);
      const keepUntilMs = window.endsAtMs === null ? null : window.endsAtMs + keptAfterEndMs(board.definition);
      const entry = after && { score: after.score, columns: after.columns, achievedAtMs: after.achievedAtMs };
      return { windowUid: window.uid, keepUntilMs, entry };
    });
    this.events.push({ type: 'entry-changed', boardUid: board.uid, playerId, version: position, changes });
  }
}

/** An ended window stays in the projection at least as long as runs may still enter it. */
export function keptAfterEndMs(definition: { graceSeconds: number; keepEndedSeconds: number }): number {
  return 1000 * Math.max(definition.graceSeconds, definition.keepEndedSeconds);
}
