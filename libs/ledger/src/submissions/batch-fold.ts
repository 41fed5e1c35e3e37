import {
  applyRun,
  assertColumnsInBounds,
  assertScoreInBounds,
  hasCircles,
  isBanned,
  isPerRun,
  isUnranked,
  keyOfEntry,
  LadderError,
  runOfKey,
  standsEqual,
  type EntryChange,
  type EntryChanged,
  type EntryState,
  type StoredWindow,
} from '@laddercast/domain';
import type { AuditRecord } from '../operators/audit-log.js';
import { keptAfterEndMs, leftScopesOf, runsOfEvent, type EntryRow } from '../entries/entry-rows.js';
import type { FrozenEntry } from '../entries/lane-parameters.js';
import { taxedEntry, withPatchScopes } from '../entries/taxed-entries.js';
import { overriddenEntry, runOfOverride, runOfSubmission } from './new-runs.js';
import { restsOnRuns, type EntryPlace, type NewRun } from '../runs/run-rows.js';
import { hourKeyOf } from '../entries/rolling-hours.js';
import { HourChanges } from './hour-changes.js';
import { answerOfHeld, holdOf, placeOfHeld, type HeldRun, type Hold } from './held-runs.js';
import { playerBanned } from './player-banned.js';
import { StandingRuns, windowsOf, type ChangedEntry } from './standing-runs.js';
import { submitTaxed, taxedAnswer } from './taxed-runs.js';
import {
  entryKeyOf,
  scopesKeyOf,
  submissionKeyOf,
  type FeedPositionRow,
  type StoredBatch,
  type SubmissionRow,
} from './stored-batch.js';
import type { PatchUse } from '../patches/patch-uses.js';
import type { PlacedWrite } from './window-placement.js';
import type {
  FeedWrite,
  LedgerWrite,
  OverrideWrite,
  SubmissionAnswer,
  SubmitReceipt,
  SubmitWrite,
  WriteResult,
} from '../entries/ledger-writes.js';

/**
 * A batch of one lane, folded in the order of arrival: pure, so that the same writes on the same entries always give
 * the same rows. What it holds at the end is what one transaction stores.
 */
export class BatchFold {
  readonly changedEntries = new Map<string, EntryRow>();
  readonly newSubmissions: SubmissionRow[] = [];
  readonly events: EntryChanged[] = [];
  readonly audits: AuditRecord[] = [];
  /** Entries that were renewed, of boards with a limit that removes entries. */
  readonly renewedEntries = new Map<string, { windowUid: number; playerId: string }>();
  /** By {@link entryKeyOf}. */
  readonly changedFeeds = new Map<string, FeedPositionRow>();
  /** Entries as they stood when their window froze, before this batch. */
  readonly frozenEntries = new Map<string, FrozenEntry>();
  /** Of boards that keep them. */
  readonly newRuns: NewRun[] = [];
  /** Those of them that wait for a moderator. */
  readonly heldRuns: HeldRun[] = [];
  /** Runs that left because their players have runs of too many patches. */
  patchRunsDropped = 0;
  /** The patches that runs were accepted under, one for each run. */
  readonly patchUses: PatchUse[] = [];
  /** Entries that stand from before their board kept runs, and change. */
  readonly bases: EntryPlace[] = [];

  readonly hours: HourChanges;
  private readonly standing: StandingRuns;

  constructor(private readonly stored: StoredBatch) {
    this.hours = new HourChanges(stored.hours);
    this.standing = new StandingRuns(stored.standing);
  }

  /** Counts one write under the log position that its event gets. */
  apply(placed: PlacedWrite, position: number): WriteResult {
    try {
      const { kind } = placed.write;
      if (kind === 'submit') return this.submit(placed as PlacedWrite<SubmitWrite>, position);
      if (kind === 'override') return this.override(placed as PlacedWrite<OverrideWrite>, position);
      return this.feed(placed as PlacedWrite<FeedWrite>, position);
    } catch (error) {
      if (error instanceof LadderError) return { error };
      throw error;
    }
  }

  /** The answer to an id that was seen before; null when it is new. */
  replay(write: SubmitWrite): WriteResult | null {
    const seen = this.stored.remembered.get(submissionKeyOf(write));
    if (!seen) return null;
    if (!seen.bodySha256.equals(write.bodySha256)) {
      return {
        error: new LadderError(
          'SUBMISSION_ID_REUSED',
          `"${write.submissionId}" was used on this board for another body; a new run needs a new id.`,
        ),
      };
    }
    const { windowUid, handOverId, ...answer } = seen.answer;
    // The other copy of this very write is its first answer.
    const replayed = handOverId === undefined || handOverId !== write.handOverId;
    return { receipt: { kind: 'submit', replayed, answer, windowUid, movement: null } };
  }

