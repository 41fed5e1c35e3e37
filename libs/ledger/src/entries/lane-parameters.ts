import type { EntryChanged } from '@laddercast/domain';
import { entryPayload } from './entry-payload.js';
import { arrayLiteral, type EntryRow } from './entry-rows.js';
import { boolArray, float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';

/** `$1` to `$12` of WRITE_LANE_BATCH where nothing was submitted. */
export const withoutSubmissions = (lane: number): unknown[] => [lane, 0, ...Array.from({ length: 10 }, () => [])];

/**
 * `$13` to `$28` of WRITE_LANE_BATCH: entries and their events.
 * @param sent what is sent of a log position
 */
export const entryParameters = (
  entries: readonly EntryRow[],
  events: readonly EntryChanged[],
  sent = (position: number): number => position,
): unknown[] => [
  int4Array(entries.map((row) => row.windowUid)),
  textArray(entries.map((row) => row.playerId)),
  int4Array(entries.map((row) => row.boardUid)),
  int8Array(entries.map((row) => sent(row.state.version))),
  boolArray(entries.map((row) => row.removed)),
  float8Array(entries.map((row) => row.state.score)),
  textArray(entries.map((row) => arrayLiteral(row.state.columns))),
  int8Array(entries.map((row) => row.state.achievedAtMs)),
  textArray(entries.map((row) => row.state.metadata)),
  textArray(entries.map((row) => arrayLiteral(row.scopes))),
  textArray(entries.map((row) => arrayLiteral(row.leftScopes))),
  int8Array(events.map((event) => sent(event.version))),
  textArray(events.map((event) => event.type)),
  textArray(events.map((event) => event.playerId)),
  textArray(events.map(entryPayload)),
  boolArray(entries.map((row) => row.unranked)),
];

/** `$29` and `$30` of WRITE_LANE_BATCH_OF_RUNS. */
export const runParameters = (entries: readonly EntryRow[]): unknown[] => [
  int8Array(entries.map((row) => row.runPosition ?? 0)),
  textArray(entries.map(({ state: { patchRuns } }) => (patchRuns ? JSON.stringify(patchRuns) : null))),
];

/** An entry at its window's freeze; null: there was none. */
export interface FrozenEntry {
  windowUid: number;
  playerId: string;
  row: EntryRow | null;
}

/** Those of SAVE_FROZEN_ENTRIES. */
export const frozenParameters = (frozen: readonly FrozenEntry[]): unknown[] => [
  frozen.map(({ windowUid }) => windowUid),
  frozen.map(({ playerId }) => playerId),
  frozen.map(({ row }) => row !== null && !row.removed),
  frozen.map(({ row }) => row?.state.score ?? 0),
  frozen.map(({ row }) => arrayLiteral(row?.state.columns ?? [])),
  frozen.map(({ row }) => row?.state.achievedAtMs ?? 0),
  frozen.map(({ row }) => row?.state.metadata ?? null),
  frozen.map(({ row }) => arrayLiteral(row?.scopes ?? [])),
];
