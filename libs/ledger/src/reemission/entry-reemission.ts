import {
  isPatchScope,
  playerOfKey,
  runOfKey,
  scopeNamesOf,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChange,
  type EntryChanged,
  type KeptPatchRun,
  type ScopeValues,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { keptAfterEndMs, leftScopesOf, runsOfEvent, type EntryRow } from '../entries/entry-rows.js';
import { RUNNING_ENTRIES_OF_PLAYER, RUNNING_ENTRIES_OF_WINDOW } from './entry-reemission-sql.js';
import { entryParameters, frozenParameters, withoutSubmissions } from '../entries/lane-parameters.js';
import { SAVE_FROZEN_ENTRIES, WRITE_LANE_BATCH } from '../entries/lane-sql.js';
import { moveHead } from '../lanes/lane-heads.js';
import { drawPositions } from '../lanes/lane-events.js';
import { keepBases } from '../runs/run-rows.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';

/** An entry of a window that has not ended, with what decides its scopes as it is now. */
export interface RunningEntry {
  row: EntryRow;
  definition: BoardDefinition;
  values: ScopeValues;
  isRolling: boolean;
  isFrozen: boolean;
  endsAtMs: number | null;
}

interface RunningEntryRow {
  board_uid: number;
  definition: BoardDefinition;
  window_uid: number;
  is_rolling: boolean;
  is_frozen: boolean;
  ends_at_ms: number | null;
  player_id: string;
  removed: boolean;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  metadata: string | null;
  version: number;
  scopes: number[];
  left_scopes: number[];
  unranked: boolean;
  patch_runs: KeptPatchRun[] | null;
  values: ScopeValues;
}

/** Writes entries anew whose player, or board, now has other scopes: the same entry, in other lists. */
@Injectable()
export class EntryReemission {
  constructor(private readonly scopes: ScopeCatalog) {}

  /**
   * The player's entries in the windows, of every live board with circles, that have not ended; removed ones too.
   * To be read under the player's lane, after what decides the scopes was written.
   */
  async runningOfPlayer(transaction: SqlRunner, playerId: string, nowMs: number): Promise<RunningEntry[]> {
    return (await transaction.query<RunningEntryRow>(RUNNING_ENTRIES_OF_PLAYER, [nowMs, playerId])).map(runningEntry);
  }

  /** The entries of these players, or keys, in one window; none when it has ended. */
  async runningOfWindow(
    sql: SqlRunner,
    windowUid: number,
    keys: readonly string[],
    nowMs: number,
  ): Promise<RunningEntry[]> {
    const parameters = [nowMs, windowUid, keys, keys.map(playerOfKey)];
    return (await sql.query<RunningEntryRow>(RUNNING_ENTRIES_OF_WINDOW, parameters)).map(runningEntry);
  }

  /**
   * Those that are not ranked in the scopes that they should be. Where the entry was removed, its scopes matter only if runs
   * may bring it back: once its window has ended, or where a guild keeps a part of it.
   */
  async differing(entries: readonly RunningEntry[]): Promise<RunningEntry[]> {
    const scopesOf = await this.scopesOf(entries);
    return entries.filter((entry) => {
      const { row, definition } = entry;
      return (!row.removed || definition.runs !== null) && !isSame(row.scopes, scopesOf(entry));
    });
  }

  /**
   * Gives the entries their scopes under a new version, with one event for each board and player, in a lane that the
   * transaction holds. What a frozen window shows is saved before.
   */
  async write(transaction: SqlRunner, lane: number, entries: readonly RunningEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const scopesOf = await this.scopesOf(entries);
    const groups = new Map<string, RunningEntry[]>();
    for (const entry of entries) {
      const key = `${entry.row.boardUid}/${playerOfKey(entry.row.playerId)}`;
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    }
    const positions = await drawPositions(transaction, groups.size);
    const rows: EntryRow[] = [];
    const events: EntryChanged[] = [];
    for (const [index, group] of [...groups.values()].entries()) {
      const version = positions[index]!;
      const { boardUid } = group[0]!.row;
      const playerId = playerOfKey(group[0]!.row.playerId);
      const changes = group.map((entry) => {
        const scopes = scopesOf(entry);
        const { left, everLeft } = leftScopesOf(entry.row, scopes);
        rows.push({ ...entry.row, state: { ...entry.row.state, version }, scopes, leftScopes: everLeft });
        return changeOf(entry, scopes, left);
      });
      events.push({ type: 'entry-changed', boardUid, playerId, version, changes });
    }
    await saveFrozen(transaction, entries);
    await storeEntries(transaction, lane, rows, events);
  }

  private async scopesOf(entries: readonly RunningEntry[]): Promise<(entry: RunningEntry) => number[]> {
    const namesOf = ({ definition, values }: RunningEntry): string[] => scopeNamesOf(definition.scopes, values);
    const names = [...new Set(entries.flatMap(namesOf))];
    const uids = await this.scopes.ensure(names);
    const uidOf = new Map(names.map((name, index) => [name, uids[index]!]));
    // An entry stays in the lists of its patches.
    return (entry) => [...namesOf(entry).map((name) => uidOf.get(name)!), ...entry.row.scopes.filter(isPatchScope)];
  }
}

function changeOf({ row, definition, endsAtMs }: RunningEntry, scopes: number[], left: number[]): EntryChange {
  const { score, columns, achievedAtMs } = row.state;
  return {
    windowUid: row.windowUid,
    ...runOfKey(row.playerId),
    keepUntilMs: endsAtMs === null ? null : endsAtMs + keptAfterEndMs(definition),
    entry: row.removed || row.unranked ? null : { score, columns, achievedAtMs },
    ...(scopes.length > 0 && { scopes }),
    ...(left.length > 0 && { leftScopes: left }),
    ...runsOfEvent(row.state.patchRuns, !row.removed && !row.unranked),
  };
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((scope) => b.includes(scope));

function runningEntry(row: RunningEntryRow): RunningEntry {
  const state = {
    score: row.score,
    columns: row.columns,
    achievedAtMs: row.achieved_at_ms,
    metadata: row.metadata,
    version: row.version,
    ...(row.patch_runs && { patchRuns: row.patch_runs }),
  };
  return {
    row: {
      boardUid: row.board_uid,
      windowUid: row.window_uid,
      playerId: row.player_id,
      state,
      removed: row.removed,
      unranked: row.unranked,
      scopes: row.scopes,
      leftScopes: row.left_scopes,
    },
    definition: withBoardDefaults(row.definition),
    values: row.values,
    isRolling: row.is_rolling,
    isFrozen: row.is_frozen,
    endsAtMs: row.ends_at_ms,
  };
}

async function saveFrozen(transaction: SqlRunner, entries: readonly RunningEntry[]): Promise<void> {
  const frozen = entries.filter(({ isFrozen }) => isFrozen).map(({ row }) => row);
  if (frozen.length === 0) return;
  const saved = frozen.map((row) => ({ windowUid: row.windowUid, playerId: row.playerId, row }));
  await transaction.query(SAVE_FROZEN_ENTRIES, frozenParameters(saved));
}

/** Stores entries and their events as a batch of submissions does, without any; what they rest on stays as it is. */
export async function storeEntries(
  transaction: SqlRunner,
  lane: number,
  entries: readonly EntryRow[],
  events: readonly EntryChanged[],
): Promise<void> {
  await keepBases(transaction, entries);
  await moveHead(transaction, lane);
  await transaction.query(WRITE_LANE_BATCH, [...withoutSubmissions(lane), ...entryParameters(entries, events)]);
}
