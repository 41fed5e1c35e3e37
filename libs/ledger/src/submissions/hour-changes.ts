import { HOUR_MS, type applyRun, type EntryState, type StoredWindow } from '@laddercast/domain';
import type { LedgerWrite, SubmitWrite } from '../entries/ledger-writes.js';
import { addToHour, hourKeyOf, type RollingHourRow } from '../entries/rolling-hours.js';
import { entryKeyOf } from './stored-batch.js';
import type { PlacedWrite } from './window-placement.js';

/** The hours of rolling windows, as a batch changes them. */
export class HourChanges {
  /** By `hourKeyOf`. */
  readonly changed = new Map<string, RollingHourRow>();
  /** Players whose hours in a rolling window an operator overrode: their stored hours are deleted first. */
  readonly cleared = new Map<string, { windowUid: number; playerId: string }>();

  /** @param stored by `hourKeyOf`; null: nothing counts there yet */
  constructor(private readonly stored: ReadonlyMap<string, RollingHourRow | null>) {}

  /** The hour of a run with the run in it. */
  with(
    { write, atMs }: PlacedWrite<SubmitWrite>,
    window: StoredWindow,
    run: Parameters<typeof applyRun>[2],
    position: number,
  ): RollingHourRow {
    const place = { windowUid: window.uid, playerId: write.playerId, hour: Math.floor(atMs / HOUR_MS) };
    const key = hourKeyOf(place);
    const isCleared = this.cleared.has(entryKeyOf(window.uid, write.playerId));
    const before = this.changed.get(key) ?? (isCleared ? null : this.stored.get(key));
    // Where runs are kept, they are folded when an hour leaves: of the hour it matters only that it is there.
    if (write.board.runsFrom !== undefined && before) return before;
    return { ...place, state: addToHour(write.board.definition, before?.state ?? null, run, position) };
  }

  /** A total that is set counts from its hour on, an operator's from the present one; what was counted before is gone. */
  set({ playerId }: LedgerWrite, window: StoredWindow, after: EntryState | null, atMs: number): void {
    this.cleared.set(entryKeyOf(window.uid, playerId), { windowUid: window.uid, playerId });
    for (const [key, row] of this.changed) {
      if (row.windowUid === window.uid && row.playerId === playerId) this.changed.delete(key);
    }
    if (after === null) return;
    const place = { windowUid: window.uid, playerId, hour: Math.floor(atMs / HOUR_MS) };
    this.changed.set(hourKeyOf(place), { ...place, state: after });
  }
}
