// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka; projectors are killed and restarted under
// load, one at a time, while another lives.
import { setTimeout as sleep } from 'node:timers/promises';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { longOr } from '../chance.js';
import { openPostgres } from '../postgres-session.js';
import { READS } from '../readers.js';
import { Scenario } from '../scenario.js';

const RESTARTS = longOr(12, 2);
/** Two boards and a calm load say as much as four: every process of these starts while the others work. */
const boards = ['faults-sum', 'faults-best'] as const;
const load = { clients: 4, perSecond: 10 };
/** Of a hundred reads, at most: one may be at a Redis that is busy, and none is turned away for a restart. */
const REFUSED_PERCENT_MAX = 5;
const LIFE_MS = { least: 1000, most: 2500 };

describe.each(logsUnderTest())('projectors restarted under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  afterEach(() => scenario?.stop());

  it(
    'turn hardly a read away, and take no restart for a loss of the log',
    async () => {
      scenario = await Scenario.start({ fault: '1 projectors restarted', log, projectors: 2, boards, load });
      const { installation, chance, readers } = scenario;
      await scenario.untilSeasonIsSettled();
      readers.take();
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        await sleep(chance.from(LIFE_MS.least, LIFE_MS.most));
        const projector = installation.projectors[restart % installation.projectors.length]!;
        // In turn: one that says goodbye to its group, and one that is missed by it.
        await (restart % 2 === 0 ? projector.kill() : projector.terminate());
        await projector.start();
      }
      const read = readers.take();
      const database = await openPostgres(installation.databaseUrl);
      const lost = await database.query(
        `SELECT name, value FROM installation WHERE name IN ('log-incarnation', 'log-lost')`,
      );
      await database.end();
      await scenario.prove(`${RESTARTS} restarts of projectors, by SIGKILL and SIGTERM`);
      expect(lost, 'the log was taken for lost').toEqual([]);
      for (const kind of READS) {
        const { ok, refused, codes } = read[kind];
        expect(ok, `nothing was read (${kind})`).toBeGreaterThan(0);
        expect((100 * refused) / ok, `${kind}: ${[...codes].join()}`).toBeLessThanOrEqual(REFUSED_PERCENT_MAX);
      }
    },
    longOr(600_000, 300_000),
  );
});
