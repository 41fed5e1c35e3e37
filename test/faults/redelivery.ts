import { ADVISORY_LOCKS, wholePayload } from '@laddercast/ledger';
import type { PostgresSession } from './postgres-session.js';

/** An event of the outbox, with its whole JSON. */
export interface StoredEvent {
  lane: number;
  topic: string;
  key: string;
  payload: string;
}

const CHUNK = 1000;

/** The last events of the outbox, oldest first; it keeps what was handled for a minute. */
export async function lastEvents(database: PostgresSession, limit: number, where = 'true'): Promise<StoredEvent[]> {
  const rows = await database.query<StoredEvent & { position: number }>(
    `SELECT lane::int, position::float8, topic, key, payload FROM outbox WHERE ${where} ORDER BY position DESC LIMIT ${limit}`,
  );
  return rows.reverse().map(({ position, ...event }) => ({ ...event, payload: wholePayload({ ...event, position }) }));
}

/**
 * Puts events into the log once more, behind all others, as they were: a late redelivery, whichever log carries it.
 * @returns when all of them are committed
 */
export async function redeliver(database: PostgresSession, events: readonly StoredEvent[]): Promise<void> {
  for (const lane of new Set(events.map((event) => event.lane))) {
    const ofLane = events.filter((event) => event.lane === lane);
    for (let from = 0; from < ofLane.length; from += CHUNK) {
      const chunk = ofLane.slice(from, from + CHUNK);
      await database.query('BEGIN');
      await database.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
      await database.query(
        `INSERT INTO outbox (lane, position, topic, key, payload)
         SELECT $1, nextval('ladder_position'), event.topic, event.key, event.payload
         FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS event (topic, key, payload, n) ORDER BY n`,
        [lane, chunk.map(({ topic }) => topic), chunk.map(({ key }) => key), chunk.map(({ payload }) => payload)],
      );
      await database.query('COMMIT');
    }
  }
}

/** Resolves once every group has handled what the outbox holds now; in Kafka the relay is the only one. */
export async function untilHandled(database: PostgresSession, withinMs = 60_000): Promise<void> {
  const ends = await database.query<{ lane: number; position: number }>(
    'SELECT lane::int, max(position)::float8 AS position FROM outbox GROUP BY lane',
  );
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const behind = await database.query<{ consumer_group: string; lane: number }>(
      `SELECT o.consumer_group, o.lane::int FROM log_offsets o
       JOIN unnest($1::int[], $2::float8[]) AS ends (lane, position) USING (lane) WHERE o.position < ends.position`,
      [ends.map(({ lane }) => lane), ends.map(({ position }) => position)],
    );
    if (behind.length === 0) return;
    if (performance.now() > giveUpAt)
      throw new Error(`groups are behind after ${withinMs} ms: ${JSON.stringify(behind)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
