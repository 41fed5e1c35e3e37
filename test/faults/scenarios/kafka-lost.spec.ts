// Real: api, projector and gateway processes on PostgreSQL and Redis, and three brokers of the scenario's own, of which
// one is killed, or all; under load.
import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaEventLog, RELAY_GROUP } from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import { readTopic } from '../kafka-admin.js';
import { KafkaBrokers } from '../kafka-brokers.js';
import { openPostgres } from '../postgres-session.js';
import { Scenario } from '../scenario.js';

const ROUNDS = longOr(5, 1);
const AWAY_MS = longOr({ least: 60_000, most: 60_000 }, { least: 5000, most: 6000 });
const PREFIX = 'ladder';
const TOPIC = `${PREFIX}.entry-changed`;

describe.skipIf(!logsUnderTest().includes('kafka'))('Kafka lost under load', () => {
  let scenario: Scenario | undefined;
  let kafka: KafkaBrokers | undefined;
  let database: PostgresDatabase | undefined;
  afterEach(async () => {
    await scenario?.stop();
    await database?.close();
    await kafka?.stop();
  });

  it(
    'takes submissions all the while, shows its lag, and relays everything in order when it is back',
    async () => {
      kafka = await KafkaBrokers.start(3);
      const settings = { KAFKA_BROKERS: kafka.addresses, KAFKA_PREFIX: PREFIX };
      // Three brokers and the service share the machine with everything else: two boards say as much as four.
      const boards = ['faults-sum', 'faults-best'] as const;
      const clients = { clients: 4, perSecond: 10 };
      scenario = await Scenario.start({ fault: '3 Kafka lost', log: 'kafka', settings, boards, load: clients });
      const { installation, chance, load } = scenario;
      database = new PostgresDatabase({ url: installation.databaseUrl });
      await database.open({ migrate: false });
      const log = new KafkaEventLog(database, {
        brokers: settings.KAFKA_BROKERS.split(','),
        prefix: PREFIX,
        lanes: new Lanes(2),
        log: () => undefined,
      });
      const waiting = async (): Promise<{ events: number; seconds: number }> => {
        const lanes = await log.lag(RELAY_GROUP);
        return {
          events: lanes.reduce((sum, { events }) => sum + events, 0),
          seconds: Math.max(...lanes.map(({ seconds }) => seconds)),
        };
      };
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(chance.from(1000, 3000));
        // One that leads a lane: its records are what the others must have.
        const leader = await kafka.leaderOf(TOPIC, chance.below(2));
        await kafka.kill(leader);
        load.countAnew();
        await scenario.expectNotHeldUp('without one broker of three');
        await expect.poll(async () => (await waiting()).seconds, { timeout: 60_000, interval: 500 }).toBeLessThan(1);
        scenario.expectShortWaits('without one broker of three');
        await kafka.restart(leader);
        await sleep(chance.from(500, 2000));

        await kafka.killAll();
        load.countAnew();
        await sleep(chance.from(AWAY_MS.least, AWAY_MS.most));
        await scenario.expectNotHeldUp('without Kafka');
        expect((await waiting()).events, 'the lag was not shown').toBeGreaterThan(0);
        // How old it is grows with what was written first.
        await expect
          .poll(async () => (await waiting()).seconds, { message: 'its age was not shown' })
          .toBeGreaterThan(3);
        scenario.expectShortWaits('without Kafka');
        await kafka.restartAll();
      }
      expect(load.count(503) + load.count(0)).toBe(0);
      const { answered } = await scenario.prove(`${ROUNDS} times a leader of three killed, then all three`, {
        withinMs: 120_000,
      });
      expect(await missingOrDisordered(settings.KAFKA_BROKERS, installation.databaseUrl)).toEqual([]);
      expect(answered).toBeGreaterThan(0);
      await log.close();
    },
    longOr(1_500_000, 400_000),
  );
});

/** What the log has not of the versions that PostgreSQL has, and where a lane's first deliveries are not in order. */
async function missingOrDisordered(brokers: string, databaseUrl: string): Promise<string[]> {
  const found: string[] = [];
  const produced = await readTopic(brokers, TOPIC);
  const positions = new Set<number>();
  for (const [lane, records] of produced) {
    let last = 0;
    for (const { position } of records) {
      if (positions.has(position)) continue;
      positions.add(position);
      if (position < last) found.push(`lane ${lane}: ${position} came first after ${last}`);
      last = position;
    }
  }
  const database = await openPostgres(databaseUrl);
  const versions = await database.query<{ version: number }>('SELECT DISTINCT version::float8 FROM entries');
  await database.end();
  found.push(
    ...versions.filter(({ version }) => !positions.has(version)).map(({ version }) => `${version} is missing`),
  );
  return found;
}
