// Real: PostgreSQL, Redis, and the whole service in this process, with the log in PostgreSQL.
import { withBoardDefaults } from '@laddercast/domain';
import { IntegrityRule, LeaderboardModule, type ExaminedRun } from '@laddercast/leaderboard';
import { createTestDatabase, emptyTestRedis, integrityRuleConformance, type TestDatabase } from '@laddercast/testing';
import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from '../../test/e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../../test/integration/nodes/service-of-teams.js';
import { REPLAY_BOARD, ReplayHashModule } from './replay-hash.module.js';
import { ReplayHashRule } from './replay-hash.rule.js';

const runOf = (version: number, score: number, metadata: Record<string, unknown> | null): ExaminedRun => ({
  submissionId: `run-${version}`,
  playerId: 'ada',
  score,
  columns: {},
  achievedAt: '2026-11-20T18:00:00.000Z',
  acceptedAt: '2026-11-20T18:00:00.000Z',
  metadata,
  proof: null,
  verified: false,
  sourceId: null,
  state: 'counted',
  version,
});

integrityRuleConformance({
  rule: () => new ReplayHashRule(),
  board: () => ({
    ...{ uid: 1, id: REPLAY_BOARD, revision: 1, definitionRevision: 1, windowsSinceMs: {} },
    definition: withBoardDefaults({ order: 'asc', operator: 'best' }),
    layouts: {} as never,
  }),
  suspicious: {
    'the replay of an earlier run with another score': {
      run: runOf(3, 90, { replayHash: 'a' }),
      earlier: [runOf(2, 95, { replayHash: 'b' }), runOf(1, 99, { replayHash: 'a' })],
    },
    'a run without a replay': { run: runOf(2, 90, null), earlier: [] },
  },
  clean: {
    'a replay of its own': { run: runOf(2, 90, { replayHash: 'b' }), earlier: [runOf(1, 99, { replayHash: 'a' })] },
  },
});

describe('the replay hash example', () => {
  let database: TestDatabase;
  let redisUrl: string;
  let app: NestFastifyApplication | null = null;
  let admin: RestClient;

  const start = async (...teams: (Type<object> | DynamicModule)[]): Promise<void> => {
    await app?.close();
    app = null;
    app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl }, ...teams);
    admin = new RestClient(await app.getUrl()).as(ADMIN_KEY);
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    redisUrl = await emptyTestRedis();
    await start(ReplayHashModule);
  });
  afterAll(async () => {
    await app?.close();
    await database.drop();
  });

  it('lets boards name its rule, and refuses names that nobody brings along', async () => {
    const { body } = await admin.get(`/v1/boards/${REPLAY_BOARD}`);
    expect(body).toMatchObject({ integrity: { jump: { factor: 6, runsMin: 5 }, rules: ['replay-hash'] } });
    const board = { order: 'desc', operator: 'best', runs: { keepDays: 30 } };
    const put = await admin.put('/v1/boards/other', { ...board, integrity: { rules: ['replay-hash'] } });
    expect(put.status, put.text).toBe(201);
    const unknown = await admin.put('/v1/boards/wrong', { ...board, integrity: { rules: ['replay-hash', 'no-such'] } });
    expect(expectProblem(unknown, 'RULE_UNKNOWN')).toMatchObject({ unknown: ['no-such'], known: ['replay-hash'] });
  });

  class NamedRule extends IntegrityRule {
    readonly name: string = 'x';
    examine(): Promise<null> {
      return Promise.resolve(null);
    }
  }
  const ruleNamed = (name: string, earlierRuns = 20): Type<IntegrityRule> =>
    class extends NamedRule {
      override readonly name = name;
      override readonly earlierRuns = earlierRuns;
    };

  it.each([
    [ruleNamed('replay-hash'), 'There are two integrity rules "replay-hash".'],
    [ruleNamed('jump'), 'There are two integrity rules "jump".'],
    [ruleNamed('held'), 'There are two integrity rules "held".'],
    [ruleNamed('Replay hash'), '"Replay hash" is no name of an integrity rule'],
    [ruleNamed('greedy', 201), 'The integrity rule "greedy" wants 201 earlier runs'],
  ])('does not start beside a rule that cannot be used: %#', async (rule, message) => {
    const other = LeaderboardModule.forFeature({ extensions: [rule] });
    await expect(startServiceOfTeams({ databaseUrl: database.url, redisUrl }, ReplayHashModule, other)).rejects.toThrow(
      message,
    );
  });
});
