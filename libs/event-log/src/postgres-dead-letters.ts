import type { SqlRunner } from '@laddercast/ledger';
import type { Park } from './delivery.js';

/** Parks records of a group in `dead_letters`, once each. */
export const parkInto =
  (database: SqlRunner, group: string): Park =>
  async (record, cause) => {
    await database.query(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (consumer_group, lane, position) DO NOTHING`,
      [group, record.lane, record.position, record.topic, storable(record.key), storable(record.payload), cause],
    );
  };

/** PostgreSQL's text holds no NUL. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
