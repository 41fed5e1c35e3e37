// Real: api, projector and gateway processes whose database, Redis shard or broker hangs, is slow, half open or cut off:
// by a proxy between them, and for a broker and the shard of a cluster by SIGSTOP.
import { setTimeout as sleep } from 'node:timers/promises';
import { openTcpProxy, requiredService, type LogUnderTest, type TcpProxy } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startRedis } from '../../integration/nodes/redis-process.js';
import { call } from '../call.js';
import { longOr } from '../chance.js';
import { KafkaBrokers } from '../kafka-brokers.js';
import { PostgresProcess } from '../postgres-process.js';
import { formCluster } from '../redis-nodes.js';
import { Scenario } from '../scenario.js';
import { VitalSigns } from '../vital-signs.js';

const HANGS_MS = longOr(20_000, 8000);
/** Every time-out of the service, one after the other, and a loaded machine; in the long version less than it hangs. */
const ANSWERED_WITHIN_MS = longOr(14_000, 25_000);
/** What a process may take more while something hangs: its queues have limits. */
const GROWN_MEGABYTES_MAX = 250;
const BACK_WITHIN_MS = 60_000;

/** What is done to a connection, how long it stays so, and how it is undone. */
interface Way {
  harm(proxy: TcpProxy): void;
  lastsMs: number;
  mend(proxy: TcpProxy): void;
}

const WAYS: Record<string, Way> = {
  hangs: { harm: (proxy) => proxy.freeze(), lastsMs: HANGS_MS, mend: (proxy) => proxy.thaw() },
  'is half open': { harm: (proxy) => proxy.forsakeOpen(), lastsMs: HANGS_MS, mend: () => undefined },
  'is slow': { harm: (proxy) => proxy.delay(300), lastsMs: HANGS_MS, mend: (proxy) => proxy.delay(0) },
  'is cut off': { harm: (proxy) => proxy.cut(), lastsMs: HANGS_MS / 2, mend: (proxy) => proxy.mend() },
};
const TRIED = longOr(Object.keys(WAYS), ['hangs']);

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

interface Surroundings {
  fault: string;
  log?: LogUnderTest;
  databaseUrl?: string;
  auditDatabaseUrl?: string;
  redisUrl?: string;
  settings?: Record<string, string>;
}

async function begin(surroundings: Surroundings): Promise<{ scenario: Scenario; signs: VitalSigns }> {
  const settings = { LANE_QUEUE_MAX: '512', ...surroundings.settings };
  const scenario = await Scenario.start({ log: 'postgres', apis: 2, ...surroundings, settings });
  const signs = VitalSigns.watch(scenario.installation);
  opened.push({ close: () => scenario.stop() }, { close: () => signs.stop() });
  await sleep(1500);
  return { scenario, signs };
}

/** Submissions go on, every answer comes in time, memory is bounded, and all is whole when it is over. */
async function end({ scenario, signs }: Awaited<ReturnType<typeof begin>>, tried: string): Promise<void> {
  const answered = scenario.load.answered.size;
  await expect.poll(() => scenario.load.answered.size, { timeout: BACK_WITHIN_MS }).toBeGreaterThan(answered);
  signs.stop();
  await scenario.prove(`${tried}; memory grew by ${signs.grownMegabytes.toFixed(0)} MB at most`);
  expect(scenario.load.slowestMs).toBeLessThan(ANSWERED_WITHIN_MS);
  expect(signs.grownMegabytes).toBeLessThan(GROWN_MEGABYTES_MAX);
}

describe('a database that does not answer', () => {
  it(
    'costs time-outs and 503, never memory, and is caught up with',
    async () => {
      const postgres = await PostgresProcess.start();
      opened.push({ close: () => postgres.remove() });
      const proxy = await openTcpProxy('127.0.0.1', postgres.port);
      opened.push(proxy);
      const databaseUrl = postgres.url.replace(String(postgres.port), String(proxy.port));
      const running = await begin({ fault: '5 database hangs', databaseUrl, auditDatabaseUrl: postgres.url });
      const { load, readers } = running.scenario;
      // A board that changes is read from PostgreSQL anew.
      await running.scenario.untilSeasonIsSettled();
      await sleep(2000);
      for (const way of TRIED) {
        const refused = load.count(503);
        const { harm, lastsMs, mend } = WAYS[way]!;
        harm(proxy);
        readers.take();
        const lasted = sleep(lastsMs);
        if (way === 'hangs') {
          await sleep(500);
          const flood = await floodOf(running.scenario);
          expect(flood.codes, 'more waited than LANE_QUEUE_MAX').toContain('OVERLOADED');
          expect(flood.withoutRetryAfter).toBe(0);
        }
        await lasted;
        running.scenario.expectReadsWentOn(`while the database ${way}`);
        mend(proxy);
        // By now the time-outs of what waited when it hung are over.
        if (way === 'hangs') {
          const message = 'no submission of the load was refused';
          await expect.poll(() => load.count(503), { message }).toBeGreaterThan(refused);
        }
        await sleep(3000);
      }
      await end(running, TRIED.join(', '));
    },
    longOr(400_000, 300_000),
  );
});