  private submit(placed: PlacedWrite<SubmitWrite>, position: number): WriteResult {
    const { write, atMs } = placed;
    this.assertNotBanned(write);
    const windows = this.stored.attempts.windowsLeft(placed);
    const hold = holdOf(write);
    if (hold !== null) return this.hold(placed, windows, position, hold);
    if (isPerRun(write.board.definition)) return this.submitEntry(placed, windows, position);
    if (write.board.definition.decay) return this.submitTaxed(placed, windows, position);
    const run = { ...write, achievedAtMs: atMs };
    const applied = windows.map((window) => {
      const before = this.current(window, write.playerId);
      return { window, before, ...applyRun(write.board.definition, before, run, position) };
    });
    const rolling = applied.filter(({ window }) => window.kind === 'rolling');
    const hours =
      write.operator === 'set' ? [] : rolling.map(({ window }) => this.hours.with(placed, window, run, position));
    // Only now is it certain that no window refuses the run: it counts in all of them or in none.
    this.store(
      placed,
      applied.filter(({ outcome }) => outcome !== 'unchanged').map((one) => ({ after: one.entry, ...one })),
      position,
    );
    for (const hour of hours) this.hours.changed.set(hourKeyOf(hour), hour);
    if (write.operator === 'set') for (const { window, entry } of rolling) this.hours.set(write, window, entry, atMs);
    for (const { window, before } of applied) this.renew(write, window, before);
    this.stored.attempts.count(placed, windows);
    const first = applied[0]!;
    const answer: SubmissionAnswer = {
      outcome: first.outcome,
      score: first.entry.score,
      previousScore: first.before?.score ?? null,
      version: first.entry.version,
      windows: windows.map((window) => window.id),
    };
    if (write.board.runsFrom !== undefined) this.newRuns.push(runOfSubmission(placed, windows, position, false));
    const movement = { after: first.entry, before: first.before };
    return this.accept(placed, answer, first.window.uid, movement);
  }

  /** A run that is an entry of its own, where it is among the best of its player. */
  private submitEntry(
    placed: PlacedWrite<SubmitWrite>,
    windows: readonly StoredWindow[],
    position: number,
  ): WriteResult {
    const { write } = placed;
    const stood = this.standing.submit(placed, windows, position);
    this.store(
      placed,
      stood.flatMap(({ changed }) => changed),
      position,
    );
    for (const { window, stands } of stood) if (stands) this.renew(write, window, null, write.submissionId);
    this.stored.attempts.count(placed, windows);
    this.newRuns.push(runOfSubmission(placed, windows, position, false));
    const { shown, stands, displaced } = stood[0]!;
    const { score, version } = shown.state;
    const answer: SubmissionAnswer = {
      outcome: stands ? 'created' : 'unchanged',
      score,
      previousScore: stands ? null : score,
      version,
      windows: windows.map((window) => window.id),
      entryId: shown.entryId,
      ...(displaced && { displaced: displaced.entryId }),
    };
    const movement = { after: shown.state, before: stands ? null : shown.state };
    const unranked = isUnranked(this.stored.sanctions.get(write.playerId), write.board.id);
    const { receipt } = this.accept(placed, answer, windows[0]!.uid, movement);
    return { receipt: { ...receipt, ...(unranked && { unranked }) } };
  }

  /** A run of a patch, on a board that taxes older ones. */
  private submitTaxed(
    placed: PlacedWrite<SubmitWrite>,
    windows: readonly StoredWindow[],
    position: number,
  ): WriteResult {
    const { write } = placed;
    const { board, playerId } = write;
    const applied = windows.map((window) => submitTaxed(placed, window, this.current(window, playerId), position));
    const changed = applied.filter(({ kept }) => kept).map(({ entry: after, ...one }) => ({ after, ...one }));
    this.store(placed, changed, position);
    for (const { dropped } of applied) this.patchRunsDropped += dropped;
    this.stored.attempts.count(placed, windows);
    this.usePatch(write);
    if (board.runsFrom !== undefined) this.newRuns.push(runOfSubmission(placed, windows, position, false));
    const first = applied[0]!;
    const answer: SubmissionAnswer = {
      outcome: first.outcome,
      score: first.entry.score,
      previousScore: first.before?.score ?? null,
      version: first.entry.version,
      windows: windows.map((window) => window.id),
      taxed: taxedAnswer(board, first),
    };
    return this.accept(placed, answer, first.window.uid, { after: first.entry, before: first.before });
  }

