import type { WindowKind } from './window.js';

export type SortOrder = 'asc' | 'desc';
export type Operator = 'best' | 'latest' | 'sum';
export type Tiebreak = 'earliest' | 'latest' | 'none';
export type RankStyle = 'ordinal' | 'competition';

export interface SortColumn {
  name: string;
  order: SortOrder;
}

/** What decides the order of a board's entries; it never changes for one `boardUid`. */
export interface BoardOrdering {
  order: SortOrder;
  operator: Operator;
  tiebreak: Tiebreak;
  columns: SortColumn[];
}

/** A board as its operator defined it, with every default filled in. Times are in the unit of their names. */
export interface BoardDefinition extends BoardOrdering {
  title: string | null;
  rankStyle: RankStyle;
  windows: WindowKind[];
  timeZone: 'UTC';
  scopes: ['global'];
  sharding: { by: 'hash'; count: number };
  limits: { scoreMin: number | null; scoreMax: number | null };
  graceSeconds: number;
  keepEndedSeconds: number;
  push: { intervalMs: number; top: number };
  format: { kind: 'number' | 'time' | 'currency'; decimals: number; unit: string | null };
  submitters: 'servers' | 'players';
  clientTime: boolean;
  visibility: 'public' | 'private';
}

/** A board that exists: `uid` is drawn anew at each creation and reset, `revision` grows with every change. */
export interface Board {
  uid: number;
  id: string;
  revision: number;
  definition: BoardDefinition;
}

export const COLUMNS_MAX = 4;
export const SHARDS_MAX = 64;
/** The most rows that a board's live snapshot holds, and the longest top channel. */
export const PUSH_TOP_MAX = 100;

/** A definition with all defaults; `order` and `operator` are the only fields without one. */
export function withBoardDefaults(
  given: Pick<BoardDefinition, 'order' | 'operator'> & {
    [Field in keyof BoardDefinition]?: BoardDefinition[Field] extends unknown[] | string | number | boolean | null
      ? BoardDefinition[Field]
      : Partial<BoardDefinition[Field]>;
  },
): BoardDefinition {
  return {
    title: given.title ?? null,
    order: given.order,
    operator: given.operator,
    tiebreak: given.tiebreak ?? 'earliest',
    columns: given.columns ?? [],
    rankStyle: given.rankStyle ?? 'ordinal',
    windows: given.windows ?? ['alltime'],
    timeZone: given.timeZone ?? 'UTC',
    scopes: given.scopes ?? ['global'],
    sharding: { by: 'hash', count: 1, ...given.sharding },
    limits: { scoreMin: null, scoreMax: null, ...given.limits },
    graceSeconds: given.graceSeconds ?? 300,
    keepEndedSeconds: given.keepEndedSeconds ?? 90_000,
    push: { intervalMs: 1000, top: 100, ...given.push },
    format: { kind: 'number', decimals: 0, unit: null, ...given.format },
    submitters: given.submitters ?? 'servers',
    clientTime: given.clientTime ?? false,
    visibility: given.visibility ?? 'public',
  };
}
