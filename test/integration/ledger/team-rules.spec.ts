// Real: PostgreSQL, the log in it, and dead letters. By hand: the runs and their events, as the group commit writes them.
import { AT_ONCE, TRIES_MAX } from '@laddercast/commands';
import type { Board, RunRecorded } from '@laddercast/domain';
import { DeadLetterStore, PostgresEventLog } from '@laddercast/event-log';
import { IntegrityRule, type ExaminedRun, type Suspicion } from '@laddercast/extension';
import { EntryRefold, EXAMINATIONS_MAX, PatchRegistry, RunActs } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntegrityNode } from '../nodes/integrity-node.js';
import { submissionOf } from '../nodes/ledger-node.js';

class TestRule extends IntegrityRule {
  override readonly earlierRuns: number = 3;
  asked: { run: ExaminedRun; earlier: readonly ExaminedRun[] }[] = [];
  answer: (run: ExaminedRun) => Promise<Suspicion | null> = () => Promise.resolve(null);

  constructor(readonly name: string) {
    super();
  }

  examine(run: ExaminedRun, earlier: readonly ExaminedRun[]): Promise<Suspicion | null> {
    this.asked.push({ run, earlier });
    return this.answer(run);
  }
}

const HIGH: Suspicion = { severity: 'high', summary: 'Not by hand.', details: { by: 1 } };

let database: TestDatabase;
let node: IntegrityNode;
let letters: DeadLetterStore;
const signal = new AbortController().signal;

beforeAll(async () => {
  database = await createTestDatabase();
  node = new IntegrityNode(database.url);
  await node.start();
  letters = new DeadLetterStore(node.database);
});
afterAll(async () => {
  await node.stop();
  await database.drop();
});

/** A board of its own, with rules of its own. */
async function boardWith(id: string, ...names: string[]): Promise<{ board: Board; rules: TestRule[] }> {
  const rules = names.map((name) => new TestRule(name));
  node.rules.push(...rules);
  const columns = [{ name: 'moves', order: 'asc' as const }];
  return { board: await node.put(id, { integrity: { rules: names }, columns }), rules };
}

/** Asks until nothing is due any more; what was postponed is due at once. */
async function settle(...rules: TestRule[]): Promise<void> {
  for (let round = 0; round <= TRIES_MAX; round += 1) {
    await node.database.query('UPDATE rule_examinations SET due_at = ladder_now()');
    await Promise.all(rules.map((rule) => node.ruleExaminer.look(rule, signal)));
    await Promise.all(rules.map((rule) => node.ruleExaminer.settled(rule)));
  }
}

const waiting = (rule: TestRule): Promise<number> =>
  node.examinations.waitingFor([rule.name]).then((runs) => runs.get(rule.name)!);

