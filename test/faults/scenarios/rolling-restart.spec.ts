// Real: two of each process, restarted one after the other by SIGTERM behind a load balancer that goes by
// /health/ready, under load of clients that never try a request twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ALL_BOARDS, makeBoards } from '../boards.js';
import { call } from '../call.js';
import { Chance, longOr } from '../chance.js';
import { audit } from '../audit.js';
import { FaultInstallation } from '../installation.js';
import { LoadBalancer } from '../load-balancer.js';
import { Load } from '../load.js';
import { openSpectators, type Spectator } from '../spectators.js';
import { record } from '../table.js';

const ROUNDS = longOr(4, 1);
const DRAIN_MS = 1500;
/** The drain and what takes time after it, far below the 20 s at which the process would be ended. */
const STOPPED_WITHIN_SECONDS = 10;
const PLAYERS = 60;
const RESTART_CODE = 1012;

describe.each(longOr(logsUnderTest(), logsUnderTest().slice(-1)))(
  'a rolling restart of two of each, over the log in %s',
  (log) => {
    let installation: FaultInstallation | undefined;
    let balancers: LoadBalancer[] = [];
    let spectators: Spectator[] = [];
    afterEach(async () => {
      for (const spectator of spectators) spectator.close();
      for (const balancer of balancers) await balancer.close();
      await installation?.stop();
      balancers = [];
    });

    it(
      'loses no request, and sends every spectator to the other gateway with 1012',
      async () => {
        const chance = Chance.of(`rolling restart, log ${log}`);
        const settings = { STOP_DRAIN_MS: String(DRAIN_MS) };
        installation = await FaultInstallation.start({ log, apis: 2, projectors: 2, gateways: 2, settings });
        await makeBoards(installation, ALL_BOARDS);
        balancers = await Promise.all(
          [installation.apis, installation.gateways].map((apps) => LoadBalancer.before(apps)),
        );
        const [api, live] = balancers as [LoadBalancer, LoadBalancer];
        spectators = openSpectators(installation, ALL_BOARDS, PLAYERS, chance.fork(1), [live.url]);
        const load = Load.start(installation, {
          clients: 6,
          boards: ALL_BOARDS,
          players: PLAYERS,
          seed: chance.seed,
          perSecond: 50,
          urls: [api.url],
        });
        const reads = new Reads(api.url, installation.adminKey);
        const ends: { name: string; code: number | null; signal: string | null; seconds: number; output: string }[] =
          [];
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const app of installation.apps) {
            await sleep(chance.between(200, 600));
            const end = await app.terminate();
            ends.push({ name: app.name, ...end, output: app.output });
            await app.start();
            // The next one goes when this one is used again.
            await Promise.all(balancers.map((balancer) => balancer.uses(app)));
          }
        }
        const answered = await load.stop();
        await reads.stop();
        for (const { name, code, seconds, output } of ends) {
          expect({ name, code }, output).toEqual({ name, code: 0 });
          expect(seconds, output).toBeLessThan(STOPPED_WITHIN_SECONDS);
        }
        const result = await audit(installation, answered, spectators);
        const { faults, lost, doubled, ...counts } = result;
        record({
          fault: 'rolling restart',
          log,
          tried: `${ends.length} restarts, ${load.count(200)} submissions and ${reads.answered} reads sent once`,
          ...counts,
          lost: lost.length,
          doubled: doubled.length,
        });
        expect({ lost, doubled, faults }).toEqual({ lost: [], doubled: [], faults: [] });
        expect(api.failures).toEqual([]);
        expect([...load.statuses.keys()]).toEqual([200]);
        expect(load.wrong).toEqual([]);
        expect(reads.failures).toEqual([]);
        const codes = spectators.flatMap(({ closeCodes }) => closeCodes);
        expect(codes.length).toBeGreaterThan(0);
        expect([...new Set(codes)]).toEqual([RESTART_CODE]);
      },
      longOr(900_000, 300_000),
    );
  },
);

/** Somebody who reads all the time, each thing once. */
class Reads {
  answered = 0;
  readonly failures: string[] = [];
  private isStopping = false;
  private readonly running: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (let at = 0; !this.isStopping; at += 1) {
      const board = ALL_BOARDS[at % ALL_BOARDS.length]!;
      const path = `/v1/boards/${board}/entries?limit=10`;
      const answer = await call(this.url + path, { key: this.key });
      if (answer.status === 200) this.answered += 1;
      else this.failures.push(`${path}: ${answer.status} ${answer.failure ?? JSON.stringify(answer.body)}`);
      await sleep(10);
    }
  }
}
