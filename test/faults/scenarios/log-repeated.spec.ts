// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka, under load: whole segments of the log come
// again, in another order; offsets are set back; projectors sleep past their leases; a topic is made anew.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest, requiredService, type LogUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from '../call.js';
import { longOr, type Chance } from '../chance.js';
import { forgetGroups, untilRead, withKafkaAdmin } from '../kafka-admin.js';
import { openPostgres, type PostgresSession } from '../postgres-session.js';
import { lastEvents, redeliver, untilHandled, type StoredEvent } from '../redelivery.js';
import { openRedis } from '../redis-session.js';
import { Scenario } from '../scenario.js';

/** In the short version offsets are not set back in Kafka, where that waits for members who are gone. */
const roundsOn = (log: LogUnderTest): number => longOr(15, log === 'kafka' ? 2 : 3);
const SEGMENTS_EVENTS_MAX = 5000;
/** Past every lease (4 s) and session (6 s) of a projector. */
const ASLEEP_MS = longOr({ least: 4500, most: 15_000 }, { least: 6500, most: 7500 });
/** For how long nothing is read of what the log is given. */
const UNREAD_MS = 6000;
const ONCE = 20;
const GROUPS = ['score', 'guild', 'history', 'board', 'player', 'window'];

let scenario: Scenario | undefined;
let database: PostgresSession | undefined;
let redis: ReturnType<typeof openRedis> | undefined;
let prefix: string;
afterEach(async () => {
  redis?.disconnect();
  await database?.end();
  await scenario?.stop();
});

async function start(log: LogUnderTest, fault: string): Promise<{ scenario: Scenario; database: PostgresSession }> {
  prefix = `test-${randomBytes(6).toString('hex')}`;
  const settings: Record<string, string> = log === 'kafka' ? { KAFKA_PREFIX: prefix } : {};
  scenario = await Scenario.start({ fault, log, projectors: 2, settings });
  database = await openPostgres(scenario.installation.databaseUrl);
  return { scenario, database };
}

describe.each(logsUnderTest())('events that come again under load, over the log in %s', (log) => {
  it(
    'change nothing: whole segments in another order, offsets set back, projectors that slept past their leases',
    async () => {
      await start(log, '6 events again, and in another order');
      const { chance } = scenario!;
      const tried: string[] = [];
      for (let round = 0; round < roundsOn(log); round += 1) {
        await sleep(chance.from(1000, 2000));
        const turn = [segmentsAgain, projectorsAsleep, offsetsSetBack][round % 3]!;
        tried.push(await turn(log, chance));
      }
      // Once more at the end, when nothing newer comes that would hide what an old event did.
      await scenario!.load.stop();
      await untilHandled(database!);
      tried.push(await segmentsAgain(log, chance));
      await untilHandled(database!);
      if (log === 'kafka') await untilRead(brokers(), `${prefix}.score`, `${prefix}.entry-changed`);
      await scenario!.prove(tried.join(', '));
      expect(await database!.query('SELECT cause FROM dead_letters')).toEqual([]);
    },
    longOr(900_000, 300_000),
  );
});

describe.skipIf(!logsUnderTest().includes('kafka'))('a topic that is deleted under load', () => {
  it(
    'is made anew, and what it held comes from PostgreSQL',
    async () => {
      await start('kafka', '6 a topic made anew');
      const { chance } = scenario!;
      const rounds = longOr(4, 1);
      redis = openRedis(requiredService('TEST_REDIS_URL'));
      for (let round = 0; round < rounds; round += 1) {
        await sleep(chance.from(1500, 3000));
        // The sagas wait for Redis with what they have in hand, and the relay goes on: what it brings now is read by nobody.
        await redis.call('CLIENT', 'PAUSE', String(UNREAD_MS), 'ALL');
        await sleep(1000);
        await submitOnce(scenario!, round);
        await untilHandled(database!);
        const incarnation = await incarnationOf(database!);
        await withKafkaAdmin(brokers(), (admin) => admin.deleteTopics({ topics: [`${prefix}.entry-changed`] }));
        await expect.poll(() => isWholeAfter(database!, incarnation), { timeout: 120_000 }).toBe(true);
      }
      await scenario!.prove(`${rounds} times deleted with events that nobody had read`);
    },
    longOr(900_000, 300_000),
  );
});

/** How often the log was found to be another one. */
async function incarnationOf(database: PostgresSession): Promise<number> {
  const [row] = await database.query<{ value: string }>(
    `SELECT value FROM installation WHERE name = 'log-incarnation'`,
  );
  return Number(row?.value ?? 0);
}

/** Whether the log was found to be another one since, and all that was lost with it is there again. */
async function isWholeAfter(database: PostgresSession, incarnation: number): Promise<boolean> {
  const lost = await database.query(`SELECT 1 FROM installation WHERE name = 'log-lost'`);
  return lost.length === 0 && (await incarnationOf(database)) > incarnation;
}

/** Players who submit now and never again: no later event of theirs makes up for one that is lost. */
async function submitOnce({ installation, load }: Scenario, round: number): Promise<void> {
  const { apis, adminKey } = installation;
  const submissions = Array.from({ length: ONCE }, (_, at) => {
    const playerId = `once-${round}-${at}`;
    return { board: 'faults-best' as const, submissionId: playerId, playerId, score: 1 + at };
  });
  for (const run of submissions) load.sent.add(run.board, run);
  const { status } = await call(`${apis[0]!.url}/v1/scores`, { method: 'POST', key: adminKey, body: { submissions } });
  expect(status).toBe(200);
}

const brokers = (): string => requiredService('TEST_KAFKA_BROKERS');

/** Whole segments, each in order or not, come once more behind all others. */
async function segmentsAgain(_log: LogUnderTest, chance: Chance): Promise<string> {
  const events = await lastEvents(database!, SEGMENTS_EVENTS_MAX);
  const segments: StoredEvent[][] = [];
  while (events.length > 0) segments.push(events.splice(0, chance.from(1, 400)));
  shuffle(segments, chance);
  const again = segments.flatMap((segment) => (chance.isUnder(0.5) ? shuffle(segment, chance) : segment));
  await redeliver(database!, again);
  return `${again.length} events again`;
}

/** One projector sleeps past its leases; another takes them, and both believe that they hold them. */
async function projectorsAsleep(_log: LogUnderTest, chance: Chance): Promise<string> {
  const { installation } = scenario!;
  for (const asleep of longOr(installation.projectors, [chance.oneOf(installation.projectors)])) {
    asleep.pause();
    await sleep(chance.from(ASLEEP_MS.least, ASLEEP_MS.most));
    asleep.resume();
    await sleep(chance.below(500));
  }
  return longOr('each projector asleep past its leases', 'a projector asleep past its leases');
}

/** Everything that the log still holds is read once more. */
async function offsetsSetBack(log: LogUnderTest, chance: Chance): Promise<string> {
  const { installation } = scenario!;
  await Promise.all(installation.projectors.map((projector) => projector.kill()));
  if (log === 'kafka') {
    const groups = GROUPS.map((group) => `${prefix}.${group}`);
    await forgetGroups(brokers(), groups);
  }
  // In Kafka it is the relay that begins again, and every event comes a third time.
  await database!.query('UPDATE log_offsets SET position = 0');
  await sleep(chance.below(500));
  await Promise.all(installation.projectors.map((projector) => installation.restart(projector)));
  return 'offsets set back to the beginning';
}

function shuffle<T>(all: T[], chance: Chance): T[] {
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = chance.below(at + 1);
    [all[at], all[other]] = [all[other]!, all[at]!];
  }
  return all;
}