describe('a rule of a team', () => {
  it('is shown each counted run with those before it as they were, and raises a flag once', async () => {
    const { board, rules } = await boardWith('shown', 'shown');
    const rule = rules[0]!;
    rule.answer = ({ score }) => Promise.resolve(score === 9 ? HIGH : null);
    const runs = [];
    for (const score of [1, 2, 3, 4]) runs.push(await node.record(board, 'ada', score, { columns: [score] }));
    runs.push(await node.record(board, 'ada', 8, { columns: [0], held: true }));
    runs.push(await node.record(board, 'ada', 9, { columns: [5], metadata: { replayHash: 'a' } }));
    await node.deliver(...runs);
    await node.deliver(...runs);
    await settle(rule);
    expect(rule.asked).toHaveLength(5);
    const { run, earlier } = rule.asked.find((one) => one.run.score === 9)!;
    expect(run).toEqual({
      ...{ submissionId: runs[5]!.submissionId, playerId: 'ada', score: 9, columns: { moves: 5 } },
      ...{ metadata: { replayHash: 'a' }, proof: null, verified: false, sourceId: null },
      ...{ state: 'counted', version: runs[5]!.position },
      achievedAt: new Date(runs[5]!.achievedAtMs).toISOString(),
      acceptedAt: new Date(runs[5]!.acceptedAtMs).toISOString(),
    });
    expect(earlier.map(({ score, state }) => [score, state])).toEqual([
      [8, 'held'],
      [4, 'counted'],
      [3, 'counted'],
    ]);
    await node.deliver(...runs);
    await settle(rule);
    expect(await node.flagged({ board: 'shown' })).toMatchObject([
      { rule: 'shown', severity: 'high', playerId: 'ada', summary: 'Not by hand.', details: { by: 1 }, count: 1 },
    ]);
    expect(await waiting(rule)).toBe(0);
  });

  it('is told of which patch a run is, where runs are taxed, also of one that was held', async () => {
    const patches = new PatchRegistry(node.database, node.lanes, node.allLanes);
    const definition = { publishedAtMs: null, sameAs: null, title: null };
    await patches.put('1.28', 'eu4', definition, { ifMatch: null }, 'ops');
    await patches.put('1.28a', 'eu4', { ...definition, sameAs: '1.28' }, { ifMatch: null }, 'ops');
    const rule = new TestRule('taxed');
    node.rules.push(rule);
    const decay = { family: 'eu4', perPatch: 0.1 };
    const board = await node.put('taxed', { integrity: { rules: ['taxed'] }, order: 'asc', decay });
    const patch = board.patches!.published['1.28a']!;
    await node.ledger.write(submissionOf(board, 'ada', 5, { submissionId: 't1', patch }));
    const hold = { check: 'Doubtful', reason: 'a test' };
    await node.ledger.write(submissionOf(board, 'ada', 4, { submissionId: 't2', patch, hold }));
    const acts = new RunActs(node.database, node.lanes, node.work, new EntryRefold(node.scopes));
    await acts.verify({ boardId: 'taxed', submissionId: 't2', actor: 'mod', reason: 'a test' }, true);
    const told = await node.database.query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'run-recorded' AND payload::json ->> 'boardUid' = $1 ORDER BY position`,
      [String(board.uid)],
    );
    const runs = told.map(({ payload }) => JSON.parse(payload) as RunRecorded);
    expect(runs.map((run) => [run.submissionId, run.held, run.patch])).toEqual([
      ['t1', false, patch.countsAs],
      ['t2', true, patch.countsAs],
      ['t2', false, patch.countsAs],
    ]);
    await node.deliver(...runs);
    await settle(rule);
    const { run, earlier } = rule.asked.find((one) => one.run.submissionId === 't2')!;
    expect([run.patch, run.score, earlier.map((one) => [one.patch, one.score])]).toEqual(['1.28', 4, [['1.28', 5]]]);
  });

  it('has one flag for the runs of a key while that is open', async () => {
    const { board, rules } = await boardWith('keyed', 'keyed');
    rules[0]!.answer = ({ score }) => Promise.resolve({ ...HIGH, key: String(score) });
    for (const [player, score] of [
      ['ada', 1],
      ['ada', 1],
      ['ada', 2],
      ['bob', 1],
    ] as const) {
      await node.deliver(await node.record(board, player, score, { columns: [0] }));
    }
    await settle(rules[0]!);
    const seen = async (): Promise<unknown[]> =>
      (await node.flagged({ board: 'keyed' }))
        .map(({ playerId, count, state }) => `${playerId} ${count} ${state}`)
        .sort();
    expect(await seen()).toEqual(['ada 1 open', 'ada 2 open', 'bob 1 open']);
    const [double] = (await node.flagged({ board: 'keyed' })).filter(({ count }) => count === 2);
    await node.decide(double!, 'dismiss');
    await node.deliver(await node.record(board, 'ada', 1, { columns: [0] }));
    await settle(rules[0]!);
    expect(await seen()).toEqual(['ada 1 open', 'ada 1 open', 'ada 2 decided', 'bob 1 open']);
  });

  it.each<[string, (run: ExaminedRun) => Promise<Suspicion | null>]>([
    ['throws', () => Promise.reject(new TypeError('x is not a function'))],
    [
      'throws at once',
      () => {
        throw new TypeError('x is not a function');
      },
    ],
    ['answers what is no suspicion', () => Promise.resolve({ ...HIGH, severity: 'fatal' as never })],
  ])('that %s is asked again and then parks the run, and others wait for nothing', async (what, fails) => {
    const name = what.replaceAll(' ', '-');
    const { board, rules } = await boardWith(name, name);
    const rule = rules[0]!;
    rule.answer = (run) => (run.playerId === 'bad' ? fails(run) : Promise.resolve(HIGH));
    const runs = [];
    for (const player of ['bad', 'ada', 'bob']) runs.push(await node.record(board, player, 1, { columns: [0] }));
    await node.deliver(...runs);
    await node.ruleExaminer.look(rule, signal);
    await node.ruleExaminer.settled(rule);
    // Those who can be examined are, at the first look.
    expect((await node.flagged({ board: name })).map(({ playerId }) => playerId).sort()).toEqual(['ada', 'bob']);
    expect(await letters.list(10, null, 'integrity')).not.toContainEqual(
      expect.objectContaining({ key: 'bad', position: runs[0]!.position }),
    );
    await settle(rule);
    expect(rule.asked.filter(({ run }) => run.playerId === 'bad')).toHaveLength(TRIES_MAX);
    const [letter] = await letters.list(1, null, 'integrity');
    expect(letter).toMatchObject({ topic: 'run-recorded', key: 'bad', position: runs[0]!.position });
    expect(letter!.cause).toContain(`rule ${name}: `);
    expect(JSON.parse(letter!.payload)).toEqual(runs[0]);
    expect(await waiting(rule)).toBe(0);
  });

  it('whose service is away is asked for as long as it takes', async () => {
    const { board, rules } = await boardWith('away', 'away');
    const rule = rules[0]!;
    rule.answer = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    await node.deliver(await node.record(board, 'ada', 1, { columns: [0] }));
    await settle(rule);
    await settle(rule);
    expect(await waiting(rule)).toBe(1);
    rule.answer = () => Promise.resolve(HIGH);
    await settle(rule);
    expect(await node.flagged({ board: 'away' })).toHaveLength(1);
  });

  it('parks what fails by itself after as many tries as ever, though its service was away before', async () => {
    const { board, rules } = await boardWith('away-first', 'away-first');
    const rule = rules[0]!;
    rule.answer = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    const run = await node.record(board, 'ada', 1, { columns: [0] });
    await node.deliver(run);
    await settle(rule);
    expect(rule.asked.length).toBeGreaterThan(TRIES_MAX);
    rule.asked = [];
    rule.answer = () => Promise.reject(new TypeError('x is not a function'));
    await settle(rule);
    expect([rule.asked.length, await waiting(rule)]).toEqual([TRIES_MAX, 0]);
    expect(await letters.list(1, null, 'integrity')).toMatchObject([{ key: 'ada', position: run.position }]);
  });

  it('that hangs has so many runs at once, and neither another rule nor the log waits for it', async () => {
    const { board, rules } = await boardWith('hangs', 'hangs', 'quick');
    const [hangs, quick] = rules as [TestRule, TestRule];
    hangs.answer = () => new Promise(() => undefined);
    quick.answer = () => Promise.resolve(HIGH);
    const runs: RunRecorded[] = [];
    for (let n = 0; n < AT_ONCE + 4; n += 1) runs.push(await node.record(board, `h${n}`, 1, { columns: [0] }));
    await node.deliver(...runs);
    const stop = new AbortController();
    const look = node.ruleExaminer.look(hangs, stop.signal);
    await node.ruleExaminer.look(quick, signal);
    await expect.poll(async () => (await node.flagged({ board: 'hangs' })).length, { timeout: 4000 }).toBe(AT_ONCE + 4);
    expect(hangs.asked).toHaveLength(AT_ONCE);
    // After five seconds the others have their turn; a slow machine asks for some of the first again meanwhile.
    await expect.poll(() => new Set(hangs.asked.map(({ run }) => run.submissionId)).size).toBe(AT_ONCE + 4);
    stop.abort();
    await look;
    await Promise.all([hangs, quick].map((rule) => node.ruleExaminer.settled(rule)));
    expect(await waiting(hangs)).toBe(AT_ONCE + 4);
  });

  it('that nobody has lets so many runs wait, and parks the rest', async () => {
    const board = await node.put('missing', { integrity: { rules: ['missing'] } });
    await node.database.query(
      `INSERT INTO rule_examinations (rule, board_uid, player_id, position, lane, log_position, payload)
       SELECT 'missing', $1, 'x', n, 0, n, '{}' FROM generate_series(1, $2::int) AS n`,
      [board.uid, EXAMINATIONS_MAX - 1],
    );
    const runs = [await node.record(board, 'ada', 1), await node.record(board, 'ada', 2)];
    await node.deliver(...runs);
    expect(await letters.list(1, null, 'integrity')).toMatchObject([{ key: 'ada', position: runs[1]!.position }]);
    await node.database.query(`DELETE FROM rule_examinations WHERE rule = 'missing'`);
  });

  it('that the board names no more is not asked for what waits', async () => {
    const { board, rules } = await boardWith('dropped', 'dropped');
    await node.deliver(await node.record(board, 'ada', 1, { columns: [0] }));
    await node.put('dropped', { columns: [{ name: 'moves', order: 'asc' }] });
    await settle(rules[0]!);
    expect([rules[0]!.asked.length, await waiting(rules[0]!)]).toEqual([0, 0]);
  });
});

it('reads the log: each run once, also by two consumers', async () => {
  const { board, rules } = await boardWith('logged', 'logged');
  rules[0]!.answer = () => Promise.resolve(HIGH);
  const other = new IntegrityNode(database.url);
  await other.start();
  const logs = [node, other].map(
    ({ database: ofNode, lanes }) => new PostgresEventLog(ofNode, { lanes, leaseTtlMs: 1000, log: () => undefined }),
  );
  await node.follow(logs[0]!);
  await other.follow(logs[1]!);
  const runs = [];
  for (let n = 0; n < 20; n += 1) runs.push(await node.record(board, `l${n}`, 1, { columns: [0] }));
  await expect
    .poll(
      async () => {
        await node.ruleExaminer.look(rules[0]!, signal);
        return (await node.flagged({ board: 'logged' })).length;
      },
      { timeout: 20_000, interval: 250 },
    )
    .toBe(20);
  await Promise.all(logs.map((log) => log.close()));
  await other.stop();
  expect((await node.flagged({ board: 'logged' })).flatMap(({ submissionIds }) => submissionIds).sort()).toEqual(
    runs.map(({ submissionId }) => submissionId).sort(),
  );
}, 40_000);