describe('a Redis that does not answer', () => {
  it(
    'holds up no submission, and is caught up with',
    async () => {
      const redis = await startRedis();
      opened.push({ close: () => redis.stop() });
      const proxy = await openTcpProxy('127.0.0.1', redis.port);
      opened.push(proxy);
      const running = await begin({ fault: '5 Redis hangs', redisUrl: `redis://127.0.0.1:${proxy.port}` });
      const { load } = running.scenario;
      for (const way of TRIED) {
        const { harm, lastsMs, mend } = WAYS[way]!;
        harm(proxy);
        load.countAnew();
        await sleep(lastsMs);
        await running.scenario.expectNotHeldUp(`while Redis ${way}`);
        mend(proxy);
        await sleep(2000);
        running.scenario.expectShortWaits(`after Redis ${way}`);
      }
      expect(load.count(503) + load.count(0), 'a submission was refused because of Redis').toBe(0);
      await end(running, TRIED.join(', '));
    },
    longOr(400_000, 300_000),
  );

  it(
    'may be one shard of three: the others go on, and no submission waits',
    async () => {
      const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
      args.push('--cluster-require-full-coverage', 'no');
      const nodes = await Promise.all([0, 1, 2].map(() => startRedis({ args })));
      opened.push(...nodes.map((node) => ({ close: () => node.stop() })));
      await formCluster(nodes);
      const running = await begin({ fault: '5 Redis shard hangs', redisUrl: nodes.map(({ url }) => url).join(',') });
      const { load, chance } = running.scenario;
      for (let pause = 0; pause < longOr(3, 1); pause += 1) {
        const { pid } = chance.oneOf(nodes);
        process.kill(pid, 'SIGSTOP');
        load.countAnew();
        await sleep(HANGS_MS);
        await running.scenario.expectNotHeldUp('while a shard hung');
        process.kill(pid, 'SIGCONT');
        await sleep(2000);
        running.scenario.expectShortWaits('after a shard hung');
      }
      expect(load.count(503) + load.count(0), 'a submission was refused because of Redis').toBe(0);
      await end(running, 'SIGSTOP of one master of three');
    },
    longOr(400_000, 300_000),
  );
});

describe('a broker that does not answer', () => {
  const isThere = process.env.TEST_KAFKA_BROKERS !== undefined || process.env.REQUIRE_KAFKA === '1';
  if (!isThere) process.stderr.write('A hanging broker is left out: there is no Kafka. Run "npm test".\n');

  it.skipIf(!isThere)(
    'holds up no submission, and is caught up with',
    async () => {
      requiredService('TEST_KAFKA_BROKERS');
      const brokers = await KafkaBrokers.start(1);
      opened.push({ close: () => brokers.stop() });
      const settings = { KAFKA_BROKERS: brokers.addresses };
      const running = await begin({ fault: '5 broker hangs', log: 'kafka', settings });
      const { load } = running.scenario;
      for (let pause = 0; pause < longOr(3, 1); pause += 1) {
        brokers.pause(1);
        load.countAnew();
        await sleep(longOr(30_000, HANGS_MS));
        await running.scenario.expectNotHeldUp('while the broker hung');
        brokers.resume(1);
        await sleep(2000);
        running.scenario.expectShortWaits('after the broker hung');
      }
      expect(load.count(503) + load.count(0), 'a submission was refused because of Kafka').toBe(0);
      await end(running, 'SIGSTOP of the broker');
    },
    longOr(400_000, 300_000),
  );
});

/** More submissions at once than the lanes may hold, and the codes that were refused. */
async function floodOf({
  installation,
  load,
  chance,
}: Scenario): Promise<{ codes: string[]; withoutRetryAfter: number }> {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, batch) => {
      const submissions = Array.from({ length: 500 }, (_, at) => ({
        board: 'faults-sum' as const,
        submissionId: `flood-${chance.seed}-${batch}-${at}`,
        playerId: `p${at % 60}`,
        score: 1,
      }));
      for (const run of submissions) load.sent.add(run.board, run);
      const url = `${installation.apis[0]!.url}/v1/scores`;
      return call(url, { method: 'POST', key: installation.adminKey, body: { submissions }, timeoutMs: 30_000 });
    }),
  );
  const problems = answers.flatMap(({ status, body }) =>
    status === 200
      ? (body as { results: { problem?: Problem }[] }).results.flatMap(({ problem }) => problem ?? [])
      : [body as Problem],
  );
  return {
    codes: [...new Set(problems.map(({ code }) => code))],
    withoutRetryAfter: problems.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined).length,
  };
}

interface Problem {
  code: string;
  retryAfterSeconds?: number;
}
