import {
  firstRollingHour,
  rollingHours,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChanged,
  type EntryState,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { arrayLiteral } from '../entries/entry-rows.js';
import { moveHead } from '../lanes/lane-heads.js';
import { drawPositions } from '../lanes/lane-events.js';
import { textArray } from '../database/postgres-arrays.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew, type Place } from '../lanes/lanes.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { foldedEntries } from '../runs/run-folds.js';
import { entryOfHours } from '../entries/rolling-hours.js';
import {
  DELETE_LEFT_ATTEMPTS,
  DELETE_LEFT_HOURS,
  FED_PLAYERS_OF_WINDOW,
  PLAYERS_WITH_LEFT_HOURS,
  READ_ROLLING_PLAYERS,
  TAKE_OVER_FED,
  WINDOWS_LEFT_BY_FEEDS,
  WINDOWS_WITH_LEFT_HOURS,
  WRITE_ROLLING_ENTRIES,
} from '../entries/rolling-sql.js';
import { tryEach } from '../database/try-each.js';

/** The most players of one transaction, and about the most hours that it reads of them. */
const PLAYERS_AT_ONCE = 500;
const HOURS_AT_ONCE = 20_000;
/** The same where runs are folded, player by player. */
const FOLDED_AT_ONCE = 100;
/** How many rows of counted runs one statement deletes. */
const ATTEMPTS_AT_ONCE = 5000;

interface RollingWindow {
  window_uid: number;
  window_id: string;
  board_uid: number;
  definition: BoardDefinition;
  /** null: its board keeps no runs. */
  runs_from: number | null;
}

interface PlayerRow {
  player_id: string;
  version: number;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  scopes: number[];
  unranked: boolean;
  hours: { score: number; columns: number[]; achievedAtMs: number; metadata: string | null }[] | null;
}

/** An entry with its score from the remaining hours; null: none remain. */
interface RecomputedEntry {
  row: PlayerRow;
  state: EntryState | null;
}

/**
 * Takes the hours that have left rolling windows out of their entries: recomputed from the hours that remain, and
 * committed as ordinary events, under the lanes that runs are counted in.
 */
@Injectable()
export class RollingExpirer {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Brings every rolling window up to the present hour; returns how many entries changed. A run that was placed before an
   * hour left, and is committed after this looked, is found by the next look.
   * @throws AggregateError of what failed; it holds up no other window
   */
  async run(signal: AbortSignal): Promise<number> {
    try {
      return await this.bringAllUp(signal);
    } finally {
      await this.takeOverFed(signal);
    }
  }

  private async bringAllUp(signal: AbortSignal): Promise<number> {
    let changed = 0;
    const windows = await this.database.query<RollingWindow>(WINDOWS_WITH_LEFT_HOURS);
    await tryEach(windows, signal, async (window) => {
      const hours = rollingHours(window.window_id);
      const firstHour = firstRollingHour(hours, await ledgerNowMs(this.database));
      const most = window.runs_from === null ? PLAYERS_AT_ONCE : FOLDED_AT_ONCE;
      const atOnce = Math.min(most, Math.ceil(HOURS_AT_ONCE / hours));
      // Rows say the lane that they were written in: one that was there for long has players who left it for others.
      let lanes = [...this.lanes.all];
      // The lanes in turn, so that an index scan from the oldest hour has nothing to skip.
      while (lanes.length > 0 && !signal.aborted) {
        const unfinished: number[] = [];
        for (const lane of lanes) {
          const done = await this.bringUpChunk(window, { lane, firstHour, atOnce });
          if (done === null) continue;
          changed += done;
          unfinished.push(lane);
        }
        lanes = unfinished;
      }
      await this.deleteLeftAttempts(window.window_uid, firstHour, signal);
    });
    return changed;
  }

  /**
   * Gives entries that a pool fed, and does not any more, the hour of their last game: they leave with it.
   * @throws AggregateError of what failed
   */
  private async takeOverFed(signal: AbortSignal): Promise<void> {
    const windows = await this.database.query<{ uid: number }>(WINDOWS_LEFT_BY_FEEDS);
    await tryEach(windows, signal, async ({ uid }) => {
      for (let taken = PLAYERS_AT_ONCE; taken === PLAYERS_AT_ONCE && !signal.aborted;) {
        const fed = await this.database.query<{ playerId: string }>(FED_PLAYERS_OF_WINDOW, [uid, PLAYERS_AT_ONCE]);
        taken = fed.length;
        const playerIds = fed.map(({ playerId }) => playerId);
        await placedAnew(this.database, this.lanes, async () => {
          for (const { place, things } of this.lanes.sorted(playerIds, (playerId) => playerId)) {
            await this.database.transaction(async (transaction) => {
              await takeLane(transaction, place);
              await transaction.query(TAKE_OVER_FED, [uid, textArray(things), place.lane]);
            });
          }
        });
      }
    });
  }

  private async deleteLeftAttempts(windowUid: number, firstHour: number, signal: AbortSignal): Promise<void> {
    let deleted = ATTEMPTS_AT_ONCE;
    while (deleted === ATTEMPTS_AT_ONCE && !signal.aborted) {
      const rows = await this.database.query(DELETE_LEFT_ATTEMPTS, [windowUid, firstHour, ATTEMPTS_AT_ONCE]);
      deleted = rows.length;
    }
  }

  /** @returns how many entries changed; null when the lane has nothing left to do */
  private async bringUpChunk(
    window: RollingWindow,
    { lane, firstHour, atOnce }: { lane: number; firstHour: number; atOnce: number },
  ): Promise<number | null> {
    const left = await this.database.query<{ player_id: string }>(PLAYERS_WITH_LEFT_HOURS, [
      window.window_uid,
      firstHour,
      lane,
      atOnce,
    ]);
    const playerIds = [...new Set(left.map(({ player_id }) => player_id))];
    if (playerIds.length === 0) return null;
    let changed = 0;
    await placedAnew(this.database, this.lanes, async () => {
      for (const { place, things } of this.lanes.sorted(playerIds, (playerId) => playerId)) {
        changed += await this.bringUp(window, { place, firstHour, playerIds: things });
      }
    });
    return changed;
  }

  private async bringUp(
    window: RollingWindow,
    { place, firstHour, playerIds }: { place: Place; firstHour: number; playerIds: string[] },
  ): Promise<number> {
    const { lane } = place;
    const changed = await this.database.transaction(async (transaction) => {
      await takeLane(transaction, place);
      return recompute(transaction, window, { lane, firstHour, playerIds });
    });
    if (changed > 0) this.notifier.wake(lane);
    return changed;
  }
}

async function recompute(
  transaction: SqlRunner,
  window: RollingWindow,
  { lane, firstHour, playerIds }: { lane: number; firstHour: number; playerIds: string[] },
): Promise<number> {
  const uid = window.window_uid;
  const definition = withBoardDefaults(window.definition);
  const rows = await transaction.query<PlayerRow>(READ_ROLLING_PLAYERS, [uid, playerIds, firstHour]);
  await transaction.query(DELETE_LEFT_HOURS, [uid, playerIds, firstHour]);
  const all: RecomputedEntry[] = [];
  for (const row of rows) {
    const isOfRuns = window.runs_from !== null;
    all.push(isOfRuns ? await refolded(transaction, window, row, firstHour) : recomputed(definition, row));
  }
  const changed = all.filter(({ row, state }) => differs(row, state));
  if (changed.length === 0) return 0;
  const positions = await drawPositions(transaction, changed.length);
  const stateOf = ({ row, state }: RecomputedEntry): Omit<EntryState, 'version'> & { version?: number } =>
    state ?? { score: row.score, columns: row.columns, achievedAtMs: row.achieved_at_ms, metadata: row.metadata };
  const states = changed.map(stateOf);
  await moveHead(transaction, lane);
  await transaction.query(WRITE_ROLLING_ENTRIES, [
    uid,
    lane,
    changed.map(({ row }) => row.player_id),
    positions,
    changed.map(({ state }) => state === null),
    states.map((state) => state.score),
    states.map((state) => arrayLiteral(state.columns)),
    states.map((state) => state.achievedAtMs),
    states.map((state) => state.metadata),
    changed.map((entry, index) => JSON.stringify(eventOf(window, entry, positions[index]!))),
    window.board_uid,
    states.map((state) =>
      definition.operator === 'sum' || window.runs_from === null ? null : (state.version ?? null),
    ),
  ]);
  return changed.length;
}

/** Where runs are kept, an entry is what those of them make that are still in the window, in their order. */
async function refolded(
  transaction: SqlRunner,
  { board_uid: uid, window_uid, definition, runs_from }: RollingWindow,
  row: PlayerRow,
  firstHour: number,
): Promise<RecomputedEntry> {
  const board = { uid, definition: withBoardDefaults(definition), runsFrom: runs_from! };
  const windows = [{ uid: window_uid, firstHour }];
  const entries = await foldedEntries(transaction, { board, playerId: row.player_id, windows });
  return { row, state: entries.get(window_uid)! };
}

function recomputed(definition: BoardDefinition, row: PlayerRow): RecomputedEntry {
  const hours = (row.hours ?? []).map((hour) => ({ ...hour, version: 0 }));
  if (hours.length === 0) return { row, state: null };
  const state = entryOfHours(definition, hours, 0);
  // Without the negative hour that left, a sum of huge ones may leave the doubles; an entry has to have a score.
  const score = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, state.score));
  return { row, state: { ...state, score } };
}

const differs = (row: PlayerRow, state: EntryState | null): boolean =>
  state === null ||
  state.score !== row.score ||
  state.achievedAtMs !== row.achieved_at_ms ||
  state.metadata !== row.metadata ||
  state.columns.some((value, index) => value !== row.columns[index]);

function eventOf(window: RollingWindow, { row, state }: RecomputedEntry, version: number): EntryChanged {
  const shown = row.unranked ? null : state;
  const entry = shown && { score: shown.score, columns: shown.columns, achievedAtMs: shown.achievedAtMs };
  const scopes = row.scopes.length > 0 ? { scopes: row.scopes } : {};
  return {
    type: 'entry-changed',
    boardUid: window.board_uid,
    playerId: row.player_id,
    version,
    changes: [{ windowUid: window.window_uid, keepUntilMs: null, entry, ...scopes }],
  };
}
