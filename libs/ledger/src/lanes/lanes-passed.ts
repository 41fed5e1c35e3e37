import { LadderError } from '@laddercast/domain';
import { monotonicMs, sleep } from '@laddercast/platform';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';

const LOOK_EVERY_MS = 10;
/** Who writes to all boards holds the lanes for longer than any group commit. */
const WAITED_FOR_MS = 5000;

const HOLDERS = prepared(`
  SELECT objid || ' ' || virtualtransaction AS holder FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${ADVISORY_LOCKS.lanes} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);

/**
 * Resolves once every lane has passed all log positions drawn until now: what was written under one of them is committed,
 * or never will be. Positions are drawn under the lock of a lane, which is held to the commit, so it is enough to see each
 * present holder gone. Nobody waits for this.
 * @throws OVERLOADED when a lane is held for seconds
 */
export async function lanesPassed(database: SqlRunner): Promise<void> {
  const untilMs = monotonicMs() + WAITED_FOR_MS;
  let holding: string[] | null = null;
  for (;;) {
    const present = new Set((await database.query<{ holder: string }>(HOLDERS)).map(({ holder }) => holder));
    holding = (holding ?? [...present]).filter((holder) => present.has(holder));
    if (holding.length === 0) return;
    if (monotonicMs() > untilMs) throw new LadderError('OVERLOADED', 'A lane is held for seconds; try again shortly.');
    await sleep(LOOK_EVERY_MS);
  }
}
