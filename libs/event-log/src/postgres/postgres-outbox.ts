import { prepared, wholePayload, type LaneBarrier, type Lanes, type SqlRunner } from '@laddercast/ledger';
import type { StoredRecord } from '../delivery/delivery.js';
import type { LaneLag } from '../event-log.js';

/** One look at a lane of the outbox. */
export interface OutboxReading {
  records: OutboxRecord[];
  /** Everything in these topics up to here has been read. */
  through: number;
  /** Whether the lane already has more behind `through`. */
  more: boolean;
  /** How many positions the next look should cover. */
  nextSpan: number;
}

export type OutboxRecord = StoredRecord;

/** How many positions the first look covers, and any look at most. */
export const SPAN_FIRST = 4000;
const SPAN_MAX = 200_000;
const SPAN_GROWTH = 4;
/** The highest lag that is counted. */
export const LAG_COUNTED_MAX = 1_000_000;
/** Rows that one statement removes. */
const TRIM_CHUNK = 10_000;

const READ = prepared(`
  WITH ends AS MATERIALIZED (SELECT
    (SELECT position FROM outbox WHERE lane = $1 AND position > $2 ORDER BY position LIMIT 1) AS first,
    (SELECT position FROM outbox WHERE lane = $1 ORDER BY position DESC LIMIT 1) AS last)
  SELECT ends.first, ends.last, r.* FROM ends LEFT JOIN LATERAL (
    SELECT position, topic, key, payload, (extract(epoch FROM created_at) * 1000)::float8 AS created_at_ms
    FROM outbox
    WHERE lane = $1 AND position >= ends.first AND position < ends.first + $5 AND topic = ANY($3::text[])
    ORDER BY position LIMIT $4) AS r ON true`);

const COMMIT = prepared(`
  WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  UPDATE log_offsets SET position = $4 FROM setting
  WHERE consumer_group = $1 AND lane = $2 AND epoch = $3 RETURNING lane`);

const PASSED = prepared(`
  SELECT NOT EXISTS (
    SELECT 1 FROM unnest($2::int[], $3::bigint[]) AS barrier (lane, position)
    LEFT JOIN log_offsets o ON o.consumer_group = $1 AND o.lane = barrier.lane
    JOIN LATERAL (SELECT 1 FROM outbox w
      WHERE w.lane = barrier.lane AND w.position > coalesce(o.position, 0) AND w.position <= barrier.position
        AND w.topic = ANY($4::text[])
      ORDER BY w.position LIMIT 1) AS waiting ON true) AS passed`);

/**
 * The outbox as a log, and its offsets: every statement is one atomic step.
 * Reading by position is safe here: a lane's writers hold the lane's lock from before they draw positions until they
 * have committed, so within a lane positions become visible in order.
 */
export class PostgresOutbox {
  constructor(
    private readonly database: SqlRunner,
    private readonly lanes: Lanes,
  ) {}

  /**
   * Takes a group's lane over: from here on, commits of lower epochs change nothing.
   * @returns the position up to which the group is done; 0 for a new group
   */
  async claim(group: string, lane: number, epoch: number): Promise<number> {
    const [row] = await this.database.query<{ position: number }>(
      `INSERT INTO log_offsets AS o (consumer_group, lane, position, epoch) VALUES ($1, $2, 0, $3)
       ON CONFLICT (consumer_group, lane) DO UPDATE SET epoch = excluded.epoch WHERE o.epoch <= excluded.epoch
       RETURNING position`,
      [group, lane, epoch],
    );
    if (!row) throw new Error(`Lane ${lane} of group ${group} was claimed under a later epoch than ${epoch}.`);
    return row.position;
  }

  /** Moves the offset; false, without a change, if the lane was claimed under a later epoch. */
  async commit(group: string, lane: number, epoch: number, position: number): Promise<boolean> {
    // Does not wait for the disk: events whose offset a crash of PostgreSQL loses are delivered again, which handlers
    // must bear anyway.
    const rows = await this.database.query(COMMIT, [group, lane, epoch, position]);
    return rows.length > 0;
  }

  /** The position that a group committed in a lane, 0 for none. */
  async committed(group: string, lane: number): Promise<number> {
    const [row] = await this.database.query<{ position: number }>(
      'SELECT position FROM log_offsets WHERE consumer_group = $1 AND lane = $2',
      [group, lane],
    );
    return row?.position ?? 0;
  }

  /** Whether a group has handled everything of these topics that stands before the barriers. */
  async hasPassed(group: string, barriers: readonly LaneBarrier[], topics: readonly string[]): Promise<boolean> {
    const [row] = await this.database.query<{ passed: boolean }>(PASSED, [
      group,
      barriers.map(({ lane }) => lane),
      barriers.map(({ position }) => position),
      topics,
    ]);
    return row!.passed;
  }

