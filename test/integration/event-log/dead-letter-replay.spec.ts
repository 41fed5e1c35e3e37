// Real: PostgreSQL with the letters and the keys. Submissions are counted where the command would be executed.
import { IntakeReplay, ReplayDeadLetterCommand, ReplayDeadLetterHandler } from '@laddercast/commands';
import { Authenticator, PlayerTokens, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { DeadLetterStore } from '@laddercast/event-log';
import { ApiKeyStore, PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const KEY = 'lk_of_the_intake_of_this_test';

describe('replaying a letter of in.scores', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  it('submits it until it counts, and then never again', async () => {
    const keys = new ApiKeyStore(database);
    await keys.setBootstrapKey(KEY);
    const tokens = new PlayerTokens({ secret: 'of-the-test', signingKeys: null, clockToleranceSeconds: 0 } as never);
    const submission = { board: 'blitz', submissionId: 'one', playerId: 'ada', score: 1 };
    await database.query(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
       VALUES ('in.scores', 0, 1, 'in.scores', 'k', $1, '{}')`,
      [JSON.stringify(submission)],
    );
    const letters = new DeadLetterStore(database);
    const [letter] = await letters.list(1, null, null);
    let submitted = 0;
    let result: unknown = new LadderError('BOARD_NOT_FOUND', 'There is no such board yet.');
    const execute = async (): Promise<unknown[]> => {
      submitted += 1;
      return [result];
    };
    const intake = new IntakeReplay(new Authenticator(keys, tokens), { execute } as never, {
      KAFKA_IN_SCORES_KEY: KEY,
    });
    const handler = new ReplayDeadLetterHandler(letters, undefined as never, intake);
    const identity = { kind: 'key', scopes: ['admin'], id: 'k', name: 'k', keyId: 'k' } as unknown as Identity;
    const replay = () => handler.execute(new ReplayDeadLetterCommand(identity, letter!.id));
    for (let n = 0; n < 2; n += 1) expect(await replay()).toMatchObject({ outcome: 'refused' });
    result = {};
    for (let n = 0; n < 3; n += 1) expect(await replay()).toEqual({ id: String(letter!.id), outcome: 'replayed' });
    expect(submitted).toBe(3);
    expect((await letters.find(letter!.id))!.replayedAtMs).not.toBeNull();
  });
});
