// Real: api, projector and gateway processes, PostgreSQL, Kafka, and a Redis with replicas and sentinels of the scenario's own:
// the master is killed, and the sentinels make another one; under load, readers and spectators.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startWatchedRedis, type WatchedRedis } from '../../integration/nodes/redis-sentinels.js';
import { longOr } from '../chance.js';
import { openMarks } from '../lane-marks.js';
import { Scenario } from '../scenario.js';

const ROUNDS = longOr(8, 2);
const WHOLE_WITHIN_MS = 60_000;

describe.each(logsUnderTest())('a master that sentinels replace under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let watched: WatchedRedis | undefined;
  afterEach(async () => {
    await scenario?.stop();
    await watched?.stop();
  });

  it(
    'takes submissions all the while, shows nothing that never was, and follows the new master by itself',
    async () => {
      watched = await startWatchedRedis();
      const fault = '2 Redis failed over by sentinels';
      scenario = await Scenario.start({ fault, log, redisUrl: watched.url, apis: 2, gateways: 2 });
      const { installation, chance, load, spectators } = scenario;
      const marks = await openMarks(installation.databaseUrl, watched.url);
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(chance.from(1000, 2500));
        const answering = load.answered.size;
        const { from } = await watched.failOver();
        await expect
          .poll(() => load.answered.size, { message: 'no submission was answered while there was no master' })
          .toBeGreaterThan(answering);
        expect(load.count(503), 'submissions were refused while there was no master').toBe(0);
        await expect.poll(marks.behind, { timeout: WHOLE_WITHIN_MS }).toBe(0);
        await watched.revive(from);
      }
      await marks.close();
      await scenario.prove(`${ROUNDS} masters killed, each time one of two replicas made the master`, {
        withinMs: WHOLE_WITHIN_MS,
      });
      expect(spectators.map(({ wentBack }) => wentBack).filter(Boolean), 'numbers fell').toEqual([]);
    },
    longOr(900_000, 300_000),
  );
});
