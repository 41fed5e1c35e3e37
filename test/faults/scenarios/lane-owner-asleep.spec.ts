// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka; of two apis, one of which owns a lane of the
// other's writes, that one is stopped by SIGSTOP for less and for more than its lease, and goes on where it was.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import type { FaultInstallation, FaultyApp } from '../installation.js';
import { openPostgres, type PostgresSession } from '../postgres-session.js';
import { Scenario } from '../scenario.js';

const ROUNDS = longOr(12, 2);
/** Its lease has run out after 6 s. */
const ASLEEP_MS = [
  { least: 300, most: 2000 },
  { least: 7000, most: 9000 },
];
const AWAKE_MS = longOr({ least: 1000, most: 8000 }, { least: 3000, most: 4000 });

describe.each(logsUnderTest())('the owner of a lane asleep under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let database: PostgresSession | undefined;
  afterEach(async () => {
    await database?.end();
    await scenario?.stop();
  });

  it(
    `holds up no write of others, and doubles none when it wakes, in ${ROUNDS} rounds`,
    async () => {
      const loadOn = ({ apis }: FaultInstallation): FaultyApp[] => apis.slice(0, 1);
      scenario = await Scenario.start({ fault: '10 lane owner asleep', log, apis: 2, loadOn });
      const { installation, chance, load } = scenario;
      database = await openPostgres(installation.databaseUrl);
      const [sender, owner] = installation.apis;
      const handedOver = (answer: string): Promise<number> =>
        sender!.metric(`laddercast_lane_writes_handed_over_total{answer="${answer}"}`);
      let round = 0;
      for (let judged = 0; round < ROUNDS || judged === 0; round += 1) {
        const before = await handedOver('came');
        await expect
          .poll(() => handedOver('came'), { message: 'no write was handed over' })
          .toBeGreaterThan(before + 10);
        await sleep(chance.from(AWAKE_MS.least, AWAKE_MS.most));
        owner!.pause();
        load.countAnew();
        const { least, most } = ASLEEP_MS[round % ASLEEP_MS.length]!;
        await sleep(least);
        // Put to sleep within a commit it holds the lane, until PostgreSQL ends its session.
        const holdsLane = await isWithinTransaction(database, least / 2);
        await sleep(chance.from(0, most - least));
        await expect
          .poll(() => load.sentAndAnswered.length, { message: 'no submission was answered while the owner slept' })
          .toBeGreaterThan(10);
        if (!holdsLane) {
          await scenario.expectNotHeldUp('while the owner slept');
          judged += 1;
        }
        owner!.resume();
      }
      // What waits long for a lane that a sleeper holds is refused.
      expect(load.count(503), 'submissions were refused').toBeLessThan(load.answered.size / 10);
      expect(await handedOver('none')).toBeGreaterThan(0);
      await scenario.prove(`${round} times asleep`);
    },
    longOr(600_000, 300_000),
  );
});

/** Whether a session is within a transaction, and has not done anything for so long. */
async function isWithinTransaction(database: PostgresSession, ms: number): Promise<boolean> {
  const rows = await database.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
       AND extract(epoch FROM clock_timestamp() - state_change) * 1000 > $1`,
    [ms],
  );
  return rows.length > 0;
}
