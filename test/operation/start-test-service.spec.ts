// Real: PostgreSQL, Redis, and the whole service in this process, as a team's tests run it.
import { defineBoard, LeaderboardModule, LogSaga, SubmissionCheck, type SagaBatch } from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import { Injectable, Module, type Type } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../packages/testing/src/start-test-service.js';

const DAY_MS = 86_400_000;

@Injectable()
class CountingSaga extends LogSaga<'entry-changed'> {
  readonly group = 'tests.counting';
  readonly topics = ['entry-changed'] as const;
  count = 0;
  /** While it is set, the saga hangs. */
  hold: Promise<void> | null = null;

  async handle({ events }: SagaBatch<'entry-changed'>): Promise<void> {
    await this.hold;
    this.count += events.length;
  }
}

@Module({
  imports: [
    LeaderboardModule.forFeature({
      boards: [defineBoard({ id: 'sprint', order: 'desc', operator: 'best', windows: ['alltime', 'daily'] })],
      extensions: [CountingSaga],
    }),
  ],
})
class SprintTeam {}

describe('the service of a test', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ modules: [SprintTeam], settings: { RATE_LIMIT_KEY_PER_SECOND: '5000' } });
  });
  afterAll(() => service?.close());

  const run = (playerId: string, score: number, token?: string) =>
    service.request('POST', '/v1/boards/sprint/scores', { body: { playerId, score }, ...(token && { token }) });
  const scores = async (window: string): Promise<unknown> => {
    const { body } = await service.request<{ entries: { score: number }[] }>(
      'GET',
      `/v1/boards/sprint/entries?window=${window}`,
    );
    return body.entries.map(({ score }) => score);
  };

  it('shows at once what was applied, however often the list was read before, and all sagas have handled it', async () => {
    for (let score = 1; score <= 12; score += 1) {
      expect((await run('ada', score)).status).toBe(200);
      await service.whenApplied();
      expect(await scores('alltime')).toEqual([score]);
    }
    expect(service.get(CountingSaga).count).toBe(12);
  });

  it('has callers of each kind', async () => {
    const [reader, writer] = [await service.key('read'), await service.key('scores:write')];
    expect((await run('bob', 1, reader)).status).toBe(403);
    expect((await run('bob', 1, writer)).status).toBe(200);
    const token = await service.playerToken('bob');
    expect((await service.request('GET', '/v1/players/me/friends', { token })).status).toBe(200);
    expect((await service.request('GET', '/v1/players/me/friends', { token: null })).status).toBe(401);
    const { status, body } = await service.request('GET', '/v1/boards/none/entries');
    expect([status, body['code']]).toEqual([404, 'BOARD_NOT_FOUND']);
  });

  it('says which groups are behind when they stay so', async () => {
    let release = (): void => undefined;
    const saga = service.get(CountingSaga);
    saga.hold = new Promise((resolve) => (release = resolve));
    await run('eve', 3);
    try {
      await expect(service.whenApplied()).rejects.toThrow(/within 30 s. Behind are: tests.counting \(1 events\)\./);
    } finally {
      saga.hold = null;
      release();
    }
    await service.whenApplied();
  });

  it('has a clock in the hands of the test', async () => {
    const clock = await service.clock();
    await run('eve', 7);
    await service.whenApplied();
    expect(await scores('daily')).toContain(7);
    await clock.goOnFrom((await clock.nowMs()) + DAY_MS);
    await expect.poll(() => scores('daily')).toEqual([]);
  });
});

describe('a service of a test that does not start', () => {
  class OfNoBoard extends SubmissionCheck {
    readonly boards = ['nowhere'];
    check = (): never => {
      throw new Error('never asked');
    };
  }
  const feature = LeaderboardModule.forFeature({ extensions: [OfNoBoard as Type<object>] });

  it('says why, and leaves no database', async () => {
    const service = await startTestService({ modules: [] });
    // Those of tests beside this one are in use.
    const unused = async (): Promise<string[]> => {
      const rows = await service.get(PostgresDatabase).query<{ name: string }>(
        `SELECT datname AS name FROM pg_database d WHERE datname LIKE 'ladder_test_%'
           AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datname = d.datname)`,
      );
      return rows.map(({ name }) => name);
    };
    try {
      const before = await unused();
      await expect(startTestService({ modules: [feature] })).rejects.toThrow(/"nowhere", which does not exist/);
      await expect.poll(async () => (await unused()).filter((name) => !before.includes(name))).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
