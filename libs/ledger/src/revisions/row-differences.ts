import { isDeepStrictEqual } from 'node:util';
import type { BoardOrdering } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { lastOfValues, placesInBase } from './base-places.js';
import { laidBy, type EditionChangeRow } from './edition-changes.js';
import type { LaidRow, StandingValues, StruckRow } from './list-overlay.js';

/** What a list should show of a player, or guild; null: nothing. */
export interface WantedRow {
  scope: number;
  playerId: string;
  row: StandingValues | null;
}

/** A row that is to change, and what the base has of it. */
export interface Difference extends WantedRow {
  base: BaseRow | null;
  /** Whether the newest edition shows something else than the base already. */
  isChanged: boolean;
}

/** A row of `standings`. */
export interface BaseRow extends StandingValues {
  scope_uid: number;
  ordinal: number;
  competition: number;
}

const BASE_ROWS = `
  SELECT s.scope_uid, s.player_id, s.ordinal, s.competition, s.score, s.columns, s.achieved_at_ms, s.metadata, s.scopes,
    s.verified, s.proof, s.members
  FROM unnest($2::int[], $3::text[]) AS k (scope_uid, player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM standings WHERE edition_uid = $1 AND scope_uid = k.scope_uid AND player_id >= k.player_id
      AND player_id <= k.player_id ORDER BY player_id LIMIT 1) AS s`;

/** The rows that a base has of players in lists. */
export const baseRows = (
  database: SqlRunner,
  base: number,
  wanted: readonly { scope: number; playerId: string }[],
): Promise<BaseRow[]> =>
  database.query<BaseRow>(BASE_ROWS, [base, wanted.map(({ scope }) => scope), wanted.map(({ playerId }) => playerId)]);

/** The newest changes of a base by list and player. */
export class ChangesByRow {
  private readonly changes: ReadonlyMap<string, EditionChangeRow>;

  constructor(readonly rows: readonly EditionChangeRow[]) {
    this.changes = new Map(rows.map((row) => [keyOf(row.scope_uid, row.player_id), row]));
  }

  of(scope: number, playerId: string): EditionChangeRow | undefined {
    return this.changes.get(keyOf(scope, playerId));
  }
}

/** Which of the rows that are wanted the newest edition over the base does not show. */
export async function differencesOf(
  database: SqlRunner,
  base: number,
  changes: ChangesByRow,
  wanted: readonly WantedRow[],
): Promise<Difference[]> {
  const rows = new Map(
    (await baseRows(database, base, wanted)).map((row) => [keyOf(row.scope_uid, row.player_id), row]),
  );
  return wanted.flatMap((one) => {
    const ofBase = rows.get(keyOf(one.scope, one.playerId)) ?? null;
    const change = changes.of(one.scope, one.playerId);
    const shown = change === undefined ? ofBase : laidBy(change);
    return isSame(shown, one.row) ? [] : [{ ...one, base: ofBase, isChanged: change !== undefined }];
  });
}

/** What is to be stored, so that the next edition over the base shows the differences; where it is as the base is, nothing. */
export async function changesFor(
  database: SqlRunner,
  base: number,
  orderingOf: (scope: number) => BoardOrdering,
  differences: readonly Difference[],
): Promise<EditionChangeRow[]> {
  const added: EditionChangeRow[] = [];
  for (const scope of new Set(differences.map((one) => one.scope))) {
    const ofList = differences.filter((one) => one.scope === scope && !isSame(one.base, one.row));
    const list = { edition: base, scope, ordering: orderingOf(scope) };
    const struck = ofList.flatMap((one) => (one.base ? [one.base] : []));
    const lasts = await lastOfValues(database, list, struck);
    const lastOf = new Map(struck.map(({ player_id }, index) => [player_id, lasts[index]!]));
    const laid = await placesInBase(
      database,
      list,
      ofList.flatMap(({ row }) => (row ? [row] : [])),
    );
    const laidOf = new Map(laid.map((row) => [row.player_id, row]));
    for (const { playerId, base: row } of ofList) {
      const last = lastOf.get(playerId);
      const isStruck = row !== null && last !== undefined;
      const strikes = isStruck ? { ordinal: row.ordinal, competition: row.competition, last } : null;
      added.push(changeOf(scope, playerId, strikes, laidOf.get(playerId) ?? null));
    }
  }
  return added;
}

const changeOf = (
  scope_uid: number,
  player_id: string,
  struck: StruckRow | null,
  laid: LaidRow | null,
): EditionChangeRow => ({
  scope_uid,
  player_id,
  struck: struck?.ordinal ?? null,
  struck_competition: struck?.competition ?? null,
  struck_last: struck?.last ?? null,
  rows_before: laid?.before ?? null,
  rows_better: laid?.better ?? null,
  rows_not_worse: laid?.notWorse ?? null,
  values_better: laid?.betterValues ?? null,
  score: laid?.score ?? null,
  columns: laid?.columns ?? null,
  achieved_at_ms: laid?.achieved_at_ms ?? null,
  metadata: laid?.metadata ?? null,
  scopes: laid?.scopes ?? null,
  verified: laid?.verified ?? null,
  proof: laid?.proof ?? null,
  members: laid?.members ?? null,
});

const isSame = (a: StandingValues | null, b: StandingValues | null): boolean =>
  a === null || b === null ? a === b : isDeepStrictEqual(comparable(a), comparable(b));

const comparable = ({ score, columns, achieved_at_ms, metadata, scopes, members }: StandingValues): unknown[] => [
  score,
  columns,
  achieved_at_ms,
  metadata,
  [...scopes].sort((a, b) => a - b),
  members,
];

const keyOf = (scope: number, playerId: string): string => `${scope}/${playerId}`;
