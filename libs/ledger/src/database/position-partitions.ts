import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from './postgres-database.js';
import { sqlStateOf, UNDEFINED_OBJECT } from './postgres-errors.js';
import { tryEach } from './try-each.js';

/** The tables that a migration made partitioned by ranges of `position`. */
const TABLES = ['rating_changes', 'runs'];

/** The next partition is begun when the last one is so old, */
const PARTITION_DAYS = 30;
/** and its rows take so much. Small ones would cost reads more than they save writes. */
const PARTITION_BYTES_MIN = 64 * 1024 * 1024;
/** How many positions ahead of what is drawn the next one begins at least, */
const AHEAD_MIN = 10_000_000;
/** and which part of those that the last one has taken: a week of a month, or so. */
const AHEAD_PART = 1 / 4;

/** Whoever uses the table waits for as long behind a lock that waits. PostgreSQL stops autovacuum after a second. */
const LOCK_WITHIN_MS = 2000;
/** How long it may take to look at all rows of a partition; others use it meanwhile. */
const PROVE_WITHIN_MS = 3_600_000;

/** A range of positions. The first begins at the lowest position (null), the last has no end (null). */
interface Partition {
  name: string;
  from: number | null;
  to: number | null;
  /** Its rows alone, those that are gone and not vacuumed among them. */
  bytes: number;
  /** null: its name does not say on which day it was begun. */
  ageDays: number | null;
  /** Where the last is to end: its constraint lets in no row from there on; null: it takes all that comes. */
  endsAt: number | null;
  /** Whether all its rows are known to lie before that. */
  isProven: boolean;
}

/** In the order of positions. The name of a partition ends with the day on which it was begun; that of a first one may not. */
const PARTITIONS = `
  SELECT c.relname::text AS name, pg_relation_size(c.oid) AS bytes,
    substring(b.bound FROM 'FROM \\(''(-?\\d+)''\\)')::bigint AS "from",
    substring(b.bound FROM 'TO \\(''(-?\\d+)''\\)')::bigint AS "to",
    (ladder_now() AT TIME ZONE 'UTC')::date - to_date(substring(c.relname FROM '_(\\d{8})$'), 'YYYYMMDD') AS "ageDays",
    substring(e.conname FROM '\\d+$')::bigint AS "endsAt", coalesce(e.convalidated, false) AS "isProven"
  FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
  CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bound) AS b
  LEFT JOIN pg_constraint AS e ON e.conrelid = c.oid AND e.conname ~ '^ends_at_\\d+$'
  WHERE i.inhparent = $1::regclass ORDER BY "from" NULLS FIRST`;

/**
 * Keeps tables that are partitioned by ranges of `position` in partitions of about a month. The ranges hold every position
 * at any time: the last has no end, and the range of one that is dropped goes to its neighbour. So no row is ever refused,
 * and all goes on when this does not run; the last partition only gets larger. Only where the last was given its end and the
 * next is not begun yet, a row from there on fails, as if PostgreSQL were away: it is stored when it is tried again.
 *
 * Two processes may do it at once, and a process that dies leaves what the next one ends.
 */
@Injectable()
export class PositionPartitions {
  constructor(private readonly database: PostgresDatabase) {}

  async run(signal: AbortSignal): Promise<void> {
    await tryEach(TABLES, signal, (table) => this.tend(table, signal));
  }

  /**
   * Drops what is empty, and begins the next partition where it is due.
   * @param table one whose partitions are named by it, `_`, and the day (YYYYMMDD)
   */
  async tend(table: string, signal: AbortSignal): Promise<void> {
    await this.dropEmptied(table);
    await this.beginNext(table, signal);
  }

