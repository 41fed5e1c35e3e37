// Real: PostgreSQL with the letters and the keys, and a ledger with its pools, whose log is delivered by hand. Submissions are
// counted where the command would be executed.
import { IntakeReplay, ReplayDeadLetterCommand, ReplayDeadLetterHandler } from '@laddercast/commands';
import { Authenticator, PlayerTokens, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { DeadLetterStore } from '@laddercast/event-log';
import { ApiKeyStore, PostgresDatabase, RatingRepublisher, Sanctions, StateRepublisher } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { gameOf } from '../nodes/pool-node.js';

const KEY = 'lk_of_the_intake_of_this_test';
const ADMIN = { kind: 'key', scopes: ['admin'], id: 'k', name: 'k', keyId: 'k' } as unknown as Identity;

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
    const handler = new ReplayDeadLetterHandler(letters, undefined as never, undefined as never, intake);
    const replay = () => handler.execute(new ReplayDeadLetterCommand(ADMIN, letter!.id));
    for (let n = 0; n < 2; n += 1) expect(await replay()).toMatchObject({ outcome: 'refused' });
    result = {};
    for (let n = 0; n < 3; n += 1) expect(await replay()).toEqual({ id: String(letter!.id), outcome: 'replayed' });
    expect(submitted).toBe(3);
    expect((await letters.find(letter!.id))!.replayedAtMs).not.toBeNull();
  });
});

describe('replaying a letter of the log', () => {
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let handler: ReplayDeadLetterHandler;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    const { database, work, algorithms } = node;
    const present = new StateRepublisher(work, undefined as never);
    const ratings = new RatingRepublisher(database, work, algorithms);
    const intake = { isOfIntake: () => false } as unknown as IntakeReplay;
    handler = new ReplayDeadLetterHandler(new DeadLetterStore(database), present, ratings, intake);
  });
  afterAll(async () => {
    await node?.stop();
    await testDatabase?.drop();
  });

  /** Parks an event, and replays it. */
  const replayed = async (topic: string, key: string, event: object): Promise<string> => {
    const [letter] = await node.database.query<{ id: number }>(
      `INSERT INTO dead_letters (consumer_group, lane, position, topic, key, payload, cause)
       VALUES ('of-a-group', 0, $1, $2, $3, $4, 'of this test') RETURNING dead_letter_id AS id`,
      [(made += 1), topic, key, JSON.stringify(event)],
    );
    return (await handler.execute(new ReplayDeadLetterCommand(ADMIN, letter!.id))).outcome;
  };

  it('tells the present rating once more, and everything of the player is fed', async () => {
    await node.makeBoard('b', { windows: ['alltime', 'daily'] });
    const pool = await node.makePool('p', { board: 'b' });
    await node.boards.refresh();
    await node.games.record(gameOf('p', 'g1', { ada: 1, bob: 2 }));
    await node.settle(pool.uid);
    await node.games.record(gameOf('p', 'g2', { ada: 1, cid: 2 }));
    await node.rater.rate(pool.uid);
    const parked = (await node.ratingEvents(pool.uid)).findLast(({ playerId }) => playerId === 'ada')!;
    await node.games.record(gameOf('p', 'g3', { ada: 1, dan: 2 }));
    await node.rater.rate(pool.uid);
    expect(await replayed('rating-changed', 'ada', { ...parked, lastFeedOf: [1] })).toBe('replayed');
    const told = (await node.ratingEvents(pool.uid)).at(-1)!;
    const rating = (await node.playerRating(pool, 'ada'))!;
    const { playedAtMs } = parked;
    const { position: ratedPosition } = rating;
    const wanted = { type: 'rating-changed', poolUid: pool.uid, playerId: 'ada', ratedPosition, playedAtMs, rating };
    expect(told).toEqual({ ...wanted, isEverywhere: true });
    await node.deliver([told]);
    const scores = (await node.entriesOf('b')).flatMap(({ playerId, score }) => (playerId === 'ada' ? [score] : []));
    expect(scores).toEqual([rating.state.rating, rating.state.rating]);
  });

  it('tells of a player without games any more what a newcomer has, and of a pool that is gone nothing', async () => {
    const pool = await node.makePool('voided');
    await node.games.record(gameOf('voided', 'g1', { ada: 1, bob: 2 }));
    await node.rater.rate(pool.uid);
    const [parked] = await node.ratingEvents(pool.uid);
    const selection = { gameIds: ['g1'], playerId: null, fromMs: null, toMs: null };
    await node.corrections.record(pool.id, { selection, mode: 'recompute', reason: 'r' }, 'test');
    await node.rater.rate(pool.uid);
    expect(await replayed('rating-changed', 'ada', { ...parked, playedAtMs: ['once'] })).toBe('replayed');
    const told = (await node.ratingEvents(pool.uid)).at(-1)!;
    expect(told).toMatchObject({ playerId: 'ada', playedAtMs: [], rating: { games: 0, state: { rating: 1500 } } });
    await node.pools.delete('voided', null, 'test');
    expect(await replayed('rating-changed', 'ada', parked!)).toBe('obsolete');
    expect(await replayed('rating-changed', 'ada', [])).toBe('obsolete');
  });

  it('tells the present sanction as one', async () => {
    const sanctions = new Sanctions(node.database, node.lanes, node.work);
    const last = async (): Promise<unknown> => {
      const [row] = await node.database.query<{ payload: string }>(
        `SELECT payload FROM outbox WHERE key = 'eve' ORDER BY position DESC LIMIT 1`,
      );
      return JSON.parse(row!.payload);
    };
    const ban = { kind: 'ban', reason: 'r', publicReason: null, untilMs: null, boards: null } as const;
    await sanctions.put('eve', ban, 'mod');
    const parked = { type: 'sanction-changed', playerId: 'eve', sanction: null };
    expect(await replayed('sanction-changed', 'eve', parked)).toBe('replayed');
    expect(await last()).toEqual({ ...parked, sanction: { kind: 'ban', boards: null, untilMs: null } });
    await sanctions.lift('eve', { actor: 'mod', reason: 'r' });
    expect(await replayed('sanction-changed', 'eve', {})).toBe('replayed');
    expect(await last()).toEqual(parked);
  });
});
