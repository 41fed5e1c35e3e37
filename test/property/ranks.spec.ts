// Real: the built service in one process, PostgreSQL, Redis, HTTP; the ledger's clock is turned on where entries lapse.
// Random boards are played and changed at random; every read is compared with a sorted array. Each round prints its seed;
// SEED=… repeats one round, SOAK_MINUTES=… goes on for longer than the minute that it takes otherwise.
import {
  DatabaseClock,
  Dice,
  seedOfRun,
  newInstallation,
  createTestDatabase,
  emptyTestRedis,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from '../e2e/rest-client.js';
import { BoardPlay, STEP_NAMES } from './ranks-actions.js';
import { featuresOf, type Features } from './ranks-features.js';
import { playerIds } from './ranks-random.js';
import { RankReads } from './ranks-reads.js';

const MINUTE_MS = 60_000;
const ROUNDS_MAX = 100_000;
const STEPS = 25;
const COMPARE_EVERY = 3;

const seedGiven = process.env['SEED'];
const soakMs = Number(process.env['SOAK_MINUTES'] ?? 1) * MINUTE_MS;
const firstSeed = seedOfRun();

describe(`ranks (SEED=${firstSeed})`, { timeout: soakMs + 5 * MINUTE_MS }, () => {
  let testDatabase: TestDatabase;
  let installation: Installation;
  let service: RunningApp;
  let clock: DatabaseClock;
  let admin: RestClient;
  let features: Features;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    service = await startApp('standalone', installation);
    admin = new RestClient(service.url, installation.adminKey);
    clock = await DatabaseClock.of(testDatabase.url);
    features = await featuresOf(admin);
    const missing = Object.entries(features).flatMap(([name, isThere]) => (isThere ? [] : [name]));
    // What is left out here would be left out of all rounds.
    expect(missing).toEqual([]);
  });
  afterAll(async () => {
    await clock?.close();
    await service?.stop();
    await testDatabase?.drop();
  });

  /** Plays some boards from the beginning to the end; returns how many reads were compared. */
  async function round(seed: number, number: number): Promise<number> {
    const dice = new Dice(seed);
    const reads = new RankReads(admin, dice, features);
    const players = playerIds(dice, dice.oneOf([3, 20, 60]));
    const plays: BoardPlay[] = [];
    for (let board = 0; board < dice.from(1, 3); board += 1) {
      plays.push(await BoardPlay.begin({ id: `r${number}-${board}`, admin, dice, reads, features, clock, players }));
    }
    for (let step = 0; step < STEPS; step += 1) {
      const play = dice.oneOf(plays);
      await play.step();
      if (step % COMPARE_EVERY === 0) await play.compareSome();
    }
    for (const play of plays) await play.compareAll();
    const boards = plays.map(({ board }) => board);
    for (const player of [dice.oneOf(players), dice.oneOf(players), 'nobody at all']) {
      await reads.compareStandings(boards, player);
    }
    for (const play of plays) await play.end();
    return reads.compared;
  }

  it('are what a sorted array says, whatever the board is and whatever happens to it', async () => {
    const until = Date.now() + soakMs;
    let rounds = 0;
    let compared = 0;
    for (let seed = firstSeed; rounds < ROUNDS_MAX && Date.now() < until; seed += 1) {
      try {
        compared += await round(seed, rounds);
      } catch (error) {
        throw new Error(`SEED=${seed}: ${(error as Error).message}`, { cause: error });
      }
      rounds += 1;
      if (seedGiven !== undefined) break;
    }
    const steps = [...STEP_NAMES].map(([name, count]) => `${count} × ${name}`).join(', ');
    process.stderr.write(`${rounds} rounds from SEED=${firstSeed} on: ${compared} answers compared; ${steps}.\n`);
    expect(compared).toBeGreaterThan(100);
  });
});
