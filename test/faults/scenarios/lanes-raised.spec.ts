// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka; lanes are raised under load, and processes are killed
// on both sides of that: who asked for it, who writes, and who follows the log.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from '../call.js';
import { longOr } from '../chance.js';
import type { FaultyApp } from '../installation.js';
import { LogFollower } from '../log-follower.js';
import { openPostgres } from '../postgres-session.js';
import { Scenario } from '../scenario.js';

const COUNTS = longOr([4, 8, 16], [4, 8]);
const LIFE_MS = { least: 300, most: longOr(3000, 1000) };

describe.each(logsUnderTest())('lanes raised under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let follower: LogFollower | undefined;
  afterEach(async () => {
    await follower?.close();
    await scenario?.stop();
  });

  it(
    `lose, double and reorder nothing, whoever is killed meanwhile: ${COUNTS.join(', ')}`,
    async () => {
      scenario = await Scenario.start({ fault: '11 lanes raised', log, apis: 2, projectors: 2, gateways: 2 });
      const { installation, chance, load } = scenario;
      const { apis, projectors, adminKey } = installation;
      follower = await LogFollower.start(installation);
      const raise = (by: FaultyApp, lanes: number): Promise<{ status: number }> =>
        call(`${by.url}/v1/admin/lanes`, { method: 'PUT', key: adminKey, body: { lanes } });
      let killed = 0;
      const kill = async (victim: FaultyApp): Promise<void> => {
        await sleep(chance.below(400));
        await victim.kill();
        killed += 1;
        await sleep(chance.below(300));
        await installation.restart(victim);
      };
      for (const [round, lanes] of COUNTS.entries()) {
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        const asked = apis[round % apis.length]!;
        follower.hold();
        // In turn: who asked, and one of each.
        const victims = round % 2 === 0 ? [asked, ...projectors] : [chance.oneOf(apis), chance.oneOf(projectors)];
        await Promise.all([raise(asked, lanes), ...victims.map(kill)]);
        // Whether it was answered or not: asked again it is no other raise.
        expect((await raise(asked, lanes)).status).toBe(200);
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        follower.goOn();
        await kill(chance.oneOf(installation.apps));
      }
      const answered = load.answered.size;
      await expect.poll(() => load.answered.size, { message: 'nothing was answered' }).toBeGreaterThan(answered + 50);
      await scenario.prove(`2 lanes became ${COUNTS.join(', ')}, ${killed} kills`);
      expect(await follower.faults(load.answered.values())).toEqual([]);
      expect(follower.moved, 'players that left their lanes').toBeGreaterThan(0);
      const database = await openPostgres(installation.databaseUrl);
      const told = await database.query<{ lane: number }>(
        'SELECT DISTINCT lane::int FROM projected_positions ORDER BY lane',
      );
      await database.end();
      expect(
        told.map(({ lane }) => lane),
        'lanes that nothing was projected of',
      ).toEqual(Array.from({ length: COUNTS.at(-1)! }, (_, lane) => lane));
    },
    longOr(900_000, 300_000),
  );
});
