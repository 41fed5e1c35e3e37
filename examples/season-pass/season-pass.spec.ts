// Real: PostgreSQL, Redis, and the whole service in this process, with the log in PostgreSQL.
import {
  EntryEnricher,
  LeaderboardModule,
  ProcessMetrics,
  SubmissionCheck,
  type CheckVerdict,
  type SagaBatch,
} from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  logSagaConformance,
  type TestDatabase,
} from '@laddercast/testing';
import {
  Controller,
  ForbiddenException,
  Get,
  Module,
  Post,
  Query,
  type DynamicModule,
  type Type,
} from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, ROLES_OF_SERVICE, startServiceOfTeams } from '../../test/integration/nodes/service-of-teams.js';
import { EntrantsSaga } from './entrants.saga.js';
import { PassRegistry } from './pass-registry.js';
import { SEASON_BOARD } from './season-pass.check.js';
import { SeasonPassModule } from './season-pass.module.js';

const SOON = { timeout: 60_000, interval: 250 };

let database: TestDatabase;
let redisUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  redisUrl = await emptyTestRedis();
});
afterAll(() => database.drop());

const start = (...teams: (Type<object> | DynamicModule)[]): Promise<NestFastifyApplication> =>
  startServiceOfTeams({ databaseUrl: database.url, redisUrl }, ...teams);

describe('the saga of the example', () => {
  let passes: PassRegistry;
  const scored = (position: number, playerId: string): SagaBatch<'entry-changed'> => ({
    lane: 0,
    incarnation: 'postgres',
    events: [
      {
        ...{ topic: 'entry-changed', position, writtenAt: '2026-11-20T18:00:00.000Z', board: SEASON_BOARD, playerId },
        entries: [{ window: 'alltime', entry: { score: 9, columns: {}, achievedAt: '2026-11-20T18:00:00.000Z' } }],
      },
    ],
  });

  logSagaConformance({
    saga: () => new EntrantsSaga(passes),
    reset: () => {
      passes = new PassRegistry();
      for (const playerId of ['ada', 'grace', 'eve']) passes.sell({ playerId, captain: 'Captain' });
    },
    state: () => Promise.all(['ada', 'grace', 'eve', 'mallory'].map((playerId) => passes.hasUsed(playerId))),
    batches: [scored(3, 'ada'), scored(5, 'mallory'), scored(8, 'grace')],
  });
});

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
    const metrics = new ProcessMetrics(app, ROLES_OF_SERVICE);
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
      const groups = [
        'board',
        'guild',
        'history',
        'integrity',
        'player',
        'rating',
        'rating-feed',
        'rating-news',
        'score',
        'season-pass.entrants',
        'window',
      ];
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

