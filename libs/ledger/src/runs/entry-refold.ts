import {
  hasCircles,
  HOUR_MS,
  runOfKey,
  scopeNamesOf,
  sortedStanding,
  type BoardDefinition,
  type EntryChange,
  type EntryState,
  type ScopeValues,
  type WindowState,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { keptAfterEndMs, leftScopesOf, runsOfEvent, type EntryRow } from '../entries/entry-rows.js';
import { entryParameters, runParameters, withoutSubmissions } from '../entries/lane-parameters.js';
import { RENEW_ENTRIES, WRITE_LANE_BATCH_OF_RUNS } from '../entries/lane-sql.js';
import { moveHead } from '../lanes/lane-heads.js';
import { nextPosition } from '../lanes/lane-events.js';
import { KEPT_PARTS, MARK_HOURS, REWRITE_KEPT_PART, SCOPE_VALUES_OF_PLAYER } from './entry-refold-sql.js';
import type { BoardOfRuns } from './board-of-runs.js';
import { refreeze } from './frozen-refold.js';
import {
  entryOf,
  isFrozen,
  isSame,
  knownOf,
  refoldedRows,
  restsOnSame,
  stateOf,
  type ChangedRow,
  type RefoldedRow,
  type RowsAsked,
} from './refolded-rows.js';
import { foldedEntries } from './run-folds.js';
import { keepBases, type EntryPlace } from './run-rows.js';
import { standsElse } from './taxed-refold.js';

/**
 * What a player's entry in a window was before an act, and is after it. Where each run is an entry: the one that went, and the
 * one that came; of several the best.
 */
export interface RefoldedWindow {
  windowUid: number;
  windowId: string;
  state: WindowState;
  isFrozen: boolean;
  before: EntryState | null;
  after: EntryState | null;
  /** Whether they show something else; their versions are not compared. */
  hasChanged: boolean;
  /** Whether standings of the window may show something else. */
  isTouched: boolean;
}

/** Folds entries anew after it has changed which runs of a player count. */
@Injectable()
export class EntryRefold {
  constructor(private readonly scopes: ScopeCatalog) {}

  /**
   * Brings the player's entries in these windows up to the runs that count now, under the player's lane, and writes one
   * event of what changed. What a frozen window shows, and what a guild keeps of the player, follow.
   * @returns every window, changed or not, the version of the entries that changed (null: none did), and which rows of
   * standings may differ
   */
  async refold(
    transaction: SqlRunner,
    lane: number,
    asked: RefoldAsked,
  ): Promise<{ version: number | null; windows: RefoldedWindow[]; touched: EntryPlace[] }> {
    const { board, playerId, windowUids, nowMs } = asked;
    const places = windowUids.map((windowUid) => ({ windowUid, playerId }));
    await keepBases(transaction, places);
    const rows = await refoldedRows(transaction, asked);
    const current = await this.currentScopes(transaction, board, playerId);
    const kept = await this.keptParts(transaction, asked, windowUids);
    // The totals of guilds follow the event of an entry, also of one that is as it was.
    const isKept = ({ row, after }: RefoldedRow): boolean =>
      kept.has(row.windowUid) && (row.version !== null || after !== null);
    const changed = rows
      .filter((one) => differs(one) || isKept(one) || !restsOnSame(board, one.row, one.after))
      .map((one): ChangedRow => ({ ...one, entry: entryOf(board, one.key, one.row, { ...one, current, nowMs }) }));
    const ofHours = rows.filter(({ row }) => row.kind === 'rolling').map(({ row }) => row.windowUid);
    if (ofHours.length > 0) await transaction.query(MARK_HOURS, [board.uid, playerId, ofHours, lane, HOUR_MS]);
    const refrozen = await refreeze(transaction, { ...asked, current }, rows, changed);
    const version = await this.write(transaction, lane, asked, { changed, kept, missing: refrozen.missing });
    await renew(transaction, asked, rows);
    const standing = ({ row, after }: RefoldedRow): boolean => standsElse(board, row, stateOf(row), after);
    const differing = changed.filter((one) => (differs(one) && standing(one)) || isKept(one));
    const touched = differing.map(({ row, key }) => ({ windowUid: row.windowUid, playerId: key }));
    touched.push(...refrozen.touched);
    const windows = windowUids.flatMap((uid) => refoldedWindow(asked, uid, rows, touched) ?? []);
    return { version, windows, touched };
  }

  /** @returns every window as it stands, which stays so */
  async standing(transaction: SqlRunner, asked: RowsAsked): Promise<RefoldedWindow[]> {
    const rows = (await refoldedRows(transaction, asked)).map((one) => ({ ...one, after: stateOf(one.row) }));
    return asked.windowUids.flatMap((uid) => refoldedWindow(asked, uid, rows, []) ?? []);
  }

  private async write(
    transaction: SqlRunner,
    lane: number,
    { board, playerId }: RefoldAsked,
    { changed, kept, missing }: RefoldWrites,
  ): Promise<number | null> {
    if (changed.length === 0 && missing.length === 0) return null;
    const version = await nextPosition(transaction);
    const changes = changed.map(({ row, key, entry, after }): EntryChange => {
      const left = [...leftScopesOf(knownOf(board, key, row), entry.scopes).left, ...(kept.get(row.windowUid) ?? [])];
      const shown = row.unranked ? null : after;
      return {
        windowUid: row.windowUid,
        ...runOfKey(key),
        keepUntilMs: row.endsAtMs === null ? null : row.endsAtMs + keptAfterEndMs(board.definition),
        entry: shown && { score: shown.score, columns: shown.columns, achievedAtMs: shown.achievedAtMs },
        ...(entry.scopes.length > 0 && { scopes: entry.scopes }),
        ...(left.length > 0 && { leftScopes: left }),
        ...runsOfEvent(shown?.patchRuns, shown !== null),
      };
    });
    const rows = [...changed.map(({ entry }) => entry), ...missing];
    const entries = rows.map((entry) => ({ ...entry, state: { ...entry.state, version } }));
    const event = { type: 'entry-changed' as const, boardUid: board.uid, playerId, version, changes };
    const events = changed.length === 0 ? [] : [event];
    const parameters = [...withoutSubmissions(lane), ...entryParameters(entries, events), ...runParameters(entries)];
    await moveHead(transaction, lane);
    await transaction.query(WRITE_LANE_BATCH_OF_RUNS, parameters);
    return changed.length === 0 ? null : version;
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
export interface RefoldAsked extends RowsAsked {
  /**
   * When the first of the runs was accepted that count now and did not, or the other way round, Unix ms. What stood before
   * stays: it may be known no more, since a base may hold runs that came after it.
   */
  sinceMs: number;
  /** Whether a run is among them that was held, and counts now. */
  isAccepted: boolean;
}

type PlayerSince = Pick<RefoldAsked, 'board' | 'playerId' | 'sinceMs'>;

/** As a submission does it: an entry that begins is marked, and an accepted run renews one that has a lifetime. */
async function renew(
  transaction: SqlRunner,
  { board, isAccepted, nowMs }: RefoldAsked,
  rows: readonly RefoldedRow[],
): Promise<void> {
  const { entriesMax, entryLifetimeSeconds } = board.definition.limits;
  if (entriesMax === null && entryLifetimeSeconds === null) return;
  const isRenewed = isAccepted && entryLifetimeSeconds !== null;
  const renewed = rows.filter(({ row, after }) => after !== null && (isRenewed || stateOf(row) === null));
  if (renewed.length === 0) return;
  const keys = [renewed.map(({ row }) => row.windowUid), renewed.map(({ key }) => key)];
  await transaction.query(RENEW_ENTRIES, [nowMs, ...keys]);
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

/** What a refold writes. */
interface RefoldWrites {
  changed: readonly ChangedRow[];
  /** By window the scopes of guilds whose kept parts changed. */
  kept: ReadonlyMap<number, number[]>;
  /** Rows of entries that only frozen standings show. */
  missing: readonly EntryRow[];
}

/** Whether an entry shows something else; versions apart. */
const differs = ({ row, after }: RefoldedRow): boolean => !isSame(stateOf(row), after);

/** @returns undefined when there is no such window any more */
function refoldedWindow(
  { board, nowMs }: RowsAsked,
  uid: number,
  rows: readonly RefoldedRow[],
  touched: readonly EntryPlace[],
): RefoldedWindow | undefined {
  const ofWindow = rows.filter(({ row }) => row.windowUid === uid);
  if (ofWindow.length === 0) return undefined;
  const { windowUid, windowId, state } = ofWindow[0]!.row;
  const differing = ofWindow.filter(differs);
  const shown = differing.length > 0 ? differing : ofWindow;
  return {
    ...{ windowUid, windowId, state, isFrozen: isFrozen(ofWindow[0]!.row, nowMs) },
    before: bestOf(board.definition, shown, ({ row }) => stateOf(row)),
    after: bestOf(board.definition, shown, ({ after }) => after),
    hasChanged: differing.length > 0,
    isTouched: touched.some((one) => one.windowUid === uid),
  };
}

/** Of the entries that changed the best, where each run is one; else the player's. */
function bestOf(
  definition: BoardDefinition,
  rows: readonly RefoldedRow[],
  stateIn: (row: RefoldedRow) => EntryState | null,
): EntryState | null {
  const states = rows.flatMap((row) => {
    const state = stateIn(row);
    return state === null ? [] : [{ entryId: row.key, state }];
  });
  return sortedStanding(definition, states)[0]?.state ?? null;
}
