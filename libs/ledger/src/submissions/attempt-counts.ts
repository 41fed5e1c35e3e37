import { firstRollingHour, HOUR_MS, LadderError, rollingHours, type StoredWindow } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import type { PlacedWrite } from './window-placement.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';

/** How many runs of a player count in a window; by the hour (hours since 1970) where the window rolls, else under 0. */
export interface AttemptRow {
  windowUid: number;
  playerId: string;
  hour: number;
  runs: number;
}

/** The player's attempts in a window from an hour on. */
export interface AttemptKey {
  windowUid: number;
  playerId: string;
  firstHour: number;
}

const keyOf = (windowUid: number, playerId: string): string => `${windowUid}/${playerId}`;

const hourOf = (window: StoredWindow, atMs: number): number =>
  window.kind === 'rolling' ? Math.floor(atMs / HOUR_MS) : 0;

/** The keys that a batch needs: the attempts of its players in the windows of boards that limit them. */
export function attemptKeysOf(placed: readonly PlacedWrite[]): AttemptKey[] {
  const keys = new Map<string, AttemptKey>();
  for (const { write, windows, nowMs } of placed) {
    if (write.kind !== 'submit' || write.board.definition.limits.attemptsMax === null) continue;
    const { playerId } = write;
    for (const { uid, id, kind } of windows) {
      const firstHour = kind === 'rolling' ? firstRollingHour(rollingHours(id), nowMs) : 0;
      keys.set(keyOf(uid, playerId), { windowUid: uid, playerId, firstHour });
    }
  }
  return [...keys.values()];
}

/** The attempts of a batch's players, counted further under the lane as runs are folded. */
export class AttemptCounts {
  private readonly rows = new Map<string, AttemptRow[]>();
  private readonly changedRows = new Set<AttemptRow>();

  /** @param stored those of {@link attemptKeysOf} */
  constructor(stored: readonly AttemptRow[]) {
    for (const row of stored) this.rowsOf(row.windowUid, row.playerId).push({ ...row });
  }

  /** The changes that the batch stores. */
  get changed(): AttemptRow[] {
    return [...this.changedRows];
  }

  /**
   * The windows of a run in which its player has attempts left, in their order.
   * @throws ATTEMPTS_EXHAUSTED when there is none, or the window that the run names has none left
   */
  windowsLeft({ write, windows, nowMs }: PlacedWrite<SubmitWrite>): StoredWindow[] {
    const { attemptsMax } = write.board.definition.limits;
    if (attemptsMax === null) return windows;
    const left = windows.filter(({ uid }) => this.used(uid, write.playerId) < attemptsMax);
    const named = windows.find(({ id }) => id === write.windowId);
    if (named ? left.includes(named) : left.length > 0) return left;
    const asked = named ? [named] : windows;
    const resets = asked.map((window) => this.resetsAtMs(window, write.playerId, { attemptsMax, nowMs }));
    throw exhausted(write.playerId, asked, attemptsMax, resets);
  }

  /** Counts an accepted run. */
  count({ write, atMs }: PlacedWrite<SubmitWrite>, windows: readonly StoredWindow[]): void {
    const { playerId, board } = write;
    if (board.definition.limits.attemptsMax === null) return;
    for (const window of windows) {
      const rows = this.rowsOf(window.uid, playerId);
      const hour = hourOf(window, atMs);
      let row = rows.find((one) => one.hour === hour);
      if (row === undefined) rows.push((row = { windowUid: window.uid, playerId, hour, runs: 0 }));
      row.runs += 1;
      this.changedRows.add(row);
    }
  }

  private rowsOf(windowUid: number, playerId: string): AttemptRow[] {
    const key = keyOf(windowUid, playerId);
    const known = this.rows.get(key) ?? [];
    this.rows.set(key, known);
    return known;
  }

  private used(windowUid: number, playerId: string): number {
    return this.rowsOf(windowUid, playerId).reduce((sum, { runs }) => sum + runs, 0);
  }

  /** When the player can play again in a window whose attempts are used up, Unix ms; null: never. */
  private resetsAtMs(
    window: StoredWindow,
    playerId: string,
    { attemptsMax, nowMs }: { attemptsMax: number; nowMs: number },
  ): number | null {
    if (window.kind !== 'rolling') return window.endsAtMs !== null && window.endsAtMs > nowMs ? window.endsAtMs : null;
    let used = this.used(window.uid, playerId);
    const rows = [...this.rowsOf(window.uid, playerId)].sort((a, b) => a.hour - b.hour);
    const freeing = rows.find(({ runs }) => (used -= runs) < attemptsMax)!;
    return (freeing.hour + rollingHours(window.id)) * HOUR_MS;
  }
}

function exhausted(
  playerId: string,
  windows: readonly StoredWindow[],
  attemptsMax: number,
  resets: readonly (number | null)[],
): LadderError {
  const known = resets.filter((reset) => reset !== null);
  const resetsAt = known.length === 0 ? null : toTimestamp(Math.min(...known));
  const ids = windows.map(({ id }) => id).join(', ');
  const next = resetsAt === null ? '' : `; it has new ones from ${resetsAt} on`;
  const count = attemptsMax === 1 ? 'its one attempt' : `its ${attemptsMax} attempts`;
  return new LadderError('ATTEMPTS_EXHAUSTED', `"${playerId}" has used ${count} in ${ids}${next}.`, {
    attemptsMax,
    resetsAt,
  });
}