describe('a controller of a team', () => {
  let app: NestFastifyApplication;
  let url: string;
  let reader: string;

  beforeAll(async () => {
    app = await start(SeasonPassModule, OtherTeam);
    url = await app.getUrl();
    const { body } = await request(url)
      .post('/v1/admin/api-keys')
      .set('Authorization', `Bearer ${ADMIN_KEY}`)
      .send({ name: 'reader', scopes: ['read'] })
      .expect(201);
    reader = body.secret;
    app.get(PassRegistry, { strict: false }).sell({ playerId: 'ada', captain: 'Captain Lovelace' });
  });
  afterAll(() => app?.close());

  /** Without any of our decorators. */
  @Controller('other-team')
  class PlainController {
    @Get('secrets')
    secrets(): { secret: number } {
      return { secret: 42 };
    }

    @Get('named')
    named(@Query('colour') colour: string): { colour: string } {
      return { colour };
    }

    @Post('secrets')
    change(): void {
      throw new ForbiddenException('Not on Sundays.');
    }
  }
  @Module({ controllers: [PlainController] })
  class OtherTeam {}

  const get = (path: string, key?: string) => {
    const asked = request(url).get(path);
    return key === undefined ? asked : asked.set('Authorization', `Bearer ${key}`);
  };
  const sell = (body: object, key = ADMIN_KEY) =>
    request(url).post('/season-pass/holders').set('Authorization', `Bearer ${key}`).send(body);
  const problem = (code: string, status: number, more: object = {}) =>
    expect.objectContaining({
      type: `urn:laddercast:problem:${code}`,
      code,
      status,
      requestId: expect.any(String),
      ...more,
    });

  it.each(['/other-team/secrets', '/season-pass/holders/ada'])('needs an identity at %s', async (path) => {
    const refused = await get(path).expect(401).expect('WWW-Authenticate', 'Bearer');
    expect(refused.type).toBe('application/problem+json');
    expect(refused.body).toEqual(problem('UNAUTHENTICATED', 401, { instance: path }));
    expect((await get(path, 'no-such-key-at-all-00').expect(401)).body).toEqual(problem('UNAUTHENTICATED', 401));
    await get(path, reader).expect(200);
  });

  it('is open where it is marked public, and tells who came with a key that is none', async () => {
    expect((await get('/season-pass/price').expect(200)).body).toEqual({ currency: 'EUR', amount: 9.5 });
    await get('/season-pass/price', 'no-such-key-at-all-00').expect(401);
  });

  it('is for keys with the scope that it names', async () => {
    const pass = { playerId: 'grace', captain: 'Captain Hopper' };
    expect((await sell(pass, reader).expect(403)).body).toEqual(problem('FORBIDDEN', 403));
    expect((await request(url).post('/season-pass/holders').send(pass).expect(401)).body.code).toBe('UNAUTHENTICATED');
    expect((await sell(pass).expect(201)).body).toEqual(pass);
    expect((await get('/season-pass/holders/grace', reader).expect(200)).body).toEqual(pass);
  });

  it.each([
    ['/other-team/secrets?force=1', '?force', 'is not a known parameter'],
    ['/other-team/named?color=red', '?color', 'is not a known parameter'],
    ['/season-pass/price?curency=EUR', '?curency', 'is not a known parameter'],
    ['/season-pass/price?currency=GBP', '?currency', 'must be one of the following values: EUR, USD'],
  ])('refuses what it does not know: %s', async (path, pointer, message) => {
    const { body } = await get(path, reader).expect(400);
    expect(body).toEqual(problem('VALIDATION_FAILED', 400, { errors: [{ pointer, message }] }));
  });

  it('takes the parameters that it names', async () => {
    expect((await get('/other-team/named?colour=red', reader).expect(200)).body).toEqual({ colour: 'red' });
    expect((await get('/season-pass/price?currency=USD').expect(200)).body.currency).toBe('USD');
  });

  it('has its body checked, field by field', async () => {
    const { body } = await sell({ playerId: '', price: 3 }).expect(400);
    expect(body.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/price', message: 'is not a known field' },
        { pointer: '/captain', message: 'is required' },
      ]),
    );
    expect((await sell([]).expect(400)).body.errors).toEqual([{ pointer: '', message: 'must be a JSON object' }]);
  });

  it('fails with problems, also by the exceptions of Nest', async () => {
    const none = await get('/season-pass/holders/nobody', reader).expect(404);
    expect(none.body).toEqual(problem('NOT_FOUND', 404, { detail: '"nobody" holds no pass.' }));
    const sold = await sell({ playerId: 'ada', captain: 'Captain A' }).expect(409);
    expect(sold.body).toEqual(problem('PASS_SOLD', 409, { title: 'conflict', detail: '"ada" holds a pass already.' }));
    const forbidden = await request(url)
      .post('/other-team/secrets')
      .set('Authorization', `Bearer ${reader}`)
      .expect(403);
    expect(forbidden.body).toEqual(problem('FORBIDDEN', 403, { detail: 'Not on Sundays.' }));
    expect((await get('/season-pass/nothing', reader).expect(404)).body).toEqual(problem('NOT_FOUND', 404));
    const wrong = await request(url).delete('/other-team/secrets').set('Authorization', `Bearer ${reader}`).expect(405);
    expect(wrong.headers['allow']).toBe('GET, HEAD, POST');
    expect(wrong.body).toEqual(problem('METHOD_NOT_ALLOWED', 405));
  });

  it('keeps the process from starting when it takes a query that nobody checks', async () => {
    @Controller('careless')
    class CarelessController {
      @Get()
      all(@Query() query: object): object {
        return query;
      }
    }
    @Module({ controllers: [CarelessController] })
    class CarelessTeam {}
    await expect(start(CarelessTeam)).rejects.toThrow(/CarelessController.all takes @Query\(\) as it comes/);
  });

  it('leaves open what was open: documents, health, and reads of public boards', async () => {
    for (const path of [
      '/docs',
      '/openapi.json',
      '/asyncapi.json',
      '/health/live',
      '/health/ready',
      `/v1/boards/${SEASON_BOARD}/entries`,
    ]) {
      await get(path).expect(200);
    }
    // Somebody else's password in front of the page is no key of ours.
    for (const path of ['/docs', '/openapi.json', '/health/live?probe=1']) {
      await request(url).get(path).set('Authorization', 'Basic dXNlcjpwYXNz').expect(200);
    }
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
