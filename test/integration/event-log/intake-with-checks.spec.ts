// Real: PostgreSQL, Redis, and the whole service in this process with a team's check. By hand: messages, as Kafka would hand them over.
import { MessageIntake, SUBMISSION_MESSAGES } from '@laddercast/commands';
import { parkAllInto, type IntakeMessage } from '@laddercast/event-log';
import { LeaderboardModule, SubmissionCheck, type CheckVerdict } from '@laddercast/leaderboard';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { Injectable, Module, type Type } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RestClient } from '../../e2e/rest-client.js';
import { ADMIN_KEY, startServiceOfTeams } from '../nodes/service-of-teams.js';

/** Fails as it is told to. */
@Injectable()
class ShopCheck extends SubmissionCheck {
  readonly boards = null;
  asked = new Map<string, number>();
  /** As a function that is not async does. */
  failsAtOnce = false;
  fail: (playerId: string) => Error | null = () => null;

  check(_board: unknown, { playerId }: { playerId: string }): Promise<CheckVerdict> {
    this.asked.set(playerId, (this.asked.get(playerId) ?? 0) + 1);
    const error = this.fail(playerId);
    if (error && this.failsAtOnce) throw error;
    return error ? Promise.reject(error) : Promise.resolve({ verdict: 'accept' });
  }
}

@Module({ imports: [LeaderboardModule.forFeature({ extensions: [ShopCheck] })] })
class ShopTeam {}

/** More than after which a message may be given up. */
const MANY_TRIES = 100;

let database: TestDatabase;
let app: NestFastifyApplication;
let client: RestClient;
let check: ShopCheck;
let offset = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl: await emptyTestRedis() }, ShopTeam);
  client = new RestClient(await app.getUrl(), ADMIN_KEY);
  for (const board of ['checked', 'quiet', 'free']) await client.makeBoard(board);
  check = part(ShopCheck);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});
beforeEach(() => {
  check.asked = new Map();
  check.fail = () => null;
});

const part = <T>(token: Type<T>): T => app.get(token, { strict: false });
const run = (board: string, playerId: string): IntakeMessage => {
  offset += 1;
  const value = Buffer.from(JSON.stringify({ board, submissionId: `run-${offset}`, playerId, score: 1 }));
  return { partition: 0, offset, key: null, value };
};

interface Settling {
  isOver: boolean;
  over: Promise<void>;
}

/** Takes them as one batch of a partition. */
function settle(...messages: IntakeMessage[]): Settling {
  const intake = new MessageIntake({
    kind: SUBMISSION_MESSAGES,
    commands: part(CommandBus),
    park: parkAllInto(part(PostgresDatabase), 'in.scores'),
    log: () => undefined,
    backoff: { firstMs: 1, maxMs: 2 },
  });
  const settling: Settling = { isOver: false, over: Promise.resolve() };
  settling.over = intake
    .settle({ kind: 'key', keyId: 'k', scopes: ['scores:write'] }, messages, new AbortController().signal)
    .then(() => void (settling.isOver = true));
  return settling;
}

const parked = (): Promise<unknown> =>
  part(PostgresDatabase).query(
    `SELECT payload::json ->> 'playerId' AS player, cause::json ->> 'code' AS code, cause::json ->> 'check' AS check
     FROM dead_letters WHERE consumer_group = 'in.scores' ORDER BY position`,
  );
const playersOf = async (board: string): Promise<string[]> => {
  const { body } = await client.get(`/v1/boards/${board}/entries`);
  return (body as { entries: { playerId: string }[] }).entries.map(({ playerId }) => playerId).sort();
};

describe('messages on whose board there is a check', () => {
  it('are parked alone where it fails on them by themselves, and the partition goes on', async () => {
    check.fail = (playerId) => (playerId.startsWith('poison') ? new TypeError('no such field') : null);
    const players = ['ada', 'poison-1', 'bob', 'poison-2'];
    const messages = [...players.map((player) => run('checked', player)), run('quiet', 'poison-3'), run('free', 'eve')];
    const settling = settle(...messages);
    await expect.poll(() => settling.isOver, { timeout: 30_000 }).toBe(true);
    expect(await parked()).toEqual(
      ['poison-1', 'poison-2', 'poison-3'].map((player) => ({ player, code: 'OVERLOADED', check: 'ShopCheck' })),
    );
    await expect.poll(() => playersOf('checked'), { timeout: 10_000 }).toEqual(['ada', 'bob']);
    expect(check.asked.get('poison-1')).toBeGreaterThan(10);
    expect(check.asked.get('ada')).toBe(2);
  });

  it.each([
    ['it fails on those that it took before, too', new Error('the shop said 503'), false],
    ['a retry can help, as it says', Object.assign(new Error('locked'), { retriable: true }), true],
    ['what it asks is away', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ])('wait as long as %s', async (_what, error, takesTheFirstAgain) => {
    const before = await parked();
    const [first, ...others] = ['first', 'second', 'third'].map((name) => `${name}-${offset}`) as [string, string];
    check.fail = (playerId) => {
      if (playerId === first) return takesTheFirstAgain || check.asked.get(first) === 1 ? null : error;
      return others.includes(playerId) ? error : null;
    };
    const settling = settle(...[first, ...others].map((player) => run('checked', player)), run('free', 'eve'));
    await expect.poll(() => check.asked.get(others[0]!) ?? 0, { timeout: 30_000 }).toBeGreaterThan(MANY_TRIES);
    expect(settling.isOver).toBe(false);
    check.fail = () => null;
    await settling.over;
    expect(await parked()).toEqual(before);
    const all = expect.arrayContaining([first, ...others]) as unknown;
    await expect.poll(() => playersOf('checked'), { timeout: 10_000 }).toEqual(all);
  });
});

describe('a submission over REST', () => {
  it('is answered 503 where a check fails at once', async () => {
    check.fail = () => new TypeError('no such field');
    check.failsAtOnce = true;
    const answer = await client.post('/v1/boards/checked/scores', { playerId: 'ada', score: 2 });
    expect(answer).toMatchObject({ status: 503, body: { code: 'OVERLOADED', check: 'ShopCheck' } });
  });
});
