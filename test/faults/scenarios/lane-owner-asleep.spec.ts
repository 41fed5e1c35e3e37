// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka; of two apis, one of which owns a lane of the
// other's writes, that one is stopped by SIGSTOP for less and for more than its lease, and goes on where it was.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import type { FaultInstallation, FaultyApp } from '../installation.js';
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
  afterEach(() => scenario?.stop());

  it(
    `holds up no write of others, and doubles none when it wakes, in ${ROUNDS} rounds`,
    async () => {
      const loadOn = ({ apis }: FaultInstallation): FaultyApp[] => apis.slice(0, 1);
      scenario = await Scenario.start({ fault: '10 lane owner asleep', log, apis: 2, loadOn });
      const { installation, chance, load } = scenario;
      const [sender, owner] = installation.apis;
      const handedOver = (answer: string): Promise<number> =>
        sender!.metric(`laddercast_lane_writes_handed_over_total{answer="${answer}"}`);
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await handedOver('came');
        await expect
          .poll(() => handedOver('came'), { message: 'no write was handed over' })
          .toBeGreaterThan(before + 10);
        await sleep(chance.from(AWAKE_MS.least, AWAKE_MS.most));
        const answered = load.answered.size;
        owner!.pause();
        const { least, most } = ASLEEP_MS[round % ASLEEP_MS.length]!;
        await sleep(chance.from(least, most));
        await expect
          .poll(() => load.answered.size, { message: 'no submission was answered while the owner slept' })
          .toBeGreaterThan(answered + 10);
        owner!.resume();
      }
      // Put to sleep within a commit it holds the lane, until PostgreSQL ends its session: what waits so long is refused.
      expect(load.count(503), 'submissions were refused').toBeLessThan(load.answered.size / 10);
      expect(await handedOver('none')).toBeGreaterThan(0);
      await scenario.prove(`${ROUNDS} times asleep`);
    },
    longOr(600_000, 300_000),
  );
});
