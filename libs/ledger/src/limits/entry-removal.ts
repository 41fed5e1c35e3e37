import {
  isPerRun,
  playerOfKey,
  runOfKey,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChanged,
} from '@laddercast/domain';
import { ENTRIES_AS_SEEN, WINDOW_OF_LIMITS } from './entry-limits-sql.js';
import { storeEntries } from '../reemission/entry-reemission.js';
import { keptAfterEndMs, type EntryRow } from '../entries/entry-rows.js';
import { frozenParameters } from '../entries/lane-parameters.js';
import { CLEAR_ROLLING_HOURS, SAVE_FROZEN_ENTRIES } from '../entries/lane-sql.js';
import { drawPositions } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import { placedAnew, type Lanes, type Place } from '../lanes/lanes.js';
import { storeRuns, type NewRun } from '../runs/run-rows.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { OutboxNotifier } from '../lanes/outbox-notifier.js';
import type { PostgresDatabase, SqlRunner } from '../database/postgres-database.js';

/** The most entries of one transaction; a lane's runs wait some milliseconds for it. */
const ENTRIES_AT_ONCE = 250;

/** A window, as it was when a limit was checked in it. */
export interface LimitedWindow {
  windowUid: number;
  /** The board's revision by which the entries to remove were chosen. */
  definitionRevision: number;
}

/** An entry to remove, if it is still as it was seen: with that version, or last renewed at that time. */
export interface SeenEntry {
  /** The player's id, or the key of a run's entry. */
  playerId: string;
  version: number | null;
  renewedAtMs: number | null;
}

interface WindowRow {
  board_uid: number;
  definition: BoardDefinition;
  /** null: its board keeps no runs. */
  runs_from: number | null;
  is_rolling: boolean;
  is_frozen: boolean;
  ends_at_ms: number | null;
}

interface StandingRow {
  player_id: string;
  version: number;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  scopes: number[];
  left_scopes: number[];
  unranked: boolean;
}

/**
 * Takes entries out of a window in which limits hold, as committed facts: a tombstone with its event for each, under its lane. What a
 * player had in a rolling window is gone with it. Killed at any point, what was committed is removed and nothing else.
 */
export class EntryRemoval {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
  ) {}

  /** Removes those that are as they were seen, a bounded part at a time; returns how many went. */
  remove(window: LimitedWindow, seen: readonly SeenEntry[], signal: AbortSignal): Promise<number> {
    let removed = 0;
    // Those that went are not as they were seen any more.
    return placedAnew(this.database, this.lanes, async () => {
      await this.removePlaced(window, seen, signal, (gone) => (removed += gone));
      return removed;
    });
  }

  private async removePlaced(
    window: LimitedWindow,
    seen: readonly SeenEntry[],
    signal: AbortSignal,
    onGone: (gone: number) => void,
  ): Promise<void> {
    const ofLanes = this.lanes.sorted(seen, ({ playerId }) => playerId);
    const most = Math.max(...ofLanes.map(({ things }) => things.length));
    // In turns, so that no lane is taken again and again while the others rest.
    for (let from = 0; from < most; from += ENTRIES_AT_ONCE) {
      for (const { place, things } of ofLanes) {
        const chunk = things.slice(from, from + ENTRIES_AT_ONCE);
        if (chunk.length === 0) continue;
        if (signal.aborted) return;
        const gone = await this.removeChunk(place, window, chunk);
        // The decision is out of date: the next look decides anew.
        if (gone === null) return;
        onGone(gone);
      }
    }
  }

  /** @returns null when limits hold no more in the window, or its board is defined otherwise */
  private async removeChunk(place: Place, window: LimitedWindow, seen: readonly SeenEntry[]): Promise<number | null> {
    const { windowUid, definitionRevision } = window;
    const removed = await this.database.transaction(async (transaction) => {
      await takeLane(transaction, place);
      const [row] = await transaction.query<WindowRow>(WINDOW_OF_LIMITS, [windowUid, definitionRevision]);
      if (row === undefined) return null;
      const entries = await transaction.query<StandingRow>(ENTRIES_AS_SEEN, [
        windowUid,
        seen.map(({ playerId }) => playerId),
        seen.map(({ version }) => version),
        seen.map(({ renewedAtMs }) => renewedAtMs),
      ]);
      const standing = entries.map((entry) => rowOf(row.board_uid, windowUid, entry));
      if (standing.length > 0) await writeTombstones(transaction, place.lane, row, standing);
      return standing.length;
    });
    if (removed !== null && removed > 0) this.notifier.wake(place.lane);
    return removed;
  }
}

async function writeTombstones(
  transaction: SqlRunner,
  lane: number,
  { definition, runs_from, is_rolling, is_frozen, ends_at_ms }: WindowRow,
  standing: readonly EntryRow[],
): Promise<void> {
  const positions = await drawPositions(transaction, standing.length);
  const board = withBoardDefaults(definition);
  const keepUntilMs = ends_at_ms === null ? null : ends_at_ms + keptAfterEndMs(board);
  const rows: EntryRow[] = [];
  const events: EntryChanged[] = [];
  for (const [index, entry] of standing.entries()) {
    const version = positions[index]!;
    const { boardUid, windowUid, scopes } = entry;
    const playerId = playerOfKey(entry.playerId);
    rows.push({ ...entry, removed: true, state: { ...entry.state, version } });
    const named = { windowUid, ...runOfKey(entry.playerId) };
    const change = { ...named, keepUntilMs, entry: null, ...(scopes.length > 0 && { scopes }) };
    events.push({ type: 'entry-changed', boardUid, playerId, version, changes: [change] });
  }
  const keys = [rows.map(({ windowUid }) => windowUid), rows.map(({ playerId }) => playerId)];
  if (is_frozen) {
    const saved = standing.map((row) => ({ windowUid: row.windowUid, playerId: row.playerId, row }));
    await transaction.query(SAVE_FROZEN_ENTRIES, frozenParameters(saved));
  }
  // Otherwise the next hour that leaves would bring the entry back.
  if (is_rolling) await transaction.query(CLEAR_ROLLING_HOURS, keys);
  // Of several entries of a player the others stay: a wall would take all its runs.
  if (runs_from !== null && !isPerRun(board))
    await storeRuns(transaction, await ledgerNowMs(transaction), rows.map(trimOf));
  await storeEntries(transaction, lane, rows, events);
}

/** A wall among the runs, so that no void brings back what a limit removed. */
const trimOf = ({ boardUid, playerId, windowUid, state }: EntryRow): NewRun => ({
  boardUid,
  playerId,
  position: state.version,
  submissionId: '',
  owner: '',
  kind: 'trim',
  held: false,
  verified: false,
  score: null,
  columns: [],
  patch: null,
  achievedAtMs: state.achievedAtMs,
  windowUids: [windowUid],
  metadata: null,
  proof: null,
  sourceId: null,
  reason: null,
  examined: false,
});

const rowOf = (boardUid: number, windowUid: number, entry: StandingRow): EntryRow => ({
  boardUid,
  windowUid,
  playerId: entry.player_id,
  state: {
    score: entry.score,
    columns: entry.columns,
    achievedAtMs: entry.achieved_at_ms,
    metadata: entry.metadata,
    version: entry.version,
  },
  removed: false,
  unranked: entry.unranked,
  scopes: entry.scopes,
  leftScopes: entry.left_scopes,
});
