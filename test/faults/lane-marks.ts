import { RedisConnection, RedisLaneMarks } from '@laddercast/projections';
import { openPostgres } from './postgres-session.js';

/** The marks of the lanes in a Redis, beside what PostgreSQL says of them. */
export interface LaneMarks {
  /** How many lanes have a mark that is behind, or none: what they brought is missing in part. */
  behind(): Promise<number>;
  close(): Promise<void>;
}

export async function openMarks(databaseUrl: string, redisUrl: string): Promise<LaneMarks> {
  const database = await openPostgres(databaseUrl);
  const [installation] = await database.query<{ value: string }>(`SELECT value FROM installation WHERE name = 'id'`);
  const connection = new RedisConnection({ url: redisUrl, namespace: `${installation!.value}:` });
  await connection.connect();
  const marks = new RedisLaneMarks(connection);
  return {
    behind: async () => {
      const lanes = await database.query<{ lane: number; position: number }>(
        'SELECT lane::int, position::float8 FROM projected_positions',
      );
      const read = await Promise.all(lanes.map(({ lane }) => marks.readMark(lane).catch(() => null)));
      return lanes.filter(({ position }, at) => (read[at] ?? -1) < position).length;
    },
    close: async () => {
      await connection.close();
      await database.end();
    },
  };
}
