// Real: PostgreSQL, the ledger, decisions, and what they do to runs and players. By hand: the flags of runs that count.
import {
  FlagDecisions,
  Flags,
  insertFlags,
  ModerationActs,
  Sanctions,
  type Flag,
  type FlagDecision,
} from '@laddercast/ledger';
import type { Board } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunNode } from '../nodes/run-node.js';

interface Run {
  playerId: string;
  submissionId: string;
  position: number;
}

let database: TestDatabase;
let node: RunNode;
let board: Board;
let flags: Flags;
let decisions: FlagDecisions;
let made = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  node = new RunNode(database.url);
  await node.start();
  const integrity = { jump: null, rate: null, cluster: null, rules: [], holdAbove: 100 };
  board = await node.put({ operator: 'best', runs: { keepDays: 30 }, integrity });
  flags = new Flags(node.database, node.work);
  const acts = new ModerationActs(node.acts, new Sanctions(node.database, node.lanes, node.work));
  decisions = new FlagDecisions(node.database, node.lanes, node.notifier, acts);
});
afterAll(async () => {
  await node.stop();
  await database.drop();
});

/** A run with a flag of each of these rules; that of the rule `held` is of its being held. */
async function flagged(rules: string[], verified = false): Promise<Run> {
  const [playerId, submissionId] = [`p${(made += 1)}`, `s${made}`];
  await node.submit(board, playerId, rules.includes('held') ? 101 : 7, { submissionId, verified });
  const [row] = await node.database.query<{ position: number }>('SELECT position FROM runs WHERE player_id = $1', [
    playerId,
  ]);
  const run = { playerId, submissionId, position: row!.position };
  const suspects = rules
    .filter((rule) => rule !== 'held')
    .map((rule) => ({
      ...{ rule, severity: 'low' as const, boardUid: board.uid, playerId, subject: playerId, key: submissionId },
      ...{ summary: 'Look at it.', details: {}, runs: [run] },
    }));
  await node.work.holding(playerId, (transaction) =>
    insertFlags(transaction, node.lanes.of(playerId), suspects, false),
  );
  return run;
}

async function flagOf({ playerId }: Run, rule: string): Promise<Flag> {
  const [flag] = await flags.list({ player: playerId, rule }, 9, null);
  return flag!;
}

const asked = (decision: FlagDecision) => ({ decision, actor: 'mod', reason: 'seen' });

/** Decides the flag of a rule, one after the other, and reopens it in between. */
async function decide(run: Run, rule: string, ...all: FlagDecision[]): Promise<void> {
  const { flagId } = await flagOf(run, rule);
  for (const decision of all) {
    await decisions.decide(flagId, asked('reopen'));
    await decisions.decide(flagId, asked(decision));
  }
}

const verify = async ({ submissionId }: Run, verified: boolean): Promise<void> => {
  await node.acts.verify(node.actOn(board, submissionId), verified);
};

async function expectRun({ position }: Run, expected: object): Promise<void> {
  const [run] = await node.database.query('SELECT held, voided, verified FROM runs WHERE position = $1', [position]);
  expect(run).toMatchObject(expected);
}

describe('a run that was verified', () => {
  it.each<FlagDecision>(['dismiss', 'void', 'ban'])(
    'before it was accepted stays so when that becomes: %s',
    async (last) => {
      const submitted = await flagged(['jump'], true);
      await decide(submitted, 'jump', 'accept', last);
      await expectRun(submitted, { voided: last !== 'dismiss', verified: true });
      const byId = await flagged(['jump']);
      await verify(byId, true);
      await decide(byId, 'jump', 'accept', 'accept', last);
      await expectRun(byId, { verified: true });
      // Whoever takes it back by its id takes it back.
      await verify(byId, false);
      await expectRun(byId, { verified: false });
    },
  );

  it('by its id, after what an accept had made of it was taken back so, stays verified', async () => {
    const run = await flagged(['jump']);
    await decide(run, 'jump', 'accept');
    await verify(run, false);
    await verify(run, true);
    await decide(run, 'jump', 'dismiss');
    await expectRun(run, { verified: true });
  });

  it('by a release that did not note it is so no more by another decision of its flag', async () => {
    const run = await flagged(['jump', 'rate']);
    await decide(run, 'jump', 'accept');
    await node.database.query('UPDATE flag_runs SET has_verified = NULL WHERE player_id = $1', [run.playerId]);
    await decide(run, 'rate', 'dismiss');
    await expectRun(run, { verified: true });
    await decide(run, 'jump', 'dismiss');
    await expectRun(run, { verified: false });
  });

  it('by two flags is so until neither says it', async () => {
    for (const [first, second] of [
      ['jump', 'rate'],
      ['rate', 'jump'],
    ] as const) {
      const run = await flagged(['jump', 'rate']);
      for (const rule of ['jump', 'rate']) await decide(run, rule, 'accept');
      await decide(run, first, 'dismiss');
      await expectRun(run, { verified: true });
      await decide(run, second, 'dismiss');
      await expectRun(run, { verified: false });
    }
  });

  it('by its id while it was held is so no more once that is decided otherwise', async () => {
    const run = await flagged(['held']);
    await verify(run, true);
    expect(await flagOf(run, 'held')).toMatchObject({ state: 'decided', decision: 'accept' });
    await decide(run, 'held', 'dismiss');
    await expectRun(run, { held: false, verified: false });
  });

  it('by the flag of another rule while it was held is so until neither says it', async () => {
    const run = await flagged(['held', 'rate']);
    await decide(run, 'rate', 'accept');
    expect(await flagOf(run, 'held')).toMatchObject({ state: 'decided', decision: 'accept' });
    await decide(run, 'rate', 'dismiss');
    await expectRun(run, { held: false, verified: true });
    await decide(run, 'held', 'dismiss');
    await expectRun(run, { held: false, verified: false });
  });
});

describe('a held run of which the flag of another rule was decided', () => {
  it.each([
    ['dismiss', 'dismiss', false],
    ['accept', 'accept', true],
    ['void', 'void', false],
    ['ban', 'void', false],
    ['void, then dismiss', 'dismiss', false],
    ['void, then accept', 'accept', true],
  ] as const)('by %s has a flag that says %s', async (decision, ofHeld, verified) => {
    const run = await flagged(['held', 'rate']);
    await decide(run, 'rate', ...(decision.split(', then ') as FlagDecision[]));
    await expectRun(run, { voided: ofHeld === 'void', verified });
    const flag = await flagOf(run, 'held');
    expect(flag).toMatchObject({ state: 'decided', decision: ofHeld });
    if (ofHeld !== 'dismiss') return;
    // Nobody has accepted it yet.
    await expect(decisions.decide(flag.flagId, asked('accept'))).rejects.toMatchObject({ code: 'FLAG_DECIDED' });
    await decide(run, 'held', 'accept');
    await expectRun(run, { held: false, verified: true });
  });
});
