// Real: PostgreSQL, Redis, and the whole service in this process, with the log in PostgreSQL.
import {
  createApp,
  EntryEnricher,
  LeaderboardModule,
  ProcessMetrics,
  SubmissionCheck,
  type CheckVerdict,
} from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import { loadEnvironment } from '@laddercast/platform';
import { createTestDatabase, emptyTestRedis, freePort, type TestDatabase } from '@laddercast/testing';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { answerFrameworkError } from '../../apps/api/src/http/framework-errors.js';
import { prepareHttp } from '../../apps/api/src/http/prepare-http.js';
import { PassRegistry } from './pass-registry.js';
import { SEASON_BOARD } from './season-pass.check.js';
import { SeasonPassModule } from './season-pass.module.js';

const ADMIN_KEY = 'admin-key-of-the-example';
const SOON = { timeout: 20_000, interval: 250 };
const roles = ['api', 'projector', 'gateway'] as const;

let database: TestDatabase;
let redisUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  redisUrl = await emptyTestRedis();
});
afterAll(() => database.drop());

/** The service with a team's modules, started as `apps/standalone` does it, on a free port. */
async function start(...teams: (Type<object> | DynamicModule)[]): Promise<NestFastifyApplication> {
  const environment = loadEnvironment({
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
  });
  @Module({ imports: [LeaderboardModule.forRoot({ environment, roles }), ApiModule, ...teams] })
  class ServiceOfTeams {}
  const description = { name: 'standalone', roles, module: () => ServiceOfTeams };
  const app = await createApp(
    { ...description, frameworkErrors: answerFrameworkError, prepare: prepareHttp },
    environment,
  );
  await app.init();
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  return app;
}

describe('the season pass example', () => {
  let app: NestFastifyApplication;
  let url: string;

  beforeAll(async () => {
    app = await start(SeasonPassModule);
    url = await app.getUrl();
    app.get(PassRegistry, { strict: false }).sell({ playerId: 'ada', captain: 'Captain Lovelace' });
  });
  afterAll(() => app?.close());

  const submit = (board: string, submission: { playerId: string; score: number; submissionId?: string }) =>
    request(url)
      .post(`/v1/boards/${board}/scores`)
      .set('Authorization', `Bearer ${ADMIN_KEY}`)
      .set('Prefer', 'wait=10')
      .send(submission);

  const entries = async (board: string) => (await request(url).get(`/v1/boards/${board}/entries`).expect(200)).body;

  it('brings its board along', async () => {
    const { body } = await request(url).get(`/v1/boards/${SEASON_BOARD}`).expect(200);
    expect(body).toMatchObject({ id: SEASON_BOARD, title: 'Season 7', order: 'desc', windows: ['alltime', 'weekly'] });
  });

  it('refuses a player without a pass, says why, and stores nothing', async () => {
    const { body } = await submit(SEASON_BOARD, { playerId: 'mallory', score: 99, submissionId: 'm-1' }).expect(422);
    expect(body).toMatchObject({
      code: 'SUBMISSION_REJECTED',
      detail: '"mallory" holds no pass for "season-7"; passes are sold in the shop.',
      check: 'SeasonPassCheck',
    });
    const stored = await app.get(PostgresDatabase).query(
      `SELECT player_id FROM entries WHERE player_id = 'mallory'
         UNION ALL SELECT player_id FROM submissions WHERE player_id = 'mallory'
         UNION ALL SELECT key FROM outbox WHERE key = 'mallory'`,
    );
    expect(stored).toEqual([]);
    expect(await entries(SEASON_BOARD)).toMatchObject({ total: 0, entries: [] });
  });

  it('counts a player with a pass, and shows the name of the captain', async () => {
    const { body } = await submit(SEASON_BOARD, { playerId: 'ada', score: 1520, submissionId: 'a-1' }).expect(200);
    expect(body).toMatchObject({ outcome: 'created', score: 1520, rank: { after: 1, accuracy: 'exact', total: 1 } });
    // A top may be a tick old.
    await expect
      .poll(async () => (await entries(SEASON_BOARD)).entries)
      .toEqual([expect.objectContaining({ rank: 1, playerId: 'ada', displayName: 'Captain Lovelace', score: 1520 })]);
  });

  it('lets the refused player in once there is a pass: a refused submission is not remembered', async () => {
    app.get(PassRegistry, { strict: false }).sell({ playerId: 'mallory', captain: 'Captain M' });
    const { body } = await submit(SEASON_BOARD, { playerId: 'mallory', score: 99, submissionId: 'm-1' }).expect(200);
    expect(body).toMatchObject({ outcome: 'created', replayed: false, rank: { after: 2 } });
  });

  it('reads the log with a saga of its own, whose lag is shown beside that of the others', async () => {
    const metrics = new ProcessMetrics(app, roles);
    const port = await freePort();
    await metrics.listen(port, '127.0.0.1');
    try {
      metrics.start();
      const passes = app.get(PassRegistry, { strict: false });
      await expect.poll(() => passes.hasUsed('ada'), SOON).toBe(true);
      expect(await passes.hasUsed('eve')).toBe(false);
      const lag = async (): Promise<string[]> => {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return text.split('\n').filter((line) => /^laddercast_consumer_lag_events\{.*lane="0"/.test(line));
      };
      const shown = (group: string): string => `laddercast_consumer_lag_events{group="${group}",lane="0"} 0`;
      const groups = ['board', 'guild', 'history', 'player', 'score', 'season-pass.entrants', 'window'];
      await expect.poll(async () => (await lag()).sort(), SOON).toEqual(groups.map(shown));
    } finally {
      await metrics.stop();
    }
  });

  it('leaves other boards alone', async () => {
    await request(url)
      .put('/v1/boards/open-to-all')
      .set('Authorization', `Bearer ${ADMIN_KEY}`)
      .send({ order: 'desc', operator: 'best' })
      .expect(201);
    await submit('open-to-all', { playerId: 'eve', score: 5 }).expect(200);
    expect((await entries('open-to-all')).entries).toEqual([
      expect.objectContaining({ playerId: 'eve', displayName: null }),
    ]);
  });
});

describe('an extension that cannot be used', () => {
  class OtherNames extends EntryEnricher {
    async decorate(): Promise<ReadonlyMap<string, { displayName: string | null }>> {
      return new Map();
    }
  }

  const checkFor = (board: string): Type<SubmissionCheck> =>
    class SeasonPassCheck extends SubmissionCheck {
      readonly boards = [board];
      async check(): Promise<CheckVerdict> {
        return { verdict: 'accept' };
      }
    };

  it.each<[string, Type<object>, RegExp]>([
    ['fits no seam', PassRegistry, /PassRegistry extends none of the seams: SubmissionCheck, EntryEnricher/],
    ['takes the place of another', OtherNames, /both want to be the EntryEnricher; there is one/],
    ['has the name of another', checkFor(SEASON_BOARD), /Two submission checks are called SeasonPassCheck/],
  ])('keeps the service from starting when it %s', async (_case, extension, message) => {
    const team = LeaderboardModule.forFeature({ extensions: [extension] });
    await expect(start(SeasonPassModule, team)).rejects.toThrow(message);
  });

  it('keeps the service from starting when its board does not exist', async () => {
    const team = LeaderboardModule.forFeature({ extensions: [checkFor('season-8')] });
    await expect(start(team)).rejects.toThrow(/SeasonPassCheck is for the board "season-8", which does not exist/);
  });
});
