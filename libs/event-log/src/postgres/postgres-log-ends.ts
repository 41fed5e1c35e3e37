import { PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';

/** One partition of a log outside PostgreSQL. */
export interface LogPartition {
  /** The topic by its name in that log. */
  topic: string;
  partition: number;
}

/** The known end of a partition: the offset behind its last record. */
export interface LogEnd extends LogPartition {
  end: bigint;
}

/** The ends of an incarnation as this process knows them, from PostgreSQL and from its own appends. */
export interface KnownEnds {
  incarnation: number;
  ends: Map<string, { end: bigint; writtenAtMs: number }>;
}

/** How often an end is written. Until then only its relay knows it, and takes it along when it ends. */
const WRITE_EVERY_MS = 1000;

/**
 * Knows how far a log outside PostgreSQL was filled. So it is noticed when that log has lost records: a topic was
 * deleted and made again, or a broker came back with less than it had acknowledged. Then everything in the log counts
 * as lost, and a new incarnation begins: consumers read it from its beginning, and the effects of lost events are
 * brought back from the ledger ({@link bringBackLost}).
 *
 * Kept in PostgreSQL, shared by all processes.
 */
@Injectable()
export class PostgresLogEnds {
  private loaded: KnownEnds | null = null;

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The number of the present incarnation, 0 for the first. */
  async incarnation(): Promise<number> {
    const [row] = await this.database.query<{ value: string }>(
      `SELECT value FROM installation WHERE name = 'log-incarnation'`,
    );
    return Number(row?.value ?? 0);
  }

  /** Names the log that is used and its incarnation: another text, and consumers begin anew. */
  async logName(): Promise<string> {
    const [row] = await this.database.query<{ name: string | null }>(
      `SELECT string_agg(value, '/' ORDER BY name) AS name FROM installation WHERE name IN ('log', 'log-incarnation')`,
    );
    return row?.name ?? '';
  }

  /** The ends of an incarnation as they were written; relays know at most one second more. */
  async written(incarnation: number): Promise<LogEnd[]> {
    const prefix = nameOf(incarnation, '');
    const rows = await this.database.query<{ name: string; value: string }>(
      'SELECT name, value FROM installation WHERE starts_with(name, $1)',
      [prefix],
    );
    return rows.map(({ name, value }) => {
      const [partition, topic] = name.slice(prefix.length).split(/\/(.*)/s);
      return { topic: topic!, partition: Number(partition), end: BigInt(value) };
    });
  }

  /** To be read before records are sent: what others append meanwhile says nothing about where these went. */
  async known(): Promise<KnownEnds> {
    return (this.loaded ??= await this.load());
  }

  /**
   * Notes that records were appended, the first of them at `offset`. An offset below the known end proves that records
   * were lost, since the log itself assigned it.
   */
  async appended(known: KnownEnds, place: LogPartition, offset: bigint, records: number): Promise<void> {
    const key = keyOf(place);
    const before = known.ends.get(key);
    if (before && offset < before.end) {
      await this.declareLost(
        known.incarnation,
        `${place.topic}/${place.partition} ended at ${before.end}, now ${offset}`,
      );
      return this.forget(known);
    }
    const after = { end: offset + BigInt(records), writtenAtMs: before?.writtenAtMs ?? -Infinity };
    known.ends.set(key, after);
    if (monotonicMs() - after.writtenAtMs < WRITE_EVERY_MS) return;
    after.writtenAtMs = monotonicMs();
    const written = await this.database.query(
      `INSERT INTO installation AS known (name, value)
       SELECT $1, $2 WHERE $3 = coalesce((SELECT value::int FROM installation WHERE name = 'log-incarnation'), 0)
       ON CONFLICT (name)
       DO UPDATE SET value = greatest(known.value::bigint, excluded.value::bigint)::text RETURNING name`,
      [nameOf(known.incarnation, key), String(after.end), known.incarnation],
    );
    if (written.length === 0) this.forget(known);
  }

  /**
   * Begins the next incarnation, unless another process has done so since `incarnation` was read.
   * @returns whether this call did
   */
  async declareLost(incarnation: number, reason: string): Promise<boolean> {
    const rows = await this.database.query(
      `WITH next AS (
         INSERT INTO installation AS known (name, value) VALUES ('log-incarnation', ($1::int + 1)::text)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE known.value = $1::int::text RETURNING value)
       INSERT INTO installation (name, value) SELECT 'log-lost', $2 FROM next
       ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING name`,
      [incarnation, reason],
    );
    return rows.length > 0;
  }

  /** Whichever process began another incarnation, these ends are of an earlier one. */
  private forget(known: KnownEnds): void {
    if (this.loaded === known) this.loaded = null;
  }

  private async load(): Promise<KnownEnds> {
    const incarnation = await this.incarnation();
    const written = await this.written(incarnation);
    return { incarnation, ends: new Map(written.map((one) => [keyOf(one), { end: one.end, writtenAtMs: -Infinity }])) };
  }
}

const keyOf = ({ topic, partition }: LogPartition): string => `${partition}/${topic}`;
const nameOf = (incarnation: number, key: string): string => `log-end/${incarnation}/${key}`;
