import type { SqlRunner } from '../database/postgres-database.js';
import type { StandingValues } from './list-overlay.js';

/** A row of `edition_changes`: what an edition shows of a player, or guild, in a list of its base. */
export interface ListChangeRow {
  player_id: string;
  /** null: the base has no row of it. */
  struck: number | null;
  struck_competition: number | null;
  struck_last: number | null;
  /** null from here on: no row is shown. */
  rows_before: number | null;
  rows_better: number | null;
  rows_not_worse: number | null;
  values_better: number | null;
  score: number | null;
  columns: number[] | null;
  achieved_at_ms: number | null;
  metadata: string | null;
  scopes: number[] | null;
  /** Of the run that it rests on, where that is kept. */
  verified: boolean | null;
  proof: string | null;
  members: number | null;
}

/** The same with its list. */
export interface EditionChangeRow extends ListChangeRow {
  scope_uid: number;
}

/** The row that a change lays; null: it only strikes. */
export const laidBy = ({
  player_id,
  score,
  columns,
  achieved_at_ms,
  metadata,
  scopes,
  verified,
  proof,
  members,
}: ListChangeRow): StandingValues | null =>
  score === null
    ? null
    : {
        ...{ player_id, score, columns: columns!, achieved_at_ms: achieved_at_ms! },
        ...{ metadata, scopes: scopes!, verified, proof, members },
      };

const VALUES = `player_id, struck, struck_competition, struck_last, rows_before, rows_better, rows_not_worse, values_better,
  score, columns, achieved_at_ms, metadata, scopes, verified, proof, members`;

const CHANGES_OF_LIST = `
  SELECT ${VALUES} FROM edition_changes
  WHERE edition_uid = $1 AND scope_uid = $2 AND since <= $3 AND (until IS NULL OR until > $3)`;

const CHANGES_NOW = `
  SELECT scope_uid, ${VALUES} FROM edition_changes WHERE edition_uid = $1 AND until IS NULL`;

const COUNT_CHANGES = `
  SELECT (SELECT count(*) FROM edition_changes WHERE edition_uid = $1)::int AS changes,
    (SELECT coalesce(sum(total), 0) FROM edition_scopes WHERE edition_uid = $1)::int AS rows`;

/** Ends what the base's changes `$2` and `$3` (lists and players) showed until edition `$4`. */
const END_CHANGES = `
  UPDATE edition_changes c SET until = $4::int
  FROM unnest($2::int[], $3::text[]) AS k (scope_uid, player_id)
  WHERE c.edition_uid = $1 AND c.scope_uid = k.scope_uid AND c.player_id = k.player_id AND c.until IS NULL`;

const ADD_CHANGES = `
  INSERT INTO edition_changes (edition_uid, since, scope_uid, ${VALUES})
  SELECT $1, $2, scope_uid, ${VALUES}
  FROM json_to_recordset($3::json) AS r (scope_uid int, player_id text, struck int, struck_competition int,
    struck_last int, rows_before int, rows_better int, rows_not_worse int, values_better int, score float8,
    columns float8[], achieved_at_ms bigint, metadata text, scopes int[],
    verified boolean, proof text, members int)`;

/** What an edition shows in a list otherwise than its base. */
export const changesOfList = (
  database: SqlRunner,
  base: number,
  scope: number,
  number: number,
): Promise<ListChangeRow[]> => database.query<ListChangeRow>(CHANGES_OF_LIST, [base, scope, number]);

/** What the newest edition over a base shows otherwise, in all lists. */
export const changesNow = (database: SqlRunner, base: number): Promise<EditionChangeRow[]> =>
  database.query<EditionChangeRow>(CHANGES_NOW, [base]);

/** How many changes are kept of a base, those of former editions too, and how many rows it has. */
export async function countChanges(database: SqlRunner, base: number): Promise<{ changes: number; rows: number }> {
  const [row] = await database.query<{ changes: number; rows: number }>(COUNT_CHANGES, [base]);
  return row!;
}

/** From edition `number` on these lists and players show what is given, and nothing that was laid before. */
export async function writeChanges(
  transaction: SqlRunner,
  base: number,
  number: number,
  { ended, added }: { ended: readonly { scope: number; playerId: string }[]; added: readonly EditionChangeRow[] },
): Promise<void> {
  if (ended.length > 0) {
    const keys = [ended.map(({ scope }) => scope), ended.map(({ playerId }) => playerId)];
    await transaction.query(END_CHANGES, [base, ...keys, number]);
  }
  if (added.length > 0) await transaction.query(ADD_CHANGES, [base, number, JSON.stringify(added)]);
}