  /**
   * The last partition takes all that comes, so it has to get an end before another can begin there. Its rows are looked at
   * while everybody uses them: the table is locked for a moment before it, and for one after it.
   */
  private async beginNext(table: string, signal: AbortSignal): Promise<void> {
    const last = (await partitionsOf(this.database, table)).at(-1)!;
    const isDue = (last.ageDays ?? PARTITION_DAYS) >= PARTITION_DAYS && last.bytes >= PARTITION_BYTES_MIN;
    if (!isDue && last.endsAt === null) return;
    const endsAt = await this.locked(table, async (transaction, partitions) => {
      const now = partitions.at(-1)!;
      // Another process may have begun the next one since.
      return now.name === last.name ? setEnd(transaction, now) : null;
    });
    if (endsAt === null) return;
    const prove = (sql: SqlRunner): Promise<unknown> =>
      sql.query(`ALTER TABLE ${last.name} VALIDATE CONSTRAINT ${endOf(endsAt)}`);
    try {
      await this.database.longTransaction(PROVE_WITHIN_MS, prove, signal);
    } catch (error) {
      // Another process was quicker: the constraint goes when the next one is begun.
      if (sqlStateOf(error) === UNDEFINED_OBJECT) return;
      throw error;
    }
    await this.locked(table, (transaction, partitions) => divide(transaction, table, partitions.at(-1)!));
  }

  /** Of two neighbours without rows one goes, and the other has the range of both. The last stays: it is the one in use. */
  private async dropEmptied(table: string): Promise<void> {
    const pairOf = (partitions: readonly Partition[]): number =>
      partitions.findIndex(
        ({ bytes }, at) => bytes === 0 && at < partitions.length - 2 && partitions[at + 1]!.bytes === 0,
      );
    while (pairOf(await partitionsOf(this.database, table)) >= 0) {
      await this.locked(table, async (transaction, partitions) => {
        const at = pairOf(partitions);
        if (at < 0) return;
        const [kept, dropped] = [partitions[at]!, partitions[at + 1]!];
        await transaction.query(`ALTER TABLE ${table} DETACH PARTITION ${kept.name}`);
        await transaction.query(`DROP TABLE ${dropped.name}`);
        await attach(transaction, table, kept, dropped.to);
      });
    }
  }

  /**
   * Does something to the partitions while nobody uses the table.
   * @throws where others use it for longer than {@link LOCK_WITHIN_MS}: to be tried again
   */
  private locked<T>(
    table: string,
    work: (transaction: SqlRunner, partitions: readonly Partition[]) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(`SET LOCAL lock_timeout = ${LOCK_WITHIN_MS}`);
      // As whoever uses it: the table first, then partitions.
      await transaction.query(`LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE`);
      return work(transaction, await partitionsOf(transaction, table));
    });
  }
}

const partitionsOf = (sql: SqlRunner, table: string): Promise<Partition[]> => sql.query<Partition>(PARTITIONS, [table]);

const endOf = (position: number): string => `ends_at_${position}`;

/** Says where the last partition ends, ahead of all that is drawn; where that was said it stays. */
async function setEnd(transaction: SqlRunner, { name, from, endsAt: said }: Partition): Promise<number> {
  if (said !== null) return said;
  const [drawn] = await transaction.query<{ position: number }>('SELECT last_value AS position FROM ladder_position');
  const taken = Math.max(0, drawn!.position - (from ?? 0));
  const endsAt = (from ?? 0) + taken + Math.max(AHEAD_MIN, Math.ceil(taken * AHEAD_PART));
  const isWithin = `${from === null ? '' : `position >= ${from} AND `}position < ${endsAt}`;
  await transaction.query(`ALTER TABLE ${name} ADD CONSTRAINT ${endOf(endsAt)} CHECK (${isWithin}) NOT VALID`);
  return endsAt;
}

/** Gives the last partition the end that is proven, and begins the next one there; nothing where that was done before. */
async function divide(transaction: SqlRunner, table: string, last: Partition): Promise<void> {
  const { name, endsAt, isProven } = last;
  if (endsAt === null || !isProven) return;
  await transaction.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
  await attach(transaction, table, last, endsAt);
  await transaction.query(`ALTER TABLE ${name} DROP CONSTRAINT ${endOf(endsAt)}`);
  const [today] = await transaction.query<{ day: string }>(
    `SELECT to_char(ladder_now() AT TIME ZONE 'UTC', 'YYYYMMDD') AS day`,
  );
  await transaction.query(
    `CREATE TABLE ${table}_${today!.day} PARTITION OF ${table} FOR VALUES FROM (${endsAt}) TO (MAXVALUE)`,
  );
}

async function attach(
  transaction: SqlRunner,
  table: string,
  { name, from }: Partition,
  to: number | null,
): Promise<void> {
  const range = `FROM (${from ?? 'MINVALUE'}) TO (${to ?? 'MAXVALUE'})`;
  await transaction.query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES ${range}`);
}
