// Real: api, projector and gateway processes, PostgreSQL, Kafka, and a Redis of the scenario's own: stopped, and then
// answering again with nothing, with an older dump, or as a replica that had lagged; under load, readers and spectators.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest, type LogUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from '../call.js';
import { longOr } from '../chance.js';
import { openMarks } from '../lane-marks.js';
import { RedisServer } from '../redis-server.js';
import { Scenario } from '../scenario.js';

/** In the short version the three ways are tried on one log, and any of them on the other. */
const roundsOn = (log: LogUnderTest): number => longOr(12, log === 'kafka' ? 1 : 3);
/** How long nothing answers. */
const AWAY_MS = longOr({ least: 1000, most: 12_000 }, { least: 1500, most: 2500 });
/** How much is written that the dump or the replica does not know. */
const FORGOTTEN_MS = longOr({ least: 1000, most: 6000 }, { least: 1000, most: 1500 });
const WHOLE_WITHIN_MS = 60_000;

describe.each(logsUnderTest())('Redis lost under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let redis: RedisServer | undefined;
  afterEach(async () => {
    await scenario?.stop();
    await redis?.stop();
  });

  it(
    'takes submissions all the while, shows nothing that never was, and has all again by itself',
    async () => {
      redis = await RedisServer.start();
      scenario = await Scenario.start({ fault: '2 Redis lost', log, redisUrl: redis.url, apis: 2, gateways: 2 });
      const { installation, chance, load, spectators, readers } = scenario;
      const marks = await openMarks(installation.databaseUrl, redis.url);
      const tried: string[] = [];
      const first = longOr(0, log === 'kafka' ? chance.below(3) : 0);
      for (let round = first; round < first + roundsOn(log); round += 1) {
        await sleep(chance.from(1000, 2000));
        readers.take();
        // What is shown while nothing can be asked was seen before.
        await expect
          .poll(() => readers.untaken.list.before, { message: 'no list came from a snapshot' })
          .toBeGreaterThan(0);
        readers.take();
        const [what, comeBack] = await loss(round, redis, chance);
        load.countAnew();
        tried.push(what);
        await sleep(chance.from(AWAY_MS.least, AWAY_MS.most));
        await scenario.expectNotHeldUp(`while Redis was away (${what})`);
        expect(load.count(503) + load.count(0), `submissions were refused while Redis was away (${what})`).toBe(0);
        expect(await rankOf(scenario, round), what).toMatchObject({
          outcome: 'created',
          accuracy: expect.stringMatching(/^(none|estimated)$/),
        });
        const { untaken: away } = readers;
        await expect
          .poll(() => away.list.oldestMs, { message: `no list came from its last snapshot, with its age (${what})` })
          .toBeGreaterThan(500);
        await expect
          .poll(() => away.player.refused, { message: `no reader of a shard was sent away (${what})` })
          .toBeGreaterThan(0);
        await comeBack();
        await expect.poll(marks.behind, { timeout: WHOLE_WITHIN_MS, message: what }).toBe(0);
        scenario.expectShortWaits(`until Redis was whole again (${what})`);
        expect(load.count(503) + load.count(0), `submissions were refused (${what})`).toBe(0);
      }
      await marks.close();
      await scenario.prove(tried.join(', '), { withinMs: WHOLE_WITHIN_MS });
      expect(spectators.map(({ wentBack }) => wentBack).filter(Boolean), 'numbers fell').toEqual([]);
    },
    longOr(900_000, 300_000),
  );
});

/** Takes Redis away in the way whose turn it is, and says what it was and how something comes back. */
async function loss(
  round: number,
  redis: RedisServer,
  chance: Scenario['chance'],
): Promise<[what: string, comeBack: () => Promise<void>]> {
  const forgotten = (): Promise<void> => sleep(chance.from(FORGOTTEN_MS.least, FORGOTTEN_MS.most));
  switch (round % 3) {
    case 0:
      await redis.kill();
      return ['restarted empty', () => redis.startEmpty()];
    case 1: {
      const dump = await redis.keepDump();
      await forgotten();
      await redis.kill();
      return ['restarted with an older dump', () => redis.startFrom(dump)];
    }
    default: {
      const replica = await redis.addReplica();
      replica.lag();
      await forgotten();
      await redis.kill();
      return ['failed over to a replica that lagged', () => replica.failOver()];
    }
  }
}

/** A submission of somebody new, and what it says of the rank. */
async function rankOf({ installation, load }: Scenario, round: number): Promise<{ outcome: string; accuracy: string }> {
  const body = { submissionId: `away-${round}`, playerId: `away-${round}`, score: 7 };
  load.sent.add('faults-best', body);
  const url = `${installation.apis[0]!.url}/v1/boards/faults-best/scores`;
  const answer = await call(url, { method: 'POST', key: installation.adminKey, body });
  const { outcome, rank } = answer.body as { outcome: string; rank: { accuracy: string } | null };
  return { outcome, accuracy: rank?.accuracy ?? 'none' };
}
