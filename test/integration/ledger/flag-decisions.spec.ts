// Real: PostgreSQL. By hand: the runs and their events, as the group commit writes them, and the acts on runs.
import {
  insertFlags,
  decideFlagOfHeld,
  stepsOf,
  type Flag,
  type FlagDecision,
  type StandingDecision,
  type Suspect,
} from '@laddercast/ledger';
import type { Board, RunRecorded } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { IntegrityNode } from '../nodes/integrity-node.js';

let database: TestDatabase;
let node: IntegrityNode;
let board: Board;

beforeAll(async () => {
  database = await createTestDatabase();
  node = new IntegrityNode(database.url);
  await node.start();
  board = await node.put('decided', { integrity: { rate: { runs: 2, seconds: 3600 } } });
});
afterAll(async () => {
  await node.stop();
  await database.drop();
});
beforeEach(() => {
  node.acts.done.length = 0;
  node.acts.fails = null;
});

/** Raises the flag of a held run, as the group commit does. */
async function held(playerId: string): Promise<{ run: RunRecorded; flag: Flag }> {
  const lane = node.lanes.of(playerId);
  const run = await node.work.holding(node.lanes.place(lane), async (transaction) => {
    const one = await node.write(transaction, board, playerId, 7, { held: true });
    await insertFlags(transaction, lane, [suspectOf(one), suspectOf(one)], true);
    return one;
  });
  const [flag, ...more] = await node.flagged({ player: playerId, rule: 'held' });
  expect(more).toEqual([]);
  return { run, flag: flag! };
}

const suspectOf = ({ boardUid, playerId, position, submissionId }: RunRecorded): Suspect => ({
  ...{ rule: 'held', severity: 'low', boardUid, playerId, subject: playerId, key: String(position) },
  ...{ summary: 'The run waits for a moderator.', details: {}, runs: [{ playerId, position, submissionId }] },
});

/** A flag of a counted run. */
async function counted(playerId: string): Promise<{ run: RunRecorded; flag: Flag }> {
  const runs = [];
  for (let n = 0; n < 3; n += 1) runs.push(await node.record(board, playerId, 7));
  await node.deliver(...runs);
  const [flag] = await node.flagged({ player: playerId, rule: 'rate' });
  return { run: runs[2]!, flag: flag! };
}

const auditOf = (flag: Flag): Promise<{ actor: string; details: Record<string, unknown> }[]> =>
  node.database.query(
    `SELECT actor, details FROM audit_log WHERE action = 'flag.decide' AND subject = $1 ORDER BY audit_id`,
    [`flag:${flag.flagId}`],
  );

