import {
  firstRollingHour,
  hasCircles,
  HOUR_MS,
  rollingHours,
  scopeNamesOf,
  type BoardDefinition,
  type EntryChange,
  type EntryState,
  type ScopeValues,
  type WindowKind,
  type WindowState,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { keptAfterEndMs, leftScopesOf, type EntryRow } from '../entries/entry-rows.js';
import { entryParameters, frozenParameters, runPositions, withoutSubmissions } from '../entries/lane-parameters.js';
import { SAVE_FROZEN_ENTRIES, WRITE_LANE_BATCH_OF_RUNS } from '../entries/lane-sql.js';
import { nextPosition } from '../lanes/lanes.js';
import {
  KEPT_PARTS,
  MARK_HOURS,
  REFOLDED_WINDOWS,
  REWRITE_FROZEN,
  REWRITE_KEPT_PART,
  SCOPE_VALUES_OF_PLAYER,
} from './entry-refold-sql.js';
import { foldedEntries } from './run-folds.js';
import { keepBases } from './run-rows.js';

/** A board that keeps runs, as a transaction under a lane sees it. */
export interface BoardOfRuns {
  uid: number;
  definition: BoardDefinition;
  runsFrom: number;
}

/** What a player's entry in a window was before an act, and is after it. */
export interface RefoldedWindow {
  windowUid: number;
  windowId: string;
  state: WindowState;
  isFrozen: boolean;
  before: EntryState | null;
  after: EntryState | null;
  /** Whether they show something else; their versions are not compared. */
  hasChanged: boolean;
  /** Whether anything of the window may show something else: the entry, a frozen one, or what a guild keeps of the player. */
  isTouched: boolean;
}

interface WindowRow {
  windowUid: number;
  windowId: string;
  kind: WindowKind;
  state: WindowState;
  endsAtMs: number | null;
  freezeAtMs: number | null;
  version: number | null;
  removed: boolean | null;
  score: number | null;
  columns: number[] | null;
  achievedAtMs: number | null;
  metadata: string | null;
  scopes: number[] | null;
  leftScopes: number[] | null;
  /** By the sanction in force, also where there is no entry yet. */
  unranked: boolean;
  runPosition: number | null;
}

/** Folds entries anew after it has changed which runs of a player count. */
@Injectable()
export class EntryRefold {
  constructor(private readonly scopes: ScopeCatalog) {}

  /**
   * Brings the player's entries in these windows up to the runs that count now, under the player's lane, and writes one
   * event of what changed. What a frozen window shows, and what a guild keeps of the player, follow.
   * @returns every window, changed or not, and the version of the entries that changed; null: none did
   */
  async refold(
    transaction: SqlRunner,
    lane: number,
    { board, playerId, windowUids, sinceMs, nowMs }: RefoldAsked,
  ): Promise<{ version: number | null; windows: RefoldedWindow[] }> {
    const places = windowUids.map((windowUid) => ({ windowUid, playerId }));
    await keepBases(transaction, places);
    const rows = await transaction.query<WindowRow>(REFOLDED_WINDOWS, [windowUids, playerId]);
    const windows = rows.map((row) => ({ uid: row.windowUid, firstHour: firstHourOf(row, nowMs) }));
    const folded = await foldedEntries(transaction, { board, playerId, windows });
    const current = await this.currentScopes(transaction, board, playerId);
    const frozen = new Set(await this.refreeze(transaction, { board, playerId, sinceMs }, rows, nowMs));
    const kept = await this.keptParts(transaction, { board, playerId, sinceMs }, windowUids);
    const changed: ChangedWindow[] = [];
    const refolded = rows.map((row): RefoldedWindow => {
      const { windowUid, windowId, state } = row;
      const before = stateOf(row);
      const after = folded.get(windowUid)!;
      const hasChanged = !isSame(before, after);
      // The totals of guilds follow the event of an entry, also of one that is as it was.
      const isKept = kept.has(windowUid) && (row.version !== null || after !== null);
      if (hasChanged || isKept || !restsOnSame(board, row, after)) {
        changed.push({ row, after, entry: entryOf(board, playerId, row, { after, current, nowMs }) });
      }
      const isTouched = hasChanged || isKept || frozen.has(windowUid);
      return { windowUid, windowId, state, isFrozen: isFrozen(row, nowMs), before, after, hasChanged, isTouched };
    });
    const ofHours = rows.filter(({ kind }) => kind === 'rolling').map(({ windowUid }) => windowUid);
    if (ofHours.length > 0) await transaction.query(MARK_HOURS, [board.uid, playerId, ofHours, lane, HOUR_MS]);
    const version =
      changed.length === 0 ? null : await this.write(transaction, lane, { board, playerId }, changed, kept);
    return { version, windows: refolded };
  }

  private async write(
    transaction: SqlRunner,
    lane: number,
    { board, playerId }: Pick<RefoldAsked, 'board' | 'playerId'>,
    changed: readonly ChangedWindow[],
    kept: ReadonlyMap<number, number[]>,
  ): Promise<number> {
    const version = await nextPosition(transaction);
    const changes = changed.map(({ row, entry, after }): EntryChange => {
      const left = [
        ...leftScopesOf(knownOf(board, playerId, row), entry.scopes).left,
        ...(kept.get(row.windowUid) ?? []),
      ];
      const shown = row.unranked ? null : after;
      return {
        windowUid: row.windowUid,
        keepUntilMs: row.endsAtMs === null ? null : row.endsAtMs + keptAfterEndMs(board.definition),
        entry: shown && { score: shown.score, columns: shown.columns, achievedAtMs: shown.achievedAtMs },
        ...(entry.scopes.length > 0 && { scopes: entry.scopes }),
        ...(left.length > 0 && { leftScopes: left }),
      };
    });
    const entries = changed.map(({ entry }) => ({ ...entry, state: { ...entry.state, version } }));
    const event = { type: 'entry-changed' as const, boardUid: board.uid, playerId, version, changes };
    const parameters = [...withoutSubmissions(lane), ...entryParameters(entries, [event]), runPositions(entries)];
    await transaction.query(WRITE_LANE_BATCH_OF_RUNS, parameters);
    return version;
  }

  /**
   * A frozen window shows the fold of what was accepted before its freeze, whatever the entry came to later.
   * @returns those in which that may be another one now
   */
  private async refreeze(
    transaction: SqlRunner,
    since: PlayerSince,
    rows: readonly WindowRow[],
    nowMs: number,
  ): Promise<number[]> {
    const { board, playerId, sinceMs } = since;
    const frozen = rows.filter((row) => isFrozen(row, nowMs));
    if (frozen.length === 0) return [];
    const saved = frozen.map((row) => ({ windowUid: row.windowUid, playerId, row: knownOf(board, playerId, row) }));
    await transaction.query(SAVE_FROZEN_ENTRIES, frozenParameters(saved));
    const touched = frozen.filter(({ freezeAtMs }) => sinceMs < freezeAtMs!);
    for (const { windowUid, freezeAtMs } of touched) {
      const state = await foldedBefore(transaction, since, windowUid, freezeAtMs!);
      await transaction.query(REWRITE_FROZEN, [
        windowUid,
        playerId,
        state !== null,
        state?.score ?? 0,
        state?.columns ?? [],
        state?.achievedAtMs ?? 0,
        state?.metadata ?? null,
        restsOnOf(board, state),
      ]);
    }
    return touched.map(({ windowUid }) => windowUid);
  }

  /**
   * What guilds keep of a leaver is the fold of what was accepted before it left, whatever the entry came to later.
   * @returns by window the scopes of the guilds of which that is another one now, whose totals are to follow
   */
  private async keptParts(
    transaction: SqlRunner,
    since: PlayerSince,
    windowUids: readonly number[],
  ): Promise<Map<number, number[]>> {
    const { board, playerId, sinceMs } = since;
    const scopes = new Map<number, number[]>();
    if (board.definition.guildAggregate.onLeave !== 'keep') return scopes;
    const parts = await transaction.query<{ windowUid: number; guildId: string; leftAtMs: number }>(KEPT_PARTS, [
      windowUids,
      playerId,
    ]);
    for (const { windowUid, guildId, leftAtMs } of parts.filter((part) => sinceMs < part.leftAtMs)) {
      const state = await foldedBefore(transaction, since, windowUid, leftAtMs);
      const key = [windowUid, guildId, playerId];
      const [rewritten] = await transaction.query(REWRITE_KEPT_PART, [
        ...key,
        state !== null,
        state?.score ?? 0,
        state?.achievedAtMs ?? 0,
      ]);
      if (rewritten === undefined) continue;
      const [scope] = await this.scopes.ensure([`guild:${guildId}`]);
      scopes.set(windowUid, [...(scopes.get(windowUid) ?? []), scope!]);
    }
    return scopes;
  }

  private async currentScopes(
    transaction: SqlRunner,
    { definition }: BoardOfRuns,
    playerId: string,
  ): Promise<number[]> {
    if (!hasCircles(definition.scopes)) return [];
    const [row] = await transaction.query<{ values: ScopeValues }>(SCOPE_VALUES_OF_PLAYER, [playerId]);
    return this.scopes.ensure(scopeNamesOf(definition.scopes, row!.values));
  }
}

/** What is folded anew. */
export interface RefoldAsked {
  board: BoardOfRuns;
  playerId: string;
  windowUids: readonly number[];
  /**
   * When the first of the runs was accepted that count now and did not, or the other way round, Unix ms. What stood before
   * stays: it may be known no more, since a base may hold runs that came after it.
   */
  sinceMs: number;
  /** The ledger's time, Unix ms. */
  nowMs: number;
}

type PlayerSince = Pick<RefoldAsked, 'board' | 'playerId' | 'sinceMs'>;

/** An entry that is written anew. */
interface ChangedWindow {
  row: WindowRow;
  entry: EntryRow;
  after: EntryState | null;
}

/** What the player's entry in a window came to at a moment; of a window that does not roll. */
async function foldedBefore(
  transaction: SqlRunner,
  { board, playerId }: PlayerSince,
  windowUid: number,
  acceptedBeforeMs: number,
): Promise<EntryState | null> {
  const windows = [{ uid: windowUid, firstHour: null }];
  const folded = await foldedEntries(transaction, { board, playerId, windows, acceptedBeforeMs });
  return folded.get(windowUid)!;
}

/** An ended window keeps the scopes that the entry had, also once it is back; a tombstone goes to those of the entry. */
function entryOf(
  board: BoardOfRuns,
  playerId: string,
  row: WindowRow,
  { after, current, nowMs }: { after: EntryState | null; current: number[]; nowMs: number },
): EntryRow {
  const known = knownOf(board, playerId, row);
  const hasEnded = row.endsAtMs !== null && nowMs >= row.endsAtMs;
  const scopes = known !== null && (after === null || hasEnded) ? known.scopes : current;
  const { everLeft } = leftScopesOf(known, scopes);
  const restsOn = restsOnOf(board, after);
  return {
    boardUid: board.uid,
    windowUid: row.windowUid,
    playerId,
    state: after ?? known!.state,
    removed: after === null,
    unranked: row.unranked,
    scopes,
    leftScopes: everLeft,
    ...(restsOn > 0 && { runPosition: restsOn }),
  };
}

function knownOf({ uid }: BoardOfRuns, playerId: string, row: WindowRow): EntryRow | null {
  if (row.version === null) return null;
  return {
    boardUid: uid,
    windowUid: row.windowUid,
    playerId,
    state: anyStateOf(row),
    removed: row.removed!,
    unranked: row.unranked,
    scopes: row.scopes!,
    leftScopes: row.leftScopes!,
  };
}

/** The position of the run that a folded entry rests on; 0: on none that is kept. */
const restsOnOf = ({ definition }: BoardOfRuns, folded: EntryState | null): number =>
  definition.operator === 'sum' ? 0 : (folded?.version ?? 0);

/** Whether the entry rests on the run that it is stored with: of two equal runs one may have been taken out. */
function restsOnSame(board: BoardOfRuns, { runPosition }: WindowRow, after: EntryState | null): boolean {
  const stored = runPosition !== null && runPosition >= board.runsFrom ? runPosition : 0;
  return after === null || stored === restsOnOf(board, after);
}

const anyStateOf = (row: WindowRow): EntryState => ({
  score: row.score!,
  columns: row.columns!,
  achievedAtMs: row.achievedAtMs!,
  metadata: row.metadata,
  version: row.version!,
});

const stateOf = (row: WindowRow): EntryState | null => (row.version === null || row.removed ? null : anyStateOf(row));

const isFrozen = ({ freezeAtMs, endsAtMs }: WindowRow, nowMs: number): boolean =>
  freezeAtMs !== null && nowMs >= freezeAtMs && nowMs < endsAtMs!;

const firstHourOf = ({ kind, windowId }: WindowRow, nowMs: number): number | null =>
  kind === 'rolling' ? firstRollingHour(rollingHours(windowId), nowMs) : null;

/** Whether they show the same; versions apart. */
function isSame(a: EntryState | null, b: EntryState | null): boolean {
  if (a === null || b === null) return a === b;
  const isSameNumbers = a.columns.every((value, index) => value === b.columns[index]);
  return a.score === b.score && a.achievedAtMs === b.achievedAtMs && a.metadata === b.metadata && isSameNumbers;
}
