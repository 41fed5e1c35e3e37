// Real: PostgreSQL, Redis, Kafka where there is a broker, and the whole service in this process with teams' modules.
import {
  LeaderboardModule,
  LogSaga,
  TeamDatabase,
  type SagaBatch,
  type SagaEvent,
  type SagaTopic,
} from '@laddercast/leaderboard';
import { PostgresLogGroups } from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import {
  createTestDatabase,
  emptyTestRedis,
  logSagaConformance,
  logsUnderTest,
  settingsOfLog,
  type TestDatabase,
} from '@laddercast/testing';
import { Injectable, Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RestClient } from '../../e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../nodes/service-of-teams.js';

const SOON = { timeout: 60_000, interval: 100 };
const ALL: SagaTopic[] = [
  ...(['entry-changed', 'player-changed', 'sanction-changed', 'board-changed', 'window-closed'] as const),
  ...(['standings-revised', 'game-recorded', 'rating-changed', 'run-recorded', 'flag-raised'] as const),
];

/** Keeps of each player the score of the greatest position, in a table of its own. */
@Injectable()
class BestsSaga extends LogSaga<'entry-changed'> {
  readonly group = 'tests.bests';
  readonly topics = ['entry-changed'] as const;

  constructor(private readonly database: TeamDatabase) {
    super();
  }

  async handle({ events }: SagaBatch<'entry-changed'>): Promise<void> {
    for (const { board, playerId, position, entries } of events) {
      if (playerId === undefined) continue;
      const entry = entries.find(({ window }) => window === 'alltime')?.entry;
      await this.database.query(
        `INSERT INTO bests (board, player, score, position) VALUES ($1, $2, $3, $4)
         ON CONFLICT (board, player) DO UPDATE SET score = excluded.score, position = excluded.position
         WHERE bests.position < excluded.position`,
        [board, playerId, entry?.score ?? null, position],
      );
    }
  }
}

class MakeBests1764100000000 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(
      'CREATE TABLE bests (board text, player text, score float8, position bigint, PRIMARY KEY (board, player))',
    );
  }

  async down(): Promise<void> {}
}

/** Writes down what it gets, and fails as it is told to. */
class NotingSaga extends LogSaga {
  readonly group: string = 'tests.noting';
  readonly topics = ALL;
  readonly got: SagaEvent[] = [];
  readonly incarnations = new Set<string>();
  fail: (event: SagaEvent) => Error | null = () => null;

  async handle({ events, incarnation }: SagaBatch): Promise<void> {
    for (const event of events) {
      const error = this.fail(event);
      if (error) throw error;
    }
    this.incarnations.add(incarnation);
    this.got.push(...events);
  }
}

const BESTS = { schema: 'tests_bests', migrations: [MakeBests1764100000000] };

@Module({
  imports: [LeaderboardModule.forFeature({ database: BESTS, extensions: [BestsSaga] })],
})
class BestsTeam {}

@Module({ imports: [LeaderboardModule.forFeature({ extensions: [NotingSaga] })] })
class NotingTeam {}

let database: TestDatabase;
let redisUrl: string;
let app: NestFastifyApplication | undefined;

beforeEach(async () => {
  database = await createTestDatabase();
  redisUrl = await emptyTestRedis();
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  await database.drop();
});

async function start(
  settings: Record<string, string>,
  ...teams: (Type<object> | DynamicModule)[]
): Promise<RestClient> {
  app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl, settings }, ...teams);
  return new RestClient(await app.getUrl(), ADMIN_KEY);
}

const part = <T>(token: Type<T>): T => app!.get(token, { strict: false });

