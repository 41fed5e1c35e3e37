// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka, killed with SIGKILL at random instants
// under load, one at a time and together, and started again.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import type { FaultyApp } from '../installation.js';
import { Scenario } from '../scenario.js';

const ROUNDS = longOr(20, 3);
/** Between two kills: the processes are at work again, and have not finished. */
const LIFE_MS = { least: longOr(500, 200), most: longOr(3000, 1000) };

describe.each(logsUnderTest())('processes killed under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  afterEach(() => scenario?.stop());

  it(
    `loses and doubles nothing in ${ROUNDS} rounds`,
    async () => {
      scenario = await Scenario.start({ fault: '1 processes killed', log, apis: 2, projectors: 2, gateways: 2 });
      const { installation, chance, load } = scenario;
      const kinds = [installation.apis, installation.projectors, installation.gateways];
      let killed = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        // One, then one of each, then all: in turn, so that the shortest run has each of them.
        const victims: FaultyApp[] =
          round % 3 === 0
            ? [chance.oneOf(installation.apps)]
            : round % 3 === 1
              ? kinds.map((kind) => chance.oneOf(kind))
              : installation.apps;
        await Promise.all(
          victims.map(async (victim) => {
            // Together, and yet each at an instant of its own.
            await sleep(chance.below(30));
            await victim.kill();
          }),
        );
        killed += victims.length;
        await sleep(chance.below(500));
        await Promise.all(victims.map((victim) => installation.restart(victim)));
      }
      await scenario.prove(`${killed} kills in ${ROUNDS} rounds`);
      expect(load.count(0), 'no request was cut off by a kill').toBeGreaterThan(0);
    },
    longOr(1_200_000, 300_000),
  );
});
