// Real: the built service in one process, PostgreSQL with a constraint of the test's own, Redis, and Kafka where there is
// one: bad rows among 500 good ones, in a batch, in a group commit of single requests, and by the intake of Kafka.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeMessages } from '../../e2e/kafka-messages.js';
import { call, type Answer } from '../call.js';
import { Chance, isLong } from '../chance.js';
import { openPostgres, type PostgresSession } from '../postgres-session.js';
import { record } from '../table.js';

const GOOD = 500;
const PLAYERS = 50;
const LANES = 2;
const SETTLED = { timeout: 60_000, interval: 200 };

/** What is wrong with each, and the code that it has to be answered with. */
const BAD: readonly (readonly [fields: object, code: string])[] = [
  [{ playerId: 'rich', score: 1e308 }, 'SCORE_OUT_OF_BOUNDS'],
  [{ playerId: 'poison', score: 1 }, 'INTERNAL'],
  [{ playerId: 'nul\0', score: 1 }, 'VALIDATION_FAILED'],
  [{ playerId: '\ud83c', score: 1 }, 'VALIDATION_FAILED'],
  [{ playerId: '\u{1f3c6}'.repeat(128), score: 1 }, 'VALIDATION_FAILED'],
  [{ playerId: 'p1', score: 1, metadata: { note: '\0' } }, 'VALIDATION_FAILED'],
  [{ playerId: 'p1', score: 1, window: 'alltime\0' }, 'VALIDATION_FAILED'],
  [{ playerId: 'p1', score: 1, columns: { moves: 1 } }, 'COLUMNS_MISMATCH'],
  [{ playerId: 'p1', score: 1, window: 'daily:2020-01-01' }, 'WINDOW_MISMATCH'],
  [{ playerId: 'p1', score: 1, metadata: { note: 'x'.repeat(2000) } }, 'METADATA_TOO_LARGE'],
];

interface Run {
  submissionId: string;
  playerId: string;
  score: number;
  /** null: it has to count. */
  code: string | null;
}

interface Result {
  outcome?: string;
  replayed?: boolean;
  problem?: { code: string };
}