describe.each(logsUnderTest())('a saga of a team, with the log in %s', (log) => {
  it('gets every topic in the ids of people, in the order of a lane, with the board gone at its end', async () => {
    const client = await start(settingsOfLog(log), NotingTeam);
    const saga = part(NotingSaga);
    const of = <T extends SagaTopic>(topic: T): SagaEvent<T>[] =>
      saga.got.filter((event) => event.topic === topic) as unknown as SagaEvent<T>[];
    await client.makeBoard('heights', {
      ...{ windows: ['alltime', 'daily'], columns: [{ name: 'falls', order: 'asc' }] },
      ...{ runs: { keepDays: 7 }, integrity: { rate: { runs: 2, seconds: 60 } } },
    });
    for (const score of [10, 20]) {
      await client.post('/v1/boards/heights/scores', { playerId: 'ada', score, columns: { falls: score / 10 } });
    }
    await expect.poll(() => of('entry-changed').length, SOON).toBe(2);
    const [first, second] = of('entry-changed') as [SagaEvent<'entry-changed'>, SagaEvent<'entry-changed'>];
    expect(second.position).toBeGreaterThan(first.position);
    expect(second).toEqual({
      ...{ topic: 'entry-changed', position: second.position, board: 'heights', playerId: 'ada' },
      writtenAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      entries: expect.arrayContaining([
        { window: 'alltime', entry: { score: 20, columns: { falls: 2 }, achievedAt: expect.any(String) } },
        { window: expect.stringMatching(/^daily:\d{4}-\d\d-\d\d$/), entry: expect.objectContaining({ score: 20 }) },
      ]),
    });
    await expect.poll(() => of('run-recorded').length, SOON).toBe(2);
    expect(of('run-recorded')[1]).toMatchObject({
      ...{ board: 'heights', playerId: 'ada', score: 20, columns: { falls: 2 }, held: false },
      windows: ['alltime', expect.stringMatching(/^daily:/)],
    });
    expect(JSON.stringify(saga.got)).not.toMatch(/[uU]id"/);
    expect(saga.incarnations.size).toBe(1);
    // In Kafka topics are read beside each other.
    await expect.poll(() => of('board-changed')[0], SOON).toMatchObject({ board: 'heights', gone: false });

    await client.delete('/v1/boards/heights');
    await expect.poll(() => of('board-changed').some(({ gone }) => gone), SOON).toBe(true);
    const gone = of('board-changed').find((event) => event.gone)!;
    expect(gone.board).toBe('heights');
    expect(gone.position).toBeGreaterThan(second.position);
  });

  it('has its offset after its effect: what fails comes again, or is parked alone', async () => {
    const client = await start(settingsOfLog(log), NotingTeam);
    const saga = part(NotingSaga);
    let tries = 0;
    saga.fail = (event) => {
      if (event.topic !== 'entry-changed') return null;
      if (event.playerId === 'poison') return new TypeError('this player cannot be handled');
      if (event.playerId === 'grace' && (tries += 1) < 3)
        return Object.assign(new Error('the shop is away'), { retriable: true });
      return null;
    };
    await client.put('/v1/boards/b', { order: 'desc', operator: 'best' });
    for (const playerId of ['ada', 'poison', 'grace']) await client.post('/v1/boards/b/scores', { playerId, score: 1 });
    const players = (): unknown[] =>
      saga.got.flatMap((event) => (event.topic === 'entry-changed' ? [event.playerId] : []));
    await expect.poll(() => players().sort(), SOON).toEqual(['ada', 'grace']);
    expect(tries).toBe(3);
    const letters = (): Promise<unknown[]> =>
      part(PostgresDatabase).query('SELECT consumer_group, key FROM dead_letters ORDER BY position');
    await expect.poll(letters, SOON).toEqual([{ consumer_group: 'tests.noting', key: 'poison' }]);
    const groups = await part(PostgresLogGroups).all();
    expect(groups.find(({ group }) => group === 'tests.noting')?.topics).toHaveLength(ALL.length);
  });

  it('goes on after a restart, in a table of its own', async () => {
    const settings = settingsOfLog(log);
    const before = await start(settings, BestsTeam);
    await before.put('/v1/boards/b', { order: 'desc', operator: 'best' });
    await before.post('/v1/boards/b/scores', { playerId: 'ada', score: 5 });
    const bests = (): Promise<unknown[]> =>
      part(PostgresDatabase).query('SELECT board, player, score FROM tests_bests.bests ORDER BY player');
    await expect.poll(bests, SOON).toEqual([{ board: 'b', player: 'ada', score: 5 }]);
    await app!.close();
    const after = await start(settings, BestsTeam);
    await after.post('/v1/boards/b/scores', { playerId: 'bob', score: 7 });
    await expect.poll(bests, SOON).toEqual([
      { board: 'b', player: 'ada', score: 5 },
      { board: 'b', player: 'bob', score: 7 },
    ]);
  });
});

describe('a saga with a table, by the conformance suite', () => {
  let tables: TestDatabase;
  let team: TeamDatabase;
  beforeAll(async () => {
    tables = await createTestDatabase();
    team = await TeamDatabase.open({ url: tables.url }, BESTS);
  });
  afterAll(async () => {
    await team?.onApplicationShutdown();
    await tables?.drop();
  });
  const change = (position: number, playerId: string, score: number | null): SagaEvent<'entry-changed'> => ({
    ...{ topic: 'entry-changed', position, writtenAt: '2026-11-20T18:00:00.000Z', board: 'b', playerId },
    entries: [
      {
        window: 'alltime',
        entry: score === null ? null : { score, columns: {}, achievedAt: '2026-11-20T18:00:00.000Z' },
      },
    ],
  });

  logSagaConformance({
    saga: () => new BestsSaga(team),
    reset: async () => void (await team.query('TRUNCATE bests')),
    state: () => team.query('SELECT * FROM bests ORDER BY player'),
    batches: [
      { lane: 0, incarnation: 'one', events: [change(2, 'ada', 5), change(4, 'bob', 9)] },
      { lane: 1, incarnation: 'one', events: [change(3, 'eve', 1)] },
      { lane: 0, incarnation: 'one', events: [change(7, 'ada', 8), change(8, 'bob', null)] },
    ],
  });
});

describe('a process does not start', () => {
  const named = (group: string, topics: string[] = ['entry-changed']): Type<LogSaga> =>
    class TeamsOwn extends LogSaga {
      readonly group = group;
      readonly topics = topics as SagaTopic[];
      async handle(): Promise<void> {}
    };
  class Broken1764100000001 {
    async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
      await runner.query('CREATE TABLE half (id int)');
      await runner.query('CREATE TABLE half (id int)');
    }
    async down(): Promise<void> {}
  }
  const feature = LeaderboardModule.forFeature;
  const of = (schema: string, migrations: Type<never>[] = []): DynamicModule =>
    feature({ database: { schema, migrations } });

  it.each<[string, DynamicModule[], RegExp]>([
    [
      'with two sagas in a group',
      [feature({ extensions: [named('a')] }), feature({ extensions: [named('a')] })],
      /group "a"/,
    ],
    [
      'with a saga in a group of ours',
      [feature({ extensions: [named('score')] })],
      /Two sagas are consumer group "score"/,
    ],
    ['with a name that is none', [feature({ extensions: [named('Team Nine')] })], /"Team Nine" cannot be/],
    [
      'with a topic that there is not',
      [feature({ extensions: [named('a', ['scores'])] })],
      /reads "scores", which is no topic/,
    ],
    ['with a saga that reads nothing', [feature({ extensions: [named('a', [])] })], /reads no topic/],
    ['with tables in a schema that is not its own', [of('public')], /"public" cannot be a team's schema/],
    ['with two modules in a schema', [of('shop'), of('shop')], /Two modules keep their tables in the schema "shop"/],
    [
      'with a migration that fails, and nothing of it stays',
      [of('shop', [Broken1764100000001 as unknown as Type<never>])],
      /the migration Broken1764100000001 of the schema "shop" failed: .*"half" already exists/,
    ],
  ])('%s', async (_case, teams, message) => {
    await expect(start({}, ...teams)).rejects.toThrow(message);
  });
});
