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
/** How long there is no master, at least. */
const AWAY_MS = 2500;
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
      watched = await startWatchedRedis({ downAfterMs: AWAY_MS });
      const fault = '2 Redis failed over by sentinels';
      scenario = await Scenario.start({ fault, log, redisUrl: watched.url, apis: 2, gateways: 2 });
      const { installation, chance, load, spectators } = scenario;
      const marks = await openMarks(installation.databaseUrl, watched.url);
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(chance.from(1000, 2500));
        const { from } = await watched.failOver(() => load.countAnew());
        expect(load.sentAndAnswered.length, 'too few submissions were answered without a master').toBeGreaterThan(10);
        await expect.poll(marks.behind, { timeout: WHOLE_WITHIN_MS }).toBe(0);
        scenario.expectShortWaits('until the new master was whole');
        expect(load.count(503) + load.count(0), 'submissions were refused').toBe(0);
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
