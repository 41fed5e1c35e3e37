// Real: PostgreSQL, Redis, and the whole service in this process with a team's saga that submits scores.
import { SubmitScoresCommand, type BoardSubmission } from '@laddercast/commands';
import { LadderError } from '@laddercast/domain';
import { LeaderboardModule, LogSaga, type SagaBatch } from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Injectable, Module, type Type } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RestClient } from '../../e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../nodes/service-of-teams.js';

const EVENTS_MAX = 1000;
const SOON = { timeout: 60_000, interval: 100 };

/** Gives each player of `runs` a point on other boards. */
@Injectable()
class PointsSaga extends LogSaga<'entry-changed'> {
  readonly group = 'tests.points';
  readonly topics = ['entry-changed'] as const;
  isAway = true;
  /** As many boards, each for each event. */
  boards: string[] = ['points'];
  refused = 0;

  constructor(private readonly commands: CommandBus) {
    super();
  }

  async handle({ events }: SagaBatch<'entry-changed'>): Promise<void> {
    if (this.isAway) throw Object.assign(new Error('not yet'), { retriable: true });
    const runs = events.flatMap(({ board, playerId, position }) =>
      board === 'runs' && playerId !== undefined ? [{ playerId, submissionId: `points-${position}` }] : [],
    );
    for (const boardId of this.boards) {
      const submissions = runs.map((run): BoardSubmission => ({ boardId, body: { ...run, score: 1 } }));
      const identity = { kind: 'key' as const, keyId: 'points', scopes: ['scores:write' as const] };
      const results = await this.commands.execute(new SubmitScoresCommand(identity, submissions, null));
      const failure = results.find((one) => one instanceof LadderError);
      if (failure) this.refused += 1;
      if (failure) throw failure;
    }
  }
}

@Module({ imports: [LeaderboardModule.forFeature({ extensions: [PointsSaga] })] })
class PointsTeam {}

let database: TestDatabase;
let app: NestFastifyApplication;
let client: RestClient;
let saga: PointsSaga;
const part = <T>(token: Type<T>): T => app.get(token, { strict: false });

beforeEach(async () => {
  database = await createTestDatabase();
  const settings = { OUTBOX_EVENTS_MAX: String(EVENTS_MAX), RATE_LIMIT_KEY_PER_SECOND: '0' };
  app = await startServiceOfTeams(
    { databaseUrl: database.url, redisUrl: await emptyTestRedis(), settings },
    PointsTeam,
  );
  client = new RestClient(await app.getUrl(), ADMIN_KEY);
  saga = part(PointsSaga);
});
afterEach(async () => {
  await app?.close();
  await database?.drop();
});

/** Submits runs of so many players; @returns the codes of those that were refused */
async function submit(count: number): Promise<string[]> {
  const submissions = Array.from({ length: count }, (_, i) => ({ board: 'runs', playerId: `p${i}`, score: 1 }));
  const { body } = await client.post('/v1/scores', { submissions });
  return (body as { results: { problem?: { code: string } }[] }).results.flatMap(({ problem }) => problem?.code ?? []);
}

async function fill(): Promise<void> {
  for (const board of ['runs', ...saga.boards]) await client.makeBoard(board, { operator: 'sum' });
  await expect.poll(async () => new Set(await submit(100)), SOON).toEqual(new Set(['OUTBOX_FULL']));
}

const totalOf = async (board: string): Promise<number> => {
  const [row] = await part(PostgresDatabase).query<{ sum: number }>(
    `SELECT coalesce(sum(score), 0)::int AS sum FROM entries JOIN boards USING (board_uid) WHERE board_id = $1`,
    [board],
  );
  return row!.sum;
};

describe('a saga of a team that submits scores', () => {
  it('gets through also while the outbox is full: nothing of it is trimmed before', async () => {
    await fill();
    saga.isAway = false;
    const runs = await totalOf('runs');
    expect(runs).toBeGreaterThan(EVENTS_MAX - 200);
    await expect.poll(() => totalOf('points'), SOON).toBe(runs);
    expect(saga.refused).toBe(0);
  });

  it('is refused, too, where it writes ever more than it reads', async () => {
    saga.boards = Array.from({ length: 20 }, (_, i) => `points-${i}`);
    await fill();
    saga.isAway = false;
    await expect.poll(() => saga.refused, SOON).toBeGreaterThan(0);
    expect(await totalOf('points-19')).toBeGreaterThan(0);
  });
});
