// Real: PostgreSQL, Redis, and two whole services in this process with modules of different teams. The first has all leases
// that both ask for; all is asked of the second.
import { RATING_ALGORITHMS } from '@laddercast/domain';
import { IntegrityRule, LeaderboardModule, type RatingAlgorithm, type Suspicion } from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RestClient } from '../../e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../nodes/service-of-teams.js';

const SOON = { timeout: 30_000, interval: 100 };
/** More than hash to the lanes of one process. */
const POOLS = Array.from({ length: 8 }, (_, n) => `p${n}`);

class RuleOfATeam extends IntegrityRule {
  readonly name: string = 'of-a-team';
  examine(): Promise<Suspicion> {
    return Promise.resolve({ severity: 'high', summary: 'Always.', details: {} });
  }
}
class RuleOfAnother extends RuleOfATeam {
  override readonly name = 'of-another';
}
const elo = RATING_ALGORITHMS.find(({ name }) => name === 'elo')!;
const algorithmOf = (name: string): RatingAlgorithm => ({ ...elo, name, engine: `${name}@1` });

let database: TestDatabase;
const apps: NestFastifyApplication[] = [];
let admin: RestClient;

beforeAll(async () => {
  database = await createTestDatabase();
  const stores = { databaseUrl: database.url, redisUrl: await emptyTestRedis() };
  const start = async (rule: Type<IntegrityRule>, algorithm: string): Promise<NestFastifyApplication> => {
    const team = { extensions: [rule], ratingAlgorithms: [algorithmOf(algorithm)] };
    const app = await startServiceOfTeams(stores, LeaderboardModule.forFeature(team));
    apps.push(app);
    return app;
  };
  const first = await start(RuleOfAnother, 'of-another');
  await vi.waitFor(async () => {
    const sql = `SELECT name FROM leases WHERE name LIKE 'pools:%' OR name LIKE 'integrity:rule%'`;
    expect((await first.get(PostgresDatabase, { strict: false }).query(sql)).length).toBeGreaterThanOrEqual(5);
  }, SOON);
  admin = new RestClient(await (await start(RuleOfATeam, 'of-a-team')).getUrl()).as(ADMIN_KEY);
});
afterAll(async () => {
  for (const app of apps) await app.close();
  await database.drop();
});

const made = async (path: string, body: object): Promise<void> => {
  const { status, text } = await admin.put(path, body);
  expect(status, text).toBe(201);
};

it('a rule of a team is asked by a projector that has it, where one without it was there first', async () => {
  const definition = { order: 'desc', operator: 'best', runs: { keepDays: 30 }, integrity: { rules: ['of-a-team'] } };
  await made('/v1/boards/examined', definition);
  const { status, text } = await admin.post('/v1/boards/examined/scores', { playerId: 'ada', score: 1 });
  expect(status, text).toBe(200);
  const flagged = async (): Promise<unknown> => (await admin.get('/v1/admin/flags?board=examined')).body;
  await expect.poll(flagged, SOON).toMatchObject({ flags: [{ rule: 'of-a-team', playerId: 'ada' }] });
});

it('pools of an algorithm of a team are rated, and feed their boards, beside a projector without it', async () => {
  for (const id of POOLS) {
    await made(`/v1/boards/${id}`, { order: 'desc', operator: 'latest' });
    await made(`/v1/pools/${id}`, { algorithm: 'of-a-team', board: id });
    const players = ['ada', 'bob'].map((playerId, at) => ({ playerId, place: at + 1 }));
    const { status, text } = await admin.post('/v1/games', { pool: id, gameId: 'g1', players });
    expect(status, text).toBe(200);
  }
  for (const id of POOLS) {
    const shown = async (): Promise<unknown> => (await admin.get(`/v1/boards/${id}/entries?limit=10`)).body;
    const entries = [
      { playerId: 'ada', score: 1516 },
      { playerId: 'bob', score: 1484 },
    ];
    await expect.poll(shown, SOON).toMatchObject({ entries });
  }
});
