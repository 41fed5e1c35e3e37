import {
  GLOBAL_SCOPE,
  playerOfKey,
  type EntryState,
  type KeptPatchRun,
  type PlainEntryState,
} from '@laddercast/domain';
import { isRunOfSql, playerOfAnyKeySql } from '../entries/run-keys-sql.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { sanctionInForce } from './sanction-rows.js';
import { prepared } from '../database/postgres-statements.js';
import { joinRunOfEntrySql } from '../entries/entry-run-sql.js';
import type { ExportedEntry } from '../entries/exported-rows.js';
import { entryAtFreezeSql, entryNowSql } from '../entries/frozen-entry-sql.js';

/** One list, and the player whose own entry in it is asked for. */
export interface OwnEntryAsked {
  windowUid: number;
  scope: number;
  playerId: string;
  /** Whether it is asked for as it was when the window froze. */
  isFrozen: boolean;
}

/** An entry as the ledger has it, whether it is ranked or not. */
export type LedgerEntry = EntryState & { unranked: boolean };

/** And of whom it is; the key, where each run is an entry. */
export type OwnedEntry = LedgerEntry & { playerId: string };

const entryIn = (key: string): string => `
  SELECT score, columns, achieved_at_ms, metadata, version, scopes, unranked, patch_runs, NOT removed AS present FROM entries
  WHERE window_uid = k.window_uid AND player_id = ${key} LIMIT 1`;

const frozenIn = (key: string): string => `
  SELECT score, columns, achieved_at_ms, metadata, scopes, patch_runs, present FROM frozen_entries
  WHERE k.frozen AND window_uid = k.window_uid AND player_id = ${key} LIMIT 1`;

/**
 * The entries at keys that were asked for, as `k`. A change after a freeze saved what was there before it.
 * @param keys gives `k` the keys where they are not what was asked for
 * @param key the key, as SQL
 */
const ownEntriesSql = (keys: string, key: string): string => `
  SELECT k.at::int AS at, ${key} AS "playerId", s.score, s.columns, s.achieved_at_ms AS "achievedAtMs", s.metadata,
    e.version, e.unranked, s.patch_runs AS "patchRuns"
  FROM unnest($1::int[], $2::text[], $3::int[], $4::boolean[])
    WITH ORDINALITY AS k (window_uid, player_id, scope_uid, frozen, at)
  ${keys}
  CROSS JOIN LATERAL (${entryIn(key)}) AS e
  LEFT JOIN LATERAL (${frozenIn(key)}) AS f ON true
  CROSS JOIN LATERAL (
    SELECT e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, e.patch_runs, e.present WHERE f.present IS NULL
    UNION ALL
    SELECT f.score, f.columns, f.achieved_at_ms, f.metadata, f.scopes, f.patch_runs, f.present WHERE f.present IS NOT NULL) AS s
  WHERE s.present AND (k.scope_uid = ${GLOBAL_SCOPE} OR k.scope_uid = ANY (s.scopes))`;

const OWN_ENTRIES = prepared(ownEntriesSql('', 'k.player_id'));

/** Where each run is an entry: those that stand, or stood at the freeze. */
const OWN_RUNS = prepared(
  ownEntriesSql(
    `CROSS JOIN LATERAL (
      SELECT player_id AS key FROM entries
      WHERE window_uid = k.window_uid AND ${isRunOfSql('k.player_id')} AND NOT removed
      UNION
      SELECT player_id FROM frozen_entries
      WHERE k.frozen AND window_uid = k.window_uid AND ${isRunOfSql('k.player_id')}) AS r`,
    'r.key',
  ),
);

interface OwnRow extends PlainEntryState {
  at: number;
  playerId: string;
  unranked: boolean;
  patchRuns: KeptPatchRun[] | null;
}

const ownedEntry = ({ at: _at, patchRuns, ...entry }: OwnRow): OwnedEntry => ({
  ...entry,
  ...(patchRuns && { patchRuns }),
});

const valuesOf = (asked: readonly OwnEntryAsked[]): unknown[] => [
  asked.map(({ windowUid }) => windowUid),
  asked.map(({ playerId }) => playerId),
  asked.map(({ scope }) => scope),
  asked.map(({ isFrozen }) => isFrozen),
];

/**
 * All entries of players in lists, ranked or not: on boards where each run is one at most `entriesPerPlayerMax`, else one.
 * @returns in the order asked; those of one player by their keys
 */
