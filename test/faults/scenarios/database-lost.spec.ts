// Real: api, projector and gateway processes on a PostgreSQL of the scenario's own, which is stopped, made to crash and
// killed under load, and started again; and whose connections break in the middle of commits.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest, openTcpProxy, type TcpProxy } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import { ENDINGS, PostgresProcess } from '../postgres-process.js';
import { Scenario } from '../scenario.js';
import { VitalSigns } from '../vital-signs.js';

const STOPS = longOr(9, 1);
const AWAY_MS = longOr({ least: 9500, most: 21_500 }, { least: 9500, most: 10_500 });
const BACK_WITHIN_MS = 60_000;
/** A time-out of ours is behind every answer; in the short version beside other tests. */
const ANSWERED_WITHIN_MS = longOr(14_000, 25_000);
const CUTS = longOr(40, 6);

let scenario: Scenario | undefined;
let postgres: PostgresProcess | undefined;
let proxy: TcpProxy | undefined;
let signs: VitalSigns | undefined;
afterEach(async () => {
  signs?.stop();
  await scenario?.stop();
  await proxy?.close();
  await postgres?.remove();
  [scenario, postgres, proxy] = [undefined, undefined, undefined];
});

describe.each(longOr(logsUnderTest(), logsUnderTest().slice(-1)))('PostgreSQL lost under load, log in %s', (log) => {
  it(
    'refuses submissions with 503 and Retry-After, goes on reading, and recovers by itself',
    async () => {
      postgres = await PostgresProcess.start();
      scenario = await Scenario.start({ fault: '4 PostgreSQL stopped', log, databaseUrl: postgres.url, apis: 2 });
      const { installation, load, chance, readers } = scenario;
      signs = VitalSigns.watch(installation);
      const pids = installation.apps.map(({ pid }) => pid);
      const tried: string[] = [];
      // A board that changes is read from PostgreSQL anew.
      await scenario.untilSeasonIsSettled();
      for (let stop = 0; stop < STOPS; stop += 1) {
        await sleep(chance.from(1500, 3000));
        const ending = chance.oneOf(ENDINGS);
        tried.push(ending);
        const refused = load.count(503);
        await postgres.stop(ending);
        readers.take();
        // What was begun before is answered when the rest of its batch is given up on.
        load.countAnew();
        await sleep(chance.from(AWAY_MS.least, AWAY_MS.most));
        const { list, player } = scenario.expectReadsWentOn(`without PostgreSQL (${ending})`);
        expect(load.sentAndAnswered, `answered without PostgreSQL (${ending})`).toEqual([]);
        expect(load.count(503), `no submission was refused (${ending})`).toBeGreaterThan(refused);
        expect(Math.min(list.ok, player.ok), `nothing was read (${ending})`).toBeGreaterThan(5);
        for (const { status, missing } of await signs.health()) {
          expect({ status, missing: String(missing) }).toEqual({ status: 503, missing: 'postgresql' });
        }
        const answered = load.answered.size;
        await postgres.start();
        await expect.poll(() => load.answered.size, { timeout: BACK_WITHIN_MS }).toBeGreaterThan(answered);
      }
      expect(installation.apps.map(({ pid }) => pid)).toEqual(pids);
      expect(installation.apps.every(({ isRunning }) => isRunning)).toBe(true);
      await scenario.prove(tried.join(', '));
      expect(load.slowestMs).toBeLessThan(ANSWERED_WITHIN_MS);
      expect(load.count(0)).toBe(0);
    },
    longOr(900_000, 300_000),
  );

  it(
    'gives a submission one answer whose connection broke in the middle of its commit',
    async () => {
      postgres = await PostgresProcess.start();
      proxy = await openTcpProxy('127.0.0.1', postgres.port);
      scenario = await Scenario.start({
        fault: '4 connection cut in a commit',
        log,
        databaseUrl: postgres.url.replace(String(postgres.port), String(proxy.port)),
        auditDatabaseUrl: postgres.url,
        apis: 2,
      });
      const { load, chance } = scenario;
      let unanswered = 0;
      for (let cut = 0; cut < CUTS; cut += 1) {
        await sleep(chance.from(50, 500));
        await proxy.cutAfter('COMMIT');
        // Beyond its deadline even the api does not know, and its client has to ask again.
        if (cut % 5 !== 0) continue;
        unanswered += 1;
        proxy.cut();
        await sleep(6500);
        proxy.mend();
      }
      await scenario.prove(`${CUTS} commits cut, ${unanswered} times for 6.5 s`);
      expect(load.count(503), 'no client was ever told that the outcome is not known').toBeGreaterThan(0);
    },
    longOr(600_000, 300_000),
  );
});
