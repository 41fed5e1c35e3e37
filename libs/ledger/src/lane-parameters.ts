import type { EntryChanged } from '@laddercast/domain';
import { arrayLiteral, type EntryRow } from './entry-rows.js';

/** `$13` to `$27` of WRITE_LANE_BATCH: entries and the events that say what became of them. */
export const entryParameters = (entries: readonly EntryRow[], events: readonly EntryChanged[]): unknown[] => [
  entries.map((row) => row.windowUid),
  entries.map((row) => row.playerId),
  entries.map((row) => row.boardUid),
  entries.map((row) => row.state.version),
  entries.map((row) => row.removed),
  entries.map((row) => row.state.score),
  entries.map((row) => arrayLiteral(row.state.columns)),
  entries.map((row) => row.state.achievedAtMs),
  entries.map((row) => row.state.metadata),
  entries.map((row) => arrayLiteral(row.scopes)),
  entries.map((row) => arrayLiteral(row.leftScopes)),
  events.map((event) => event.version),
  events.map((event) => event.type),
  events.map((event) => event.playerId),
  events.map((event) => JSON.stringify(event)),
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