  /** Keeps a run that waits for a moderator: it is remembered and counts as an attempt, and changes no entry. */
  private hold(
    placed: PlacedWrite<SubmitWrite>,
    windows: readonly StoredWindow[],
    position: number,
    hold: Hold,
  ): WriteResult {
    const { write } = placed;
    const run = runOfSubmission(placed, windows, position, true);
    this.newRuns.push(run);
    this.heldRuns.push({ ...run, ...hold });
    const { id, definition } = write.board;
    for (const window of hasCircles(definition.scopes) ? windows : []) {
      if (window.kind === 'rolling' || this.row(window, write.playerId) !== null) continue;
      const place = placeOfHeld(run, id, window.uid, this.stored);
      this.changedEntries.set(entryKeyOf(window.uid, write.playerId), place);
    }
    this.stored.attempts.count(placed, windows);
    this.usePatch(write);
    const answer = answerOfHeld(placed, windows, run, this.best(write, windows[0]!));
    return this.accept(placed, answer, windows[0]!.uid, null);
  }

  private usePatch({ board, patch }: SubmitWrite): void {
    if (patch !== undefined) this.patchUses.push({ patchUid: patch.uid, boardUid: board.uid, runs: 1 });
  }

  private accept(
    { write, atMs, nowMs }: PlacedWrite<SubmitWrite>,
    answer: SubmissionAnswer,
    windowUid: number,
    movement: SubmitReceipt['movement'],
  ): { receipt: SubmitReceipt } {
    const { handOverId } = write;
    const remembered = { windowUid, ...answer, ...(handOverId !== undefined && { handOverId }) };
    this.newSubmissions.push({ write, achievedAtMs: atMs, answer: remembered });
    if (write.idFromClient) {
      const { bodySha256 } = write;
      this.stored.remembered.set(submissionKeyOf(write), { bodySha256, answer: remembered, acceptedAtMs: nowMs });
    }
    return { receipt: { kind: 'submit', replayed: false, answer, windowUid, movement } };
  }

  private override(placed: PlacedWrite<OverrideWrite>, position: number): WriteResult {
    const { write, atMs, windows } = placed;
    if (write.entry) {
      assertScoreInBounds(write.board.definition, write.entry.score, 'the score');
      assertColumnsInBounds(write.board.definition, write.entry.columns);
    }
    const after = write.entry && overriddenEntry(write.entry, atMs, position);
    const changed: ChangedEntry[] = isPerRun(write.board.definition)
      ? this.standing.override(write, windows, after)
      : windows
          .map((window) => ({ window, before: this.current(window, write.playerId), after }))
          .filter(({ before }) => after !== null || before !== null);
    this.store(placed, changed, position);
    for (const { window } of changed) if (window.kind === 'rolling') this.hours.set(write, window, after, placed.nowMs);
    for (const { window, entryId, before, after: set } of changed) if (set) this.renew(write, window, before, entryId);
    if (changed.length > 0) this.audits.push(write.audit);
    const isKept = write.board.runsFrom !== undefined && changed.length > 0;
    if (isKept) this.newRuns.push(runOfOverride(placed, windowsOf(changed), position));
    const windowIds = windowsOf(changed).map(({ id }) => id);
    return { receipt: { kind: 'override', windows: windowIds, version: position, isKept, settledBefore: false } };
  }

  /** Stores what it is told where that is newer, whatever is there: a peak may fall, and a late game changes a rating. */
  private feed(placed: PlacedWrite<FeedWrite>, position: number): WriteResult {
    const { write, windows } = placed;
    const { playerId, feedPosition } = write;
    const news = write.entries.filter(({ window }) => {
      const key = entryKeyOf(window.uid, playerId);
      const fedFrom = this.changedFeeds.get(key)?.position ?? this.stored.feedPositions.get(key) ?? -1;
      return feedPosition > fedFrom && windows.includes(window);
    });
    for (const { window } of news) {
      const row = { windowUid: window.uid, playerId, position: feedPosition };
      this.changedFeeds.set(entryKeyOf(window.uid, playerId), row);
    }
    const changed = news
      .map(({ window, entry, isPastLifetime }) => {
        const row = this.row(window, playerId);
        const isOver = isPastLifetime && row?.removed && entry && entry.achievedAtMs <= row.state.achievedAtMs;
        const after = entry && !isOver ? { ...entry, metadata: null, version: position } : null;
        return { window, before: this.current(window, playerId), after };
      })
      .filter(({ before, after }) => !standsEqual(before, after));
    this.store(placed, changed, position);
    for (const { window, before, after } of changed) if (after) this.renew(write, window, before);
    return { receipt: { kind: 'feed', windows: news.map(({ window }) => window.id) } };
  }

