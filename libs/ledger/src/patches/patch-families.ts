import { newestOrder, type Decay, type Layout, type PatchFamily, type PublishedPatch } from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

/** A family with the revision of its last change. */
export interface StoredFamily extends PatchFamily {
  revision: number;
}

const FAMILY_COLUMNS = 'family_uid AS uid, family_id AS id, published, orders, revision';

const FAMILIES_SQL = prepared(
  'SELECT family_uid AS uid, family_id AS id, published, orders FROM patch_families WHERE family_uid = ANY($1::int[])',
);

/** Families by their numbers, as boards know them. */
export async function patchFamilies(sql: SqlRunner, uids: readonly number[]): Promise<Map<number, PatchFamily>> {
  const rows = await sql.query<PatchFamily>(FAMILIES_SQL, [[...new Set(uids)]]);
  return new Map(rows.map((family) => [family.uid, family]));
}

/** The family of that number, as a board knows it. */
export const patchFamily = async (sql: SqlRunner, uid: number): Promise<PatchFamily | undefined> =>
  (await patchFamilies(sql, [uid])).get(uid);

/** The family of that id. */
export async function findFamily(sql: SqlRunner, id: string): Promise<StoredFamily | undefined> {
  const [row] = await sql.query<StoredFamily>(`SELECT ${FAMILY_COLUMNS} FROM patch_families WHERE family_id = $1`, [
    id,
  ]);
  return row;
}

/** The family of that id, which is made if there is none, in a transaction that holds all lanes. */
export async function requireFamily(transaction: SqlRunner, id: string): Promise<StoredFamily> {
  await transaction.query('INSERT INTO patch_families (family_id) VALUES ($1) ON CONFLICT (family_id) DO NOTHING', [
    id,
  ]);
  return (await findFamily(transaction, id))!;
}

const STILL_PUBLISHED = prepared(`
  SELECT k.uid, k.counts_as AS "countsAs"
  FROM unnest($1::int[], $2::int[]) AS k (uid, counts_as)
  CROSS JOIN LATERAL (SELECT * FROM patches WHERE patch_uid = k.uid LIMIT 1) AS p
  CROSS JOIN LATERAL (
    SELECT published -> p.patch_id AS known FROM patch_families WHERE family_uid = p.family_uid LIMIT 1) AS f
  WHERE (f.known ->> 'countsAs')::int = k.counts_as`);

/**
 * Those of the patches that are published, and count as they are said to. In a transaction that holds a lane this stays so
 * until its end, while a board may not have been told yet of a change.
 */
export const stillPublished = (transaction: SqlRunner, patches: readonly PublishedPatch[]): Promise<PublishedPatch[]> =>
  transaction.query<PublishedPatch>(STILL_PUBLISHED, [
    patches.map(({ uid }) => uid),
    patches.map(({ countsAs }) => countsAs),
  ]);

/** How a board begins to be taxed. */
export interface FirstTax {
  family: PatchFamily;
  familyRevision: number;
  /** Of a generation without entries. */
  tax: Pick<Layout, 'taxOrder' | 'taxedSinceMs'>;
}

/** By what a board without entries is taxed, in a transaction that holds all lanes. */
export async function firstTax(transaction: SqlRunner, decay: Decay): Promise<FirstTax> {
  const { revision: familyRevision, ...family } = await requireFamily(transaction, decay.family);
  const taxedSinceMs = await ledgerNowMs(transaction);
  return { family, familyRevision, tax: { taxOrder: newestOrder(family).number, taxedSinceMs } };
}