describe('a decision', () => {
  it.each<[StandingDecision, string[], string[]]>([
    ['accept', ['accept', 'verify'], ['verify']],
    ['void', ['void'], ['void']],
    ['ban', ['ban', 'void'], ['ban', 'void']],
    ['dismiss', ['accept'], []],
  ])(
    'to %s does to a held run %j, to a counted one %j, with one record in the audit log',
    async (decision, ofHeld, ofCounted) => {
      for (const [kind, expected] of [
        ['held', ofHeld],
        ['counted', ofCounted],
      ] as const) {
        node.acts.done.length = 0;
        const player = `${kind}-${decision}`;
        const { run, flag } = await (kind === 'held' ? held(player) : counted(player));
        const after = await node.decide(flag, decision, 'seen');
        expect(after).toEqual({
          ...{ ...flag, state: 'decided', decision, decidedBy: 'mod', reason: 'seen' },
          decidedAt: expect.stringMatching(/^20/) as string,
        });
        const did = expected.map((step) =>
          step === 'ban' ? `ban ${player}: seen` : `${step} decided/${run.submissionId}: seen`,
        );
        expect(node.acts.done).toEqual(did);
        const steps = expected.filter((step) => step !== 'ban');
        const runs = steps.length > 0 ? { [run.submissionId]: steps } : {};
        expect(await auditOf(flag)).toEqual([
          {
            actor: 'mod',
            details: { decision, reason: 'seen', before: null, board: 'decided', rule: flag.rule, runs },
          },
        ]);
        // The same again, and another one.
        expect(await node.decide(flag, decision, 'again')).toEqual(after);
        const others = (['accept', 'void', 'ban', 'dismiss'] as const).filter((other) => other !== decision);
        for (const other of others) {
          await expect(node.decide(flag, other)).rejects.toMatchObject({
            code: 'FLAG_DECIDED',
            extensions: { decision },
          });
        }
        expect(node.acts.done).toEqual(did);
        expect(await auditOf(flag)).toHaveLength(1);
      }
    },
  );

  it('stays until it is decided anew', async () => {
    const { run, flag } = await held('reopened');
    const act = (name: string, reason: string): string => `${name} decided/${run.submissionId}: ${reason}`;
    await node.decide(flag, 'void', 'first');
    expect(await node.decide(flag, 'reopen', 'a new look')).toMatchObject({
      state: 'open',
      decision: 'void',
      reason: 'first',
    });
    await node.decide(flag, 'reopen', 'again');
    expect(node.acts.done).toEqual([act('void', 'first')]);
    await node.decide(flag, 'accept', 'second');
    expect(node.acts.done.slice(1)).toEqual(['restore', 'accept', 'verify'].map((name) => act(name, 'second')));
    await node.decide(flag, 'reopen', 'once more');
    await node.decide(flag, 'dismiss', 'third');
    expect(node.acts.done.slice(4)).toEqual([act('unverify', 'third')]);
    expect((await auditOf(flag)).map(({ details }) => [details['decision'], details['before']])).toEqual([
      ...[
        ['void', null],
        ['reopen', 'void'],
        ['accept', 'void'],
        ['reopen', 'accept'],
        ['dismiss', 'accept'],
      ],
    ]);
  });

  it.each<['held' | 'counted', FlagDecision[], boolean]>([
    ['held', ['accept', 'void', 'dismiss'], false],
    ['counted', ['accept', 'void', 'dismiss'], false],
    ['counted', ['accept', 'ban', 'dismiss'], false],
    ['counted', ['accept', 'void', 'accept'], true],
    ['counted', ['accept', 'dismiss', 'void', 'dismiss'], false],
  ])('of a %s run after others, %j, leaves it verified only by the last: %s', async (kind, decisions, verified) => {
    const { run, flag } = await (kind === 'held' ? held : counted)([kind, ...decisions].join('-'));
    for (const decision of decisions) {
      await node.decide(flag, 'reopen');
      await node.decide(flag, decision);
    }
    const rows = await node.database.query('SELECT held, voided, verified FROM runs WHERE position = $1', [
      run.position,
    ]);
    expect(rows).toEqual([{ held: false, voided: false, verified }]);
  });

  it('is not there when what it does fails: neither act nor record', async () => {
    const { run, flag } = await held('failed');
    node.acts.fails = new Error('the disk is full');
    await expect(node.decide(flag, 'void')).rejects.toThrow('the disk is full');
    expect(await node.flags.find(flag.flagId)).toEqual(flag);
    expect(await auditOf(flag)).toEqual([]);
    const [row] = await node.database.query<{ voided: boolean }>('SELECT voided FROM runs WHERE position = $1', [
      run.position,
    ]);
    expect(row).toEqual({ voided: false });
    node.acts.fails = null;
    expect(await node.decide(flag, 'void')).toMatchObject({ decision: 'void' });
  });

  it('of a run that is kept no more can be to dismiss it, or to ban', async () => {
    const { run, flag } = await counted('pruned');
    await node.database.query('DELETE FROM runs WHERE position = $1', [run.position]);
    for (const decision of ['accept', 'void'] as const) {
      await expect(node.decide(flag, decision)).rejects.toMatchObject({ code: 'RUN_GONE' });
    }
    expect(await node.decide(flag, 'ban', 'cheats')).toMatchObject({ decision: 'ban' });
    expect(node.acts.done).toEqual(['ban pruned: cheats']);
  });

  it('of hundreds of runs, of which the first are kept no more, is about those that are', async () => {
    const half = await node.put('half', { integrity: { cluster: { players: 3, minutes: 60 } } });
    const runs = [];
    for (let player = 0; player < 130; player += 1) runs.push(await node.record(half, `h${player}`, 5));
    await node.deliver(...runs);
    const [flag] = await node.flagged({ board: 'half' });
    const gone = runs.slice(0, 120).map(({ position }) => position);
    await node.database.query('DELETE FROM runs WHERE board_uid = $1 AND position = ANY ($2)', [half.uid, gone]);
    expect(await node.decide(flag!, 'void')).toMatchObject({ decision: 'void' });
    await node.decisions.carryOn(new AbortController().signal);
    expect(node.acts.done).toEqual(runs.slice(120).map(({ submissionId }) => `void half/${submissionId}: because`));
    await node.decide(flag!, 'reopen');
    await node.database.query('DELETE FROM runs WHERE board_uid = $1', [half.uid]);
    await expect(node.decide(flag!, 'accept')).rejects.toMatchObject({ code: 'RUN_GONE' });
  });

  it('of nothing is refused', async () => {
    const asked = { decision: 'dismiss', actor: 'mod', reason: 'x' } as const;
    await expect(node.decisions.decide('no-such', asked)).rejects.toMatchObject({ code: 'FLAG_NOT_FOUND' });
    await expect(node.decisions.decide('no-such', { ...asked, decision: 'reopen' })).rejects.toMatchObject({
      code: 'FLAG_NOT_FOUND',
    });
  });

  it('by two at once is one decision', async () => {
    const { flag } = await held('twice');
    const other = new IntegrityNode(database.url);
    await other.start();
    const decided = await Promise.allSettled([node.decide(flag, 'void'), other.decide(flag, 'accept')]);
    await other.stop();
    expect(decided.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(decided.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'FLAG_DECIDED' } });
    expect(await auditOf(flag)).toHaveLength(1);
  });

  it('reaches all runs of a flag with hundreds, a part at a time, also when the first process died', async () => {
    const crowd = await node.put('crowd', { integrity: { cluster: { players: 3, minutes: 60 } } });
    const runs = [];
    for (let player = 0; player < 230; player += 1) runs.push(await node.record(crowd, `p${player}`, 5));
    await node.deliver(...runs);
    const [flag] = await node.flagged({ board: 'crowd' });
    const voided = async (): Promise<number> =>
      (await node.database.query('SELECT 1 FROM runs WHERE board_uid = $1 AND voided', [crowd.uid])).length;
    await node.decide(flag!, 'void');
    expect(await voided()).toBe(100);
    const other = new IntegrityNode(database.url);
    await other.start();
    const signal = new AbortController().signal;
    await Promise.all([node.decisions.carryOn(signal), other.decisions.carryOn(signal)]);
    await other.decisions.carryOn(signal);
    expect(await voided()).toBe(230);
    await other.decisions.carryOn(signal);
    await other.stop();
    expect([...node.acts.done, ...other.acts.done].sort()).toEqual(
      runs.map(({ submissionId }) => `void crowd/${submissionId}: because`).sort(),
    );
    // Those who come later are another flag.
    await node.deliver(await node.record(crowd, 'p999', 5));
    expect(await node.flagged({ board: 'crowd', state: 'open' })).toEqual([]);
  });

  it.each<[StandingDecision[], { voided: number; verified: number }]>([
    [['void', 'dismiss', 'accept'], { voided: 0, verified: 230 }],
    [['void', 'dismiss', 'dismiss'], { voided: 0, verified: 0 }],
    [['ban', 'accept', 'dismiss'], { voided: 0, verified: 0 }],
    [['accept', 'void', 'dismiss'], { voided: 0, verified: 0 }],
    [['accept', 'dismiss', 'void', 'dismiss'], { voided: 0, verified: 0 }],
  ])(
    'of hundreds of runs after %j, of which only the first and the last went to the end, is all there is',
    async (all, left) => {
      const id = all.join('-');
      const crowd = await node.put(id, { integrity: { cluster: { players: 3, minutes: 60 } } });
      const runs = [];
      for (let player = 0; player < 230; player += 1) runs.push(await node.record(crowd, `${id}-${player}`, 5));
      await node.deliver(...runs);
      const [flag] = await node.flagged({ board: id });
      const toTheEnd = async (): Promise<void> => {
        for (let parts = 0; parts < 3; parts += 1) await node.decisions.carryOn(new AbortController().signal);
      };
      for (const [nth, decision] of all.entries()) {
        await node.decide(flag!, decision);
        if (nth === 0 || nth === all.length - 1) await toTheEnd();
        if (nth < all.length - 1) await node.decide(flag!, 'reopen');
        // Nothing is carried on with while it is open.
        if (nth < all.length - 1) expect(await node.database.query(node.decisions.due)).toEqual([]);
      }
      const [counts] = await node.database.query(
        `SELECT count(*) FILTER (WHERE voided)::int AS voided, count(*) FILTER (WHERE verified)::int AS verified
       FROM runs WHERE board_uid = $1`,
        [crowd.uid],
      );
      expect(counts).toEqual(left);
      // Once one went to the end, what stood before it is of no account.
      await node.decide(flag!, 'reopen');
      await node.database.query('UPDATE runs SET voided = true WHERE position = $1', [runs[0]!.position]);
      await node.decide(flag!, all.at(-1) === 'accept' ? 'dismiss' : 'accept');
      const [byId] = await node.database.query<{ voided: boolean }>('SELECT voided FROM runs WHERE position = $1', [
        runs[0]!.position,
      ]);
      expect(byId).toEqual({ voided: true });
    },
  );
});