  private assertNotBanned({ board, playerId }: SubmitWrite): void {
    const sanction = this.stored.sanctions.get(playerId);
    if (sanction && isBanned(sanction, board.id)) throw playerBanned(playerId, board.id, sanction);
  }

  /** The player's entry, or the best of them. */
  private best({ board, playerId }: LedgerWrite, window: StoredWindow): EntryState | null {
    if (isPerRun(board.definition)) return this.standing.of(board.definition, window, playerId)[0]?.state ?? null;
    const current = this.current(window, playerId);
    return board.definition.decay ? taxedEntry(board, window, current) : current;
  }

  private current(window: StoredWindow, playerId: string): EntryState | null {
    const row = this.row(window, playerId);
    return row && !row.removed ? row.state : null;
  }

  private row(window: StoredWindow, entryKey: string): EntryRow | null {
    const key = entryKeyOf(window.uid, entryKey);
    return this.changedEntries.get(key) ?? this.stored.entries.get(key) ?? null;
  }

  private store({ write, nowMs }: PlacedWrite, changed: readonly ChangedEntry[], position: number): void {
    if (changed.length === 0) return;
    const { board, playerId } = write;
    const unranked = isUnranked(this.stored.sanctions.get(playerId), board.id);
    const changes = changed.map(({ window, entryId, before, after }): EntryChange => {
      const key = keyOfEntry({ playerId, entryId });
      this.saveFrozen(window, key, nowMs);
      const known = this.row(window, key);
      const hasEnded = window.endsAtMs !== null && nowMs >= window.endsAtMs;
      // An ended window keeps the scopes of its entries; a tombstone goes to the scopes of the entry.
      const keepsScopes = known !== null && (after === null || (hasEnded && !known.removed));
      const circles = keepsScopes ? known.scopes : (this.stored.scopes.get(scopesKeyOf(board.uid, playerId)) ?? []);
      const scopes = board.definition.decay && after !== null ? withPatchScopes(circles, after) : circles;
      const { left, everLeft } = leftScopesOf(known, scopes);
      const state = after ?? { ...before!, version: position, ...(board.definition.decay && { patchRuns: [] }) };
      const row = {
        boardUid: board.uid,
        windowUid: window.uid,
        playerId: key,
        state,
        removed: after === null,
        unranked,
      };
      if (before !== null && board.runsFrom !== undefined && before.version < board.runsFrom) this.bases.push(row);
      this.changedEntries.set(entryKeyOf(window.uid, key), {
        scopes,
        leftScopes: everLeft,
        ...row,
        ...(restsOnRuns(board) && { runPosition: position }),
      });
      const keepUntilMs = window.endsAtMs === null ? null : window.endsAtMs + keptAfterEndMs(board.definition);
      const shown = unranked ? null : after;
      const entry = shown && { score: shown.score, columns: shown.columns, achievedAtMs: shown.achievedAtMs };
      return {
        windowUid: window.uid,
        ...runOfKey(key),
        keepUntilMs,
        entry,
        ...(scopes.length > 0 && { scopes }),
        ...(left.length > 0 && { leftScopes: left }),
        ...runsOfEvent(shown?.patchRuns, shown !== null),
      };
    });
    const event: EntryChanged = { type: 'entry-changed', boardUid: board.uid, playerId, version: position, changes };
    if (write.traceparent !== undefined) event.traceparent = write.traceparent;
    this.events.push(event);
  }

  /** Without a lifetime it is enough to mark an entry when it begins. */
  private renew(
    { board, playerId }: LedgerWrite,
    window: StoredWindow,
    before: EntryState | null,
    entryId?: string,
  ): void {
    const { entriesMax, entryLifetimeSeconds } = board.definition.limits;
    if (entryLifetimeSeconds === null && (entriesMax === null || before !== null)) return;
    const key = keyOfEntry({ playerId, entryId });
    this.renewedEntries.set(entryKeyOf(window.uid, key), { windowUid: window.uid, playerId: key });
  }

  /** From its freeze to its end a window shows what it held at the freeze: the first change after it saves that. */
  private saveFrozen(window: StoredWindow, entryKey: string, nowMs: number): void {
    const { freezeAtMs, endsAtMs } = window;
    if (freezeAtMs === null || nowMs < freezeAtMs || nowMs >= endsAtMs!) return;
    const key = entryKeyOf(window.uid, entryKey);
    if (this.frozenEntries.has(key)) return;
    const row = this.stored.entries.get(key) ?? null;
    this.frozenEntries.set(key, { windowUid: window.uid, playerId: entryKey, row });
  }
}