describe.each(logsUnderTest())('bad rows among good ones, over the log in %s', (log) => {
  const chance = Chance.of(`9 bad rows, log ${log}`);
  let test: TestDatabase;
  let installation: Installation;
  let database: PostgresSession;
  let app: RunningApp;
  let prefix: string;

  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    call(`${app.url}${path}`, { method, key: installation.adminKey, body, timeoutMs: 30_000 });
  const bodyOf = ({ code: _code, ...run }: Run): object => run;

  beforeAll(async () => {
    test = await createTestDatabase();
    installation = newInstallation(test.url, await emptyTestRedis());
    const ofLog = settingsOfLog(log);
    prefix = ofLog['KAFKA_PREFIX'] ?? '';
    const intake: Record<string, string> = log === 'kafka' ? { KAFKA_IN_SCORES_KEY: installation.adminKey } : {};
    // 500 clients at once: limits of rates are tried elsewhere.
    app = await startApp('standalone', { ...installation, settings: { ...ofLog, ...intake } });
    database = await openPostgres(test.url);
    // Nothing that comes through the doors offends PostgreSQL; what might yet do so one day looks like this.
    await database.query(`ALTER TABLE entries ADD CONSTRAINT no_poison CHECK (player_id <> 'poison')`);
  });
  afterAll(async () => {
    await database?.end();
    await app?.stop();
    await test?.drop();
  });

  /** 500 good runs with the bad ones anywhere among them, on a board where `rich` can take no more. */
  async function makeRuns(board: string, bad = BAD): Promise<Run[]> {
    expect((await ask('PUT', `/v1/boards/${board}`, { order: 'desc', operator: 'sum' })).status).toBe(201);
    const rich = { submissionId: `${board}-rich`, playerId: 'rich', score: 1.7e308 };
    expect((await ask('POST', `/v1/boards/${board}/scores`, rich)).status).toBe(200);
    const runs: Run[] = Array.from({ length: GOOD }, (_, i) => ({
      submissionId: `${board}-${i}`,
      playerId: `p${chance.below(PLAYERS)}`,
      score: chance.from(-1000, 1000) / 8,
      code: null,
    }));
    for (const [i, [fields, code]] of bad.entries()) {
      const run = { submissionId: `${board}-bad-${i}`, ...fields, code } as Run;
      runs.splice(chance.below(runs.length + 1), 0, run);
    }
    return runs;
  }

  /** Every good run counts once, in PostgreSQL and on the board, and no bad one does. */
  async function audit(board: string, tried: string, runs: readonly Run[]): Promise<void> {
    const endedMs = Date.now();
    const good = runs.filter(({ code }) => code === null);
    const totals = new Map<string, number>([['rich', 1.7e308]]);
    // Eighths: their sums are exact in any order.
    for (const { playerId, score } of good) totals.set(playerId, (totals.get(playerId) ?? 0) + score);
    const kept = await database.query<{ submission_id: string }>(
      'SELECT submission_id FROM submissions JOIN boards USING (board_uid) WHERE board_id = $1',
      [board],
    );
    const ids = kept.map((row) => row.submission_id);
    const lost = good.filter(({ submissionId }) => !ids.includes(submissionId));
    expect(lost).toEqual([]);
    expect(ids.sort()).toEqual([`${board}-rich`, ...good.map(({ submissionId }) => submissionId)].sort());
    const rows = async (): Promise<[string, number][]> => {
      const { body } = await ask('GET', `/v1/boards/${board}/entries?limit=500`);
      return (body as { entries: { playerId: string; score: number }[] }).entries.map((row) => [
        row.playerId,
        row.score,
      ]);
    };
    await expect.poll(async () => new Map(await rows()), SETTLED).toEqual(totals);
    const scores = (await rows()).map(([, score]) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    record({
      fault: '9 bad rows',
      log,
      tried,
      answered: good.length,
      lost: lost.length,
      doubled: ids.length - new Set(ids).size,
      boards: 1,
      spectators: 0,
      wholeAfterSeconds: (Date.now() - endedMs) / 1000,
    });
  }

  const codesOf = (results: readonly (Result | undefined)[]): (string | null)[] =>
    results.map((result) => result?.problem?.code ?? null);

  it('are answered each with its own problem in a batch, and the others count', async () => {
    const runs = await makeRuns('in-a-batch');
    const submissions = runs.map((run) => ({ board: 'in-a-batch', ...bodyOf(run) }));
    const { status, body } = await ask('POST', '/v1/scores', { submissions });
    expect(status).toBe(200);
    expect(codesOf((body as { results: Result[] }).results)).toEqual(runs.map(({ code }) => code));
    await audit('in-a-batch', `${BAD.length} in a batch of ${runs.length}`, runs);

    // A retry of the whole gets the first answers, and what PostgreSQL refused is refused again.
    const again = (await ask('POST', '/v1/scores', { submissions })).body as { results: Result[] };
    expect(codesOf(again.results)).toEqual(runs.map(({ code }) => code));
    expect(again.results.filter(({ replayed }) => replayed === true)).toHaveLength(GOOD);
    await audit('in-a-batch', 'the same batch again', runs);
  });

  it('are answered each with its own problem in one group commit, and the others count', async () => {
    const runs = await makeRuns('in-a-group');
    // While the lanes are held all requests wait for them, and are then written together.
    const holder = await openPostgres(test.url);
    await holder.query('BEGIN');
    for (let lane = 0; lane < LANES; lane += 1) {
      await holder.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.lanes, lane]);
    }
    const committed = (): Promise<{ position: number }[]> =>
      database.query('SELECT count(DISTINCT xmin::text)::int AS position FROM submissions');
    const [before] = await committed();
    // A connection each: a pool would send some of them later.
    const answers = runs.map((run) =>
      fetch(`${app.url}/v1/boards/in-a-group/scores`, {
        method: 'POST',
        headers: { authorization: `Bearer ${installation.adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(run)),
      }).then(async (response) => ({ status: response.status, body: (await response.json()) as { code?: string } })),
    );
    await sleep(2000);
    await holder.query('ROLLBACK');
    await holder.end();
    const settled = await Promise.all(answers);
    const codes = settled.map(({ status, body }) => (status === 200 ? null : body.code!));
    expect(codes).toEqual(runs.map(({ code }) => code));
    const [after] = await committed();
    // Far fewer transactions than runs, also where some came late: the bad ones were in the company of good ones.
    expect(after!.position - before!.position).toBeLessThan(runs.length / 3);
    await audit('in-a-group', `${BAD.length} in a group commit of ${runs.length}`, runs);
  });

  // The intake is of Kafka alone.
  if (log === 'kafka')
    it('are parked each with its own problem by the intake of Kafka, and the others count', async () => {
      // What fails on our side is tried for two minutes before it is parked: in the long version.
      const bad = BAD.filter(([, code]) => isLong || code !== 'INTERNAL');
      const runs = await makeRuns('by-kafka', bad);
      const round = randomBytes(4).toString('hex');
      const messages = runs.map((run, i) => ({
        partition: i % 2,
        key: `${round}-${i}`,
        value: JSON.stringify({ board: 'by-kafka', ...bodyOf(run) }),
      }));
      await writeMessages(`${prefix}.in.scores`, messages);
      const letters = (): Promise<{ key: string; code: string }[]> =>
        database.query(`SELECT key, cause::json ->> 'code' AS code FROM dead_letters WHERE key LIKE $1`, [
          `${round}-%`,
        ]);
      const within = { ...SETTLED, timeout: isLong ? 200_000 : SETTLED.timeout };
      await expect.poll(async () => (await letters()).length, within).toBe(bad.length);
      const parked = new Map((await letters()).map(({ key, code }) => [key, code]));
      expect(runs.map((_run, i) => parked.get(`${round}-${i}`) ?? null)).toEqual(runs.map(({ code }) => code));
      const countedOn = async (): Promise<number> => {
        const [row] = await database.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM submissions JOIN boards USING (board_uid) WHERE board_id = 'by-kafka'`,
        );
        return row!.n;
      };
      await expect.poll(countedOn, SETTLED).toBe(GOOD + 1);
      await audit('by-kafka', `${bad.length} in ${runs.length} messages`, runs);
    }, 300_000);
});