export async function entriesOfPlayers(
  sql: SqlRunner,
  asked: readonly (OwnEntryAsked & { isPerRun: boolean })[],
): Promise<OwnedEntry[][]> {
  const found = asked.map((): OwnedEntry[] => []);
  for (const isPerRun of [false, true]) {
    const places = [...asked.keys()].filter((at) => asked[at]!.isPerRun === isPerRun);
    if (places.length === 0) continue;
    const values = valuesOf(places.map((at) => asked[at]!));
    const rows = await (isPerRun ? sql.query<OwnRow>(OWN_RUNS, values) : sql.query<OwnRow>(OWN_ENTRIES, values));
    for (const row of rows) found[places[row.at - 1]!]!.push(ownedEntry(row));
  }
  const inOrder = (a: OwnedEntry, b: OwnedEntry): number => (a.playerId < b.playerId ? -1 : 1);
  return found.map((entries) => entries.sort(inOrder));
}

/**
 * The entries at players, or at keys of runs, in lists of players, ranked or not, by one probe each.
 * @returns in the order asked; undefined where there is none
 */
export async function ownEntries(
  sql: SqlRunner,
  asked: readonly OwnEntryAsked[],
): Promise<(LedgerEntry | undefined)[]> {
  const rows = await sql.query<OwnRow>(OWN_ENTRIES, valuesOf(asked));
  const found = new Map(rows.map((row) => [row.at - 1, ownedEntry(row)]));
  return asked.map((_, at) => found.get(at));
}

/** The entry of a shadowed player, or of the key of a run's entry, in a window and scope, which is ranked for nobody else; undefined: it has none of the kind. */
export async function shadowedEntry(
  sql: SqlRunner,
  { windowUid, scope }: { windowUid: number; scope: number },
  playerId: string,
): Promise<EntryState | undefined> {
  const [entry] = await ownEntries(sql, [{ windowUid, scope, playerId, isFrozen: false }]);
  return entry?.unranked && (await sanctionInForce(sql, playerOfKey(playerId)))?.kind === 'shadow' ? entry : undefined;
}

const SHADOWED = `
  SELECT player_id AS player FROM sanctions WHERE ended_at IS NULL AND kind = 'shadow' AND player_id = ANY ($1::text[])`;

/**
 * The entries of shadowed players in everybody's lists of windows, which are ranked for nobody else.
 * @returns in the order asked; undefined for all others
 */
export async function shadowedEntries(
  sql: SqlRunner,
  asked: readonly { windowUid: number; playerId: string }[],
): Promise<(EntryState | undefined)[]> {
  const players = [...new Set(asked.map(({ playerId }) => playerId))];
  const rows = players.length === 0 ? [] : await sql.query<{ player: string }>(SHADOWED, [players]);
  const shadowed = new Set(rows.map(({ player }) => player));
  const ofShadowed = asked.filter(({ playerId }) => shadowed.has(playerId));
  if (ofShadowed.length === 0) return asked.map(() => undefined);
  const of = ofShadowed.map((one) => ({ ...one, scope: GLOBAL_SCOPE, isFrozen: false }));
  const found = new Map((await ownEntries(sql, of)).map((entry, at) => [ofShadowed[at], entry]));
  return asked.map((one) => (found.get(one)?.unranked ? found.get(one) : undefined));
}

const PLAYER = playerOfAnyKeySql('e.player_id');

const exportedSql = (entryOf: (key: string) => string): string => `
  SELECT e.player_id, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, p.display_name, p.listed,
    NULL AS sanction, run.verified, run.proof, NULL::float8 AS raw_score, NULL::int AS patch_uid
  FROM unnest($2::text[]) AS k (player_id) CROSS JOIN LATERAL (${entryOf('k.player_id')}) AS e
  LEFT JOIN players p ON p.player_id = ${PLAYER} ${joinRunOfEntrySql(PLAYER)}`;

const EXPORTED_NOW = exportedSql(entryNowSql);
const EXPORTED_AT_FREEZE = exportedSql(entryAtFreezeSql);

/**
 * A player's own entries in a window by their keys, as exports show them, ranked or not, in no order.
 * @param isFrozen as they were when the window froze
 */
export const ownExportedEntries = (
  sql: SqlRunner,
  windowUid: number,
  keys: readonly string[],
  isFrozen: boolean,
): Promise<ExportedEntry[]> => sql.query(isFrozen ? EXPORTED_AT_FREEZE : EXPORTED_NOW, [windowUid, keys]);

const UNRANKED_RUNS = prepared(`
  SELECT player_id AS key, score, columns, achieved_at_ms AS "achievedAtMs", metadata, version FROM entries
  WHERE window_uid = $1 AND ${isRunOfSql('$2')} AND NOT removed
    AND unranked AND ($3 = ${GLOBAL_SCOPE} OR $3 = ANY (scopes))`);

/** Where each run is an entry: all of a player's that are ranked for nobody else, by their keys. */
export const unrankedRuns = (
  sql: SqlRunner,
  { windowUid, scope }: { windowUid: number; scope: number },
  playerId: string,
): Promise<(PlainEntryState & { key: string })[]> => sql.query(UNRANKED_RUNS, [windowUid, playerId, scope]);
