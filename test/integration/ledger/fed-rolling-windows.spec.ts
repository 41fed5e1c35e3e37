// Real: PostgreSQL, its clock in the test's hands, and the ledger of two processes; the other side is a plain model.
import type { FedValue } from '@laddercast/domain';
import { RollingExpirer } from '@laddercast/ledger';
import {
  createTestDatabase,
  DatabaseClock,
  Dice,
  fedBoardOracle,
  seedOfRun,
  type PlayedGame,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedNode } from '../nodes/feed-node.js';
import { submissionOf } from '../nodes/ledger-node.js';
import { gameOf } from '../nodes/pool-node.js';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-03-01T00:30:00Z');
const WINDOWS = ['alltime' as const, { rolling: '3h' }, { rolling: '12h' }];

describe('rolling windows of boards that a pool feeds', () => {
  const seed = seedOfRun();
  let testDatabase: TestDatabase;
  let node: FeedNode;
  let other: FeedNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new FeedNode(testDatabase.url);
    await node.start();
    other = new FeedNode(testDatabase.url);
    await other.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    await other.stop();
    await node.stop();
    await testDatabase.drop();
  });

  const goTo = async (hours: number): Promise<void> => {
    await clock.stopAt(START_MS + hours * HOUR_MS);
    await node.boards.refresh();
    await other.boards.refresh();
  };
  /** As the projector does it. */
  const lookForEnds = async (by: FeedNode): Promise<void> => {
    while ((await by.ender.run(new AbortController().signal)) !== undefined);
  };

  it('hold the games of their hours, and let go of each when its hour is over', async () => {
    await goTo(0);
    await node.makeBoard('gains', { windows: WINDOWS });
    const pool = await node.makePool('gains', { boards: [{ board: 'gains', value: 'gain' }] });
    await node.boards.refresh();
    const lines = async (hours: number): Promise<string[]> => {
      await goTo(hours);
      await lookForEnds(other);
      await node.settle(pool.uid);
      return (await node.linesOf('gains')).filter((line) => line.startsWith('rolling:3h'));
    };
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    expect(await lines(0)).toEqual(['rolling:3h ada 16', 'rolling:3h bob -16']);
    await goTo(1);
    await node.games.record(gameOf(pool.id, 'g2', { ada: 1, bob: 1 }));
    const both = await lines(2.4);
    expect(both).toHaveLength(2);
    const [ofAda] = both.map((line) => Number(line.split(' ')[2]));
    expect(ofAda).toBeLessThan(16);
    // The hour of g1 has left: what is left is the draw of the better one.
    expect((await lines(2.5)).map((line) => Number(line.split(' ')[2]).toFixed(6))).toEqual(
      [ofAda! - 16, 16 - ofAda!].map((gain) => gain.toFixed(6)),
    );
    expect(await lines(3.4)).toHaveLength(2);
    expect(await lines(3.5)).toEqual([]);
    expect(await node.linesOf('gains')).toHaveLength(4);
  });

  it('are filled where they are added to a board that is fed', async () => {
    await goTo(20);
    await node.makeBoard('added');
    const pool = await node.makePool('added', { board: 'added' });
    await node.boards.refresh();
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2 }));
    await node.settle(pool.uid);
    await node.fill();
    await node.makeBoard('added', { windows: ['alltime', { rolling: '2h' }] });
    await node.fill();
    expect(await node.linesOf('added')).toContain('rolling:2h ada 1516');
    await goTo(21.5);
    await lookForEnds(node);
    await node.settle(pool.uid);
    expect(await node.linesOf('added')).toEqual(['alltime ada 1516', 'alltime bob 1484']);
  });

  it('let go of the hours of a pool that is gone, and of the runs that came after it', async () => {
    await goTo(40);
    await node.makeBoard('left', { windows: WINDOWS });
    const pool = await node.makePool('left', { boards: [{ board: 'left', value: 'gain' }] });
    await node.boards.refresh();
    await node.games.record(gameOf(pool.id, 'g1', { ada: 1, bob: 2, cy: 3 }));
    await node.settle(pool.uid);
    await node.pools.delete(pool.id, null, 'test');
    await goTo(41);
    await node.ledger.write(submissionOf(node.boards.byId('left')!, 'ada', 7));
    const expirer = new RollingExpirer(node.database, node.lanes, node.notifier);
    const look = async (): Promise<string[]> => {
      await expirer.run(new AbortController().signal);
      const lines = await node.linesOf('left');
      return lines.filter((line) => line.startsWith('rolling:3h')).map((line) => line.split(' ')[1]!);
    };
    expect(await look()).toEqual(['ada', 'bob', 'cy']);
    await goTo(42);
    await node.ledger.write(submissionOf(node.boards.byId('left')!, 'bob', 5));
    await goTo(43);
    expect(await look()).toEqual(['ada', 'bob']);
    await goTo(44);
    expect(await look()).toEqual(['bob']);
    expect(await node.linesOf('left')).toContain('rolling:3h bob 5');
    await goTo(45);
    expect(await look()).toEqual([]);
  });

  it(`are as a plain model says, whatever comes between (SEED=${seed})`, async () => {
    const dice = new Dice(seed);
    await goTo(100);
    const values: FedValue[] = ['rating', 'peak', 'gain', 'games', 'wins'];
    const windows = ['alltime' as const, { rolling: '3h' }, { rolling: '48h' }];
    for (const value of values) await node.makeBoard(value, { windows });
    const boards = values.map((board) => ({ board, value: board }));
    const pool = await node.makePool('random', { boards, provisional: { games: 2 } });
    await node.boards.refresh();
    await other.boards.refresh();
    const games: PlayedGame[] = [];
    let hours = 100;
    for (let step = 0; step < 150; step += 1) {
      const by = dice.oneOf([node, other]);
      const act = dice.below(6);
      if (act <= 1) {
        const nowMs = START_MS + hours * HOUR_MS;
        const [first, offset] = [dice.below(6), 1 + dice.below(5)];
        const [winner, loser] = [`p${first}`, `p${(first + offset) % 6}`];
        const isDraw = dice.isUnder(0.3);
        const playedAtMs = nowMs - dice.below(15) * HOUR_MS;
        games.push({ winner, loser, isDraw, playedAtMs });
        const places = { [winner]: 1, [loser]: isDraw ? 1 : 2 };
        await by.games.record(gameOf(pool.id, `g${step}`, places, { playedAtMs }));
      } else if (act === 2) await by.rater.rate(pool.uid);
      else if (act === 3) await lookForEnds(by);
      else if (act === 4) await goTo((hours += dice.below(8) / 4));
      else await by.deliver((await node.ratingEvents(pool.uid)).filter(() => dice.isUnder(0.5)));
    }
    await node.rater.rate(pool.uid);
    const delivered = await node.ratingEvents(pool.uid);
    await node.deliver(delivered);
    // What comes now comes by time alone: only who is told of is written again.
    for (let look = 0; look < 3; look += 1) {
      await goTo((hours += 1 + dice.below(8) / 4));
      await lookForEnds(node);
      await node.rater.rate(pool.uid);
      const events = await node.ratingEvents(pool.uid);
      await node.deliver(events.slice(delivered.length));
      delivered.push(...events.slice(delivered.length));
    }
    const rules = { windows: ['alltime' as const], rolling: [3, 48], gamesMin: 1, provisionalGames: 2 };
    for (const value of values) {
      const rows = fedBoardOracle(value, games, { ...rules, nowMs: START_MS + hours * HOUR_MS });
      const expected = rows.map(({ window, playerId, score }) => `${window} ${playerId} ${score.toFixed(6)}`);
      const stored = (await node.entriesOf(value)).map(
        ({ window, playerId, score }) => `${window} ${playerId} ${score.toFixed(6)}`,
      );
      expect(stored.sort(), value).toEqual(expected.sort());
    }
    expect(games.length).toBeGreaterThan(20);
  });
});
