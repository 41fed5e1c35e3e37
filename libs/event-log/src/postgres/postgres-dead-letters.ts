import type { SqlRunner } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import type { Park, StoredRecord } from '../delivery/delivery.js';

/** Parks records of a group in `dead_letters`, once each. */
export const parkInto =
  (database: SqlRunner, group: string): Park =>
  async (record, cause) => {
    const parked = await database.query(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (consumer_group, lane, position, md5(payload)) DO NOTHING
       RETURNING lane`,
      [group, record.lane, record.position, record.topic, storable(record.key), storable(record.payload), cause],
    );
    metrics.deadLettersParked.inc({ group }, parked.length);
  };

/** A record to park, with the error that it failed with. */
export interface DeadLetter {
  record: Omit<StoredRecord, 'createdAtMs'>;
  cause: string;
}

/** Parks many records of a group at once, each once; all of them or, when it rejects, none. */
export type ParkAll = (letters: readonly DeadLetter[]) => Promise<void>;

export const parkAllInto =
  (database: SqlRunner, group: string): ParkAll =>
  async (letters) => {
    const records = letters.map(({ record }) => record);
    const parked = await database.query(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
       SELECT $1, letter.* FROM unnest($2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
         AS letter
       ON CONFLICT (consumer_group, lane, position, md5(payload)) DO NOTHING RETURNING lane`,
      [
        group,
        records.map(({ lane }) => lane),
        records.map(({ position }) => position),
        records.map(({ topic }) => topic),
        records.map(({ key }) => storable(key)),
        records.map(({ payload }) => storable(payload)),
        letters.map(({ cause }) => storable(cause)),
      ],
    );
    metrics.deadLettersParked.inc({ group }, parked.length);
  };

/** PostgreSQL's text holds no NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
