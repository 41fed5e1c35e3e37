// Real: two of each process, restarted one after the other by SIGTERM behind a load balancer that goes by
// /health/ready, under load of clients that never try a request twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ALL_BOARDS, makeBoards, SEASON } from '../boards.js';
import { Chance, longOr } from '../chance.js';
import { audit } from '../audit.js';
import { FaultInstallation } from '../installation.js';
import { KnownRuns } from '../known-runs.js';
import { LoadBalancer } from '../load-balancer.js';
import { Load } from '../load.js';
import { READS, Readers } from '../readers.js';
import { SentRuns } from '../sent-runs.js';
import { PLAYERS } from '../scenario.js';
import { openSpectators, type Spectator } from '../spectators.js';
import { record } from '../table.js';

const ROUNDS = longOr(4, 1);
/** A balancer on a loaded machine has seen by then that the process is not ready. */
const DRAIN_MS = 3000;
/** The drain and what takes time after it, far below the 20 s at which the process would be ended. */
const STOPPED_WITHIN_SECONDS = 15;
const RESTART_CODE = 1012;

describe.each(longOr(logsUnderTest(), logsUnderTest().slice(-1)))(
  'a rolling restart of two of each, over the log in %s',
  (log) => {
    let installation: FaultInstallation | undefined;
    let balancers: LoadBalancer[] = [];
    let spectators: Spectator[] = [];
    const running: Readers[] = [];
    afterEach(async () => {
      for (const spectator of spectators) spectator.close();
      for (const readers of running.splice(0)) await readers.stop();
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
        const sent = new SentRuns();
        const known = new KnownRuns(sent);
        sent.endsAtMs.set(SEASON.id, await makeBoards(installation, ALL_BOARDS));
        balancers = await Promise.all(
          [installation.apis, installation.gateways].map((apps) => LoadBalancer.before(apps)),
        );
        const [api, live] = balancers as [LoadBalancer, LoadBalancer];
        const shown = { boards: ALL_BOARDS, players: PLAYERS, known };
        spectators = openSpectators(installation, { ...shown, chance: chance.fork(1), urls: [live.url] });
        const load = Load.start(installation, {
          clients: 6,
          boards: ALL_BOARDS,
          players: PLAYERS,
          seed: chance.seed,
          sent,
          perSecond: 50,
          urls: [api.url],
        });
        const readers = Readers.start(installation, { ...shown, chance: chance.fork(2), urls: [api.url] });
        running.push(readers);
        const ends: { name: string; code: number | null; signal: string | null; seconds: number; output: string }[] =
          [];
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const app of installation.apps) {
            await sleep(chance.from(200, 600));
            const end = await app.terminate();
            ends.push({ name: app.name, ...end, output: app.output });
            await app.start();
            // The next one goes when this one is used again.
            await Promise.all(balancers.map((balancer) => balancer.uses(app)));
          }
        }
        const answered = await load.stop();
        await readers.stop();
        for (const { name, code, seconds, output } of ends) {
          expect({ name, code }, output).toEqual({ name, code: 0 });
          expect(seconds, output).toBeLessThan(STOPPED_WITHIN_SECONDS);
        }
        const result = await audit(installation, answered, spectators);
        const { faults, lost, doubled, ...counts } = result;
        record({
          fault: 'rolling restart',
          log,
          tried: `${ends.length} restarts, ${load.count(200)} submissions and ${readers.sum().reads} reads sent once`,
          ...counts,
          lost: lost.length,
          doubled: doubled.length,
        });
        expect({ lost, doubled, faults }).toEqual({ lost: [], doubled: [], faults: [] });
        expect(api.failures).toEqual([]);
        expect([...load.statuses.keys()]).toEqual([200]);
        expect(load.wrong).toEqual([]);
        expect(readers.wrong).toEqual([]);
        const refused = READS.filter((kind) => readers.all[kind].refused + readers.all[kind].unanswered > 0);
        expect(refused.map((kind) => ({ kind, ...readers.all[kind] }))).toEqual([]);
        const codes = spectators.flatMap(({ closeCodes }) => closeCodes);
        expect(codes.length).toBeGreaterThan(0);
        expect([...new Set(codes)]).toEqual([RESTART_CODE]);
      },
      longOr(900_000, 300_000),
    );
  },
);