describe('an act on a held run by its id', () => {
  it.each(['accept', 'void'] as const)('decides its flag: %s', async (decision) => {
    const { run, flag } = await held(`by-id-${decision}`);
    const { boardUid, playerId, position } = run;
    const decided = { boardUid, playerId, position, decision, actor: 'mod', reason: 'by id' };
    const decide = (): Promise<string[]> =>
      node.work.holding(playerId, (transaction) => decideFlagOfHeld(transaction, decided));
    expect(await decide()).toEqual([flag.flagId]);
    expect(await decide()).toEqual([]);
    const after = await node.flags.find(flag.flagId);
    expect(after).toMatchObject({ state: 'decided', decision, decidedBy: 'mod', reason: 'by id' });
  });

  it('leaves flags of counted runs to moderators', async () => {
    const { run, flag } = await counted('by-id-counted');
    const { boardUid, playerId, position } = run;
    const decided = { boardUid, playerId, position, decision: 'void' as const, actor: 'mod', reason: 'by id' };
    await node.work.holding(playerId, (transaction) => decideFlagOfHeld(transaction, decided));
    expect(await node.flags.find(flag.flagId)).toEqual(flag);
  });
});

describe('a run that somebody voided by its id', () => {
  it.each(['accept', 'dismiss'] as const)('stays voided when its flag is decided: %s', (decision) => {
    const run = { voided: true, verified: false, byFlag: false, byOthers: false };
    expect(stepsOf(decision, [], { ...run, held: false })).toEqual([]);
    expect(stepsOf(decision, ['dismiss'], { ...run, held: true })).toEqual([]);
  });

  it.each([
    ['void', 'accept', ['unverify']],
    ['ban', 'accept', ['unverify']],
    ['dismiss', 'accept', ['unverify']],
    ['accept', 'accept', []],
    ['void', 'dismiss', []],
  ] as const)('loses by %s after %s what the decision before made of it: %j', (decision, stood, steps) => {
    const verified = stood === 'accept';
    const run = { held: false, voided: true, verified, byFlag: verified, byOthers: false };
    expect(stepsOf(decision, [stood], run)).toEqual(steps);
  });
});
