import { rankedRun, type EntryState, type KeptPatchRun, type PatchRun } from '@laddercast/domain';

/** A row of `entries`; a removed entry keeps its version. */
export interface EntryRow {
  boardUid: number;
  windowUid: number;
  playerId: string;
  state: EntryState;
  removed: boolean;
  /** Whether it is ranked for nobody, because its player is banned or shadowed: events say that it is not there. */
  unranked: boolean;
  /** The scopes that rank it, beside that of everybody. */
  scopes: number[];
  /** Every scope that ranked it once and does not now. */
  leftScopes: number[];
  /** The log position of the run that it rests on; absent: none that is kept. */
  runPosition?: number;
}

/** What a row of `entries`, or of `guild_totals`, says of where it is ranked; guilds have neither columns nor scopes. */
export interface RankedRow {
  removed: boolean;
  score: number;
  columns: number[];
  achievedAtMs: number;
  scopes: number[];
  leftScopes: number[];
  /** On boards with decay; null or absent on others. */
  patchRuns?: readonly KeptPatchRun[] | null;
}

/** The runs of an entry as an event carries them; nothing on boards without decay, and where it is removed. */
export const runsOfEvent = (
  runs: readonly KeptPatchRun[] | null | undefined,
  isShown: boolean,
): { runs?: PatchRun[] } => (runs && isShown ? { runs: runs.map(rankedRun) } : {});

/** The most left scopes that an entry remembers; beyond, the oldest are forgotten. */
const LEFT_SCOPES_MAX = 256;

/** The scopes that an entry leaves when it is ranked in `scopes`, and all that it ever left. */
export function leftScopesOf(
  before: Pick<EntryRow, 'scopes' | 'leftScopes'> | null,
  scopes: readonly number[],
): { left: number[]; everLeft: number[] } {
  if (before === null) return { left: [], everLeft: [] };
  const left = before.scopes.filter((scope) => !scopes.includes(scope));
  const everLeft = [...before.leftScopes.filter((scope) => !scopes.includes(scope) && !left.includes(scope)), ...left];
  return { left, everLeft: everLeft.slice(-LEFT_SCOPES_MAX) };
}

/** As {@link keptAfterEndMs} of the board `b`, in SQL. */
export const KEPT_AFTER_END_MS = `1000 * greatest(coalesce((b.definition ->> 'graceSeconds')::float8, 300),
  coalesce((b.definition ->> 'keepEndedSeconds')::float8, 90000))`;

/** An ended window stays in the projection at least as long as runs may still enter it. */
export function keptAfterEndMs(definition: { graceSeconds: number; keepEndedSeconds: number }): number {
  return 1000 * Math.max(definition.graceSeconds, definition.keepEndedSeconds);
}

/** Numbers as PostgreSQL writes an array, for arrays of arrays whose lengths differ. */
export const arrayLiteral = (numbers: readonly number[]): string => `{${numbers.join(',')}}`;
