// Real: api and projector as processes that are killed with SIGKILL, PostgreSQL, Redis; then the whole service in this process,
// with rules of a team. The same submissions are answered alike on a board that is examined and on one that is not.
import { LeaderboardModule } from '@laddercast/leaderboard';
import { IntegrityRule, type Suspicion } from '@laddercast/extension';
import { createTestDatabase, Dice, emptyTestRedis, seedOfRun } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { FaultInstallation } from '../faults/installation.js';
import { openPostgres } from '../faults/postgres-session.js';
import { lastEvents, redeliver, untilHandled } from '../faults/redelivery.js';
import { ADMIN_KEY, startServiceOfTeams } from '../integration/nodes/service-of-teams.js';
import { RestClient } from './rest-client.js';

const PLAYERS = ['ada', 'bob', 'cy', 'dan'];
const SUBMISSIONS = 60;
const RATE = { runs: 3, seconds: 3600 };
const FLAGGED = { timeout: 60_000, interval: 200 };

const seed = seedOfRun();

class ThrowingRule extends IntegrityRule {
  readonly name: string = 'throws';
  examine(): Promise<null> {
    throw new Error('This rule throws.');
  }
}
class HangingRule extends IntegrityRule {
  readonly name = 'hangs';
  examine(): Promise<null> {
    return new Promise(() => undefined);
  }
}
class WrongRule extends IntegrityRule {
  readonly name = 'nonsense';
  examine(): Promise<Suspicion> {
    return Promise.resolve({ severity: 'purple', summary: 7, details: () => 0 } as unknown as Suspicion);
  }
}

interface Answered {
  status: number;
  outcome: string;
  score: number;
  previousScore: number | null;
  windows: string[];
  code: string | undefined;
}

/** Sends the same to both boards, and expects the same of each answer. Returns how many runs of each player counted. */
async function submitAlike(client: RestClient, examined: string, plain: string): Promise<Map<string, number>> {
  const dice = new Dice(seed);
  const runs = new Map<string, number>();
  const sent = new Set<string>();
  for (let number = 0; number < SUBMISSIONS; number += 1) {
    const playerId = dice.oneOf(PLAYERS);
    // Some are refused by the limits of the board, and some are the id of the one before with another body.
    const score = dice.below(110);
    const submissionId = `s${dice.isUnder(0.1) ? number - 1 : number}`;
    const isNew = !sent.has(submissionId);
    const answers: Answered[] = [];
    for (const board of [examined, plain]) {
      const { status, body } = await client.post(`/v1/boards/${board}/scores`, { submissionId, playerId, score });
      const { outcome, previousScore, windows, code, score: own } = body as Answered;
      answers.push({ status, outcome, score: own, previousScore, windows, code });
    }
    expect(answers[0], submissionId).toEqual(answers[1]);
    if (answers[0]!.status !== 200) continue;
    // The same again, by chance, is a replay.
    if (isNew) runs.set(playerId, (runs.get(playerId) ?? 0) + 1);
    sent.add(submissionId);
  }
  return runs;
}

async function makeBoards(admin: RestClient, integrity: object): Promise<void> {
  const given = { runs: { keepDays: 30 }, limits: { scoreMax: 100 }, windows: ['alltime', 'daily'] };
  await admin.makeBoard('examined', { ...given, integrity });
  await admin.makeBoard('plain', given);
}

/** Player and number of runs of each flag. */
async function flagsOf(admin: RestClient, rule = 'rate'): Promise<string[]> {
  const { body } = await admin.get(`/v1/admin/flags?board=examined&rule=${rule}&limit=100`);
  const { flags } = body as { flags: { playerId: string; count: number }[] };
  return flags.map(({ playerId, count }) => `${playerId} ${count}`).sort();
}

const flagsFor = (runs: ReadonlyMap<string, number>): string[] =>
  [...runs].flatMap(([player, count]) => (count > RATE.runs ? `${player} ${count - RATE.runs}` : [])).sort();

describe(`submissions to a board that is examined (SEED=${seed})`, () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it('are answered as without while the group integrity does not run, and their flags come once it does, once each', async () => {
    const installation = await FaultInstallation.start({ log: 'postgres', gateways: 0 });
    ends.push(() => installation.stop());
    const admin = new RestClient(installation.apis[0]!.url, installation.adminKey);
    const projector = installation.projectors[0]!;
    await makeBoards(admin, { rate: RATE });
    await projector.kill();
    const runs = await submitAlike(admin, 'examined', 'plain');
    expect(await flagsOf(admin)).toEqual([]);
    await projector.start();
    // Killed at an instant of its own while flags are raised; what it had not committed comes again.
    await expect.poll(async () => (await flagsOf(admin)).length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
    await projector.kill();
    await projector.start();
    await expect.poll(() => flagsOf(admin), FLAGGED).toEqual(flagsFor(runs));
    const session = await openPostgres(installation.databaseUrl);
    ends.push(() => session.end());
    const events = await lastEvents(session, 1000, "topic = 'run-recorded'");
    expect(events.length).toBe([...runs.values()].reduce((sum, count) => sum + count, 0));
    await redeliver(session, events);
    await untilHandled(session);
    expect(await flagsOf(admin)).toEqual(flagsFor(runs));
  });

  it('are answered as without beside rules that throw, hang and say nonsense, and other flags come all the same', async () => {
    const database = await createTestDatabase();
    ends.push(() => database.drop());
    const rules = LeaderboardModule.forFeature({ extensions: [ThrowingRule, HangingRule, WrongRule] });
    const app = await startServiceOfTeams({ databaseUrl: database.url, redisUrl: await emptyTestRedis() }, rules);
    ends.push(() => app.close());
    const admin = new RestClient(await app.getUrl(), ADMIN_KEY);
    await makeBoards(admin, { rate: RATE, rules: ['throws', 'hangs', 'nonsense'] });
    const runs = await submitAlike(admin, 'examined', 'plain');
    await expect.poll(() => flagsOf(admin), FLAGGED).toEqual(flagsFor(runs));
    for (const rule of ['throws', 'hangs', 'nonsense']) expect(await flagsOf(admin, rule)).toEqual([]);
    expect(await submitAlike(admin, 'examined', 'plain')).toEqual(runs);
    expect(await flagsOf(admin)).toEqual(flagsFor(runs));
  });
});