  /**
   * At most `limit` records of the topics after a position, in order.
   * @param span how many positions to look at. The table fills and empties, so its statistics are always wrong, and the
   * planner sorts all rows of the range instead of walking the index: keep the range near what is needed
   */
  async read(
    lane: number,
    after: number,
    topics: readonly string[],
    limit: number,
    span: number,
  ): Promise<OutboxReading> {
    const rows = await this.database.query<{
      first: number | null;
      last: number | null;
      position: number | null;
      topic: string;
      key: string;
      payload: string;
      created_at_ms: number;
    }>(READ, [lane, after, topics, limit, span]);
    const { first, last } = rows[0]!;
    if (first === null || last === null) return { records: [], through: after, more: false, nextSpan: span };
    const records = rows
      .filter((row) => row.position !== null)
      .map(({ position, topic, key, payload, created_at_ms }) => ({
        lane,
        position: position!,
        topic,
        key,
        payload: wholePayload({ topic, key, position: position!, payload }),
        createdAtMs: Math.floor(created_at_ms),
      }));
    const full = records.length >= limit;
    const through = full ? records.at(-1)!.position : Math.min(last, first + span - 1);
    const more = through < last;
    const needed = full ? 2 * (through - first + 1) : more ? SPAN_GROWTH * span : span;
    return { records, through, more, nextSpan: Math.min(SPAN_MAX, Math.max(SPAN_FIRST, needed)) };
  }

  /** How far a group is behind in each lane, over these topics. */
  async lag(group: string, topics: readonly string[]): Promise<LaneLag[]> {
    return this.database.query<LaneLag>(
      `SELECT lane.lane, waiting.events::int AS events,
         coalesce(greatest(0, extract(epoch FROM ladder_now() - oldest.created_at)), 0)::float8 AS seconds
       FROM generate_series(0, $2::int - 1) AS lane (lane)
       LEFT JOIN log_offsets o ON o.consumer_group = $1 AND o.lane = lane.lane
       CROSS JOIN LATERAL (SELECT count(*) AS events FROM (
         SELECT 1 FROM outbox w WHERE w.lane = lane.lane AND w.position > coalesce(o.position, 0)
           AND w.topic = ANY($3::text[]) LIMIT $4) AS counted) AS waiting
       LEFT JOIN LATERAL (
         SELECT w.created_at FROM outbox w WHERE w.lane = lane.lane AND w.position > coalesce(o.position, 0)
           AND w.topic = ANY($3::text[]) ORDER BY w.position LIMIT 1) AS oldest ON true
       ORDER BY lane.lane`,
      [group, this.lanes.count, topics, LAG_COUNTED_MAX],
    );
  }

  /**
   * Removes one chunk of a lane's rows that every group has passed and that are older than `keepMs`.
   * A group that nobody has consumed for `groupKeptMs` is not waited for. One that reads a lane which this one came from will
   * read this one, too.
   * @returns whether there may be more
   */
  async trim(lane: number, keepMs: number, groupKeptMs: number, keptMax: number): Promise<boolean> {
    const [row] = await this.database.query<{ removed: number }>(
      `WITH passed AS MATERIALIZED (
         SELECT min(position) AS position FROM (
           SELECT coalesce(max(o.position) FILTER (WHERE o.lane = $1), 0) AS position FROM log_offsets o
           LEFT JOIN leases l ON l.name = 'log:' || o.consumer_group || ':' || o.lane
           WHERE o.lane = ANY($6::int[])
           GROUP BY o.consumer_group
           HAVING bool_or(l.name IS NULL OR l.expires_at > ladder_now() - $4::float8 * interval '1 millisecond')) AS each_group),
       old AS MATERIALIZED (
         SELECT w.position, w.created_at FROM outbox w, passed
         WHERE w.lane = $1 AND w.position <= passed.position ORDER BY w.position LIMIT $2),
       edge AS MATERIALIZED (
         SELECT coalesce((SELECT min(position) FROM old
           WHERE created_at > ladder_now() - $3::float8 * interval '1 millisecond'
            AND position > (SELECT last_value FROM ladder_position) - $5::bigint),
           (SELECT max(position) + 1 FROM old)) AS position),
       removed AS (
         DELETE FROM outbox w USING edge
         WHERE w.lane = $1 AND w.position < edge.position AND w.position >= (SELECT min(position) FROM old) RETURNING 1)
       SELECT count(*)::int AS removed FROM removed`,
      [lane, TRIM_CHUNK, keepMs, groupKeptMs, keptMax, [lane, ...this.lanes.barriersOf(lane).map((one) => one.lane)]],
    );
    return (row?.removed ?? 0) >= TRIM_CHUNK;
  }
}

/** The lease under which one consumer at a time serves a group's lane; {@link PostgresOutbox.trim} knows this name. */
export const laneLeaseName = (group: string, lane: number): string => `log:${group}:${lane}`;
