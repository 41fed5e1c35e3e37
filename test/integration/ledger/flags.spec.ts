// Real: PostgreSQL. By hand: the runs and their events, as the group commit writes them, and the acts on runs.
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntegrityNode } from '../nodes/integrity-node.js';

const MINUTE = 60_000;
const T = Date.UTC(2026, 10, 20, 18);

let database: TestDatabase;
let node: IntegrityNode;
let other: IntegrityNode;

beforeAll(async () => {
  database = await createTestDatabase();
  node = new IntegrityNode(database.url);
  await node.start();
  other = new IntegrityNode(database.url);
  await other.start();
});
afterAll(async () => {
  await other.stop();
  await node.stop();
  await database.drop();
});

describe('the rule jump', () => {
  it('flags a run that is far better than those before it, once however often its event comes', async () => {
    const board = await node.put('jump', { integrity: { jump: { factor: 6, runsMin: 5 } } });
    const runs = [];
    for (const score of [100, 101, 99, 100, 100, 130, 131]) runs.push(await node.record(board, 'ada', score));
    await node.deliver(...runs);
    await node.deliver(...runs);
    await other.boards.refresh();
    await Promise.all([node.deliver(...runs), other.deliver(...runs)]);
    // Median 100, unit 5; with the 130 among the six before it still 100 and 5.
    expect(await node.flagged({ board: 'jump' })).toMatchObject([
      {
        ...{ rule: 'jump', severity: 'medium', board: 'jump', playerId: 'ada', submissionIds: [runs[6]!.submissionId] },
        ...{ count: 1, state: 'open', decision: null, decidedBy: null, decidedAt: null, reason: null },
        details: { score: 131, median: 100, unit: 5, runs: 6, factor: 6 },
      },
    ]);
  });

  it('sees the runs before it as they were when it came, whatever was done to them later', async () => {
    const board = await node.put('then', { integrity: { jump: { factor: 2, runsMin: 3 } } });
    const runs = [];
    for (const score of [10, 10, 10]) runs.push(await node.record(board, 'ada', score));
    runs.push(await node.record(board, 'ada', 500, { held: true }));
    runs.push(await node.record(board, 'ada', 30));
    const { position } = runs[0]!;
    await node.database.query('UPDATE runs SET voided = true WHERE board_uid = $1 AND score < 400', [board.uid]);
    const acted = { boardUid: board.uid, playerId: 'ada', before: { held: false, voided: false } };
    const actPosition = runs[4]!.position + 1;
    for (const run of runs.filter(({ score }) => score < 400)) {
      await node.noteChange({ ...acted, position: run.position, actPosition });
    }
    expect(position).toBeLessThan(actPosition);
    await node.deliver(...runs);
    expect((await node.flagged({ board: 'then' })).map(({ details }) => details['score'])).toEqual([500, 30]);
  });
});

describe('the rule rate', () => {
  it('counts held runs, has one open flag for a player, and another once that is decided', async () => {
    const board = await node.put('rate', { integrity: { rate: { runs: 3, seconds: 10 } } });
    const runs = [];
    for (const at of [0, 1000, 2000, 3000, 10_000, 12_001]) {
      runs.push(await node.record(board, 'ada', 1, { at: T + at, held: at === 1000 }));
    }
    await node.deliver(...runs.slice(0, 4));
    await node.deliver(...runs);
    const [flag, ...more] = await node.flagged({ board: 'rate' });
    // The fourth; the fifth is the fourth within ten seconds of the second; of the sixth there are three.
    expect(flag).toMatchObject({
      rule: 'rate',
      count: 2,
      submissionIds: [runs[3]!.submissionId, runs[4]!.submissionId],
    });
    expect(more).toEqual([]);
    expect(await node.decide(flag!, 'dismiss')).toMatchObject({ state: 'decided', decision: 'dismiss', count: 2 });
    await node.deliver(...runs);
    expect(await node.flagged({ board: 'rate' })).toHaveLength(1);
    const next = await node.record(board, 'ada', 1, { at: T + 12_001 });
    await node.deliver(next);
    const [, second] = await node.flagged({ board: 'rate' });
    expect(second).toMatchObject({ state: 'open', count: 1, submissionIds: [next.submissionId] });
    expect(second!.flagId).not.toBe(flag!.flagId);
  });
});

describe('the rule cluster', () => {
  const integrity = { cluster: { players: 3, minutes: 10 } };

  it('flags equal runs of many players as one, and adds to it', async () => {
    const board = await node.put('cluster', { integrity, columns: [{ name: 'moves', order: 'asc' }] });
    const equal = [
      await node.record(board, 'ada', 0.1, { at: T, columns: [7] }),
      await node.record(board, 'bob', 0.1, { at: T + 4 * MINUTE, columns: [7] }),
      await node.record(board, 'cy', 0.1, { at: T + 10 * MINUTE, columns: [7] }),
      await node.record(board, 'dan', 0.1, { at: T + 14 * MINUTE, columns: [7] }),
    ];
    const others = [
      await node.record(board, 'eve', 0.1, { at: T, columns: [8] }),
      await node.record(board, 'eve', 0.30000000000000004, { at: T, columns: [7] }),
      await node.record(board, 'fay', 0.1, { at: T + 25 * MINUTE, columns: [7] }),
      await node.record(board, 'gus', 0.1, { at: T + MINUTE, columns: [7], held: true }),
    ];
    await node.deliver(...equal.slice(0, 1), ...others);
    await node.deliver(...equal.slice(1));
    await Promise.all([node.deliver(...equal, ...others), other.boards.refresh().then(() => other.deliver(...equal))]);
    expect(await node.flagged({ board: 'cluster' })).toMatchObject([
      {
        ...{ rule: 'cluster', playerId: null, count: 4, submissionIds: equal.map(({ submissionId }) => submissionId) },
        details: { score: 0.1, columns: { moves: 7 }, players: 3, minutes: 10 },
      },
    ]);
    // A list of one player has what it is among.
    expect(await node.flagged({ board: 'cluster', player: 'dan' })).toHaveLength(1);
    expect(await node.flagged({ board: 'cluster', player: 'fay' })).toEqual([]);
  });

  it('lists a hundred runs, and counts all', async () => {
    const board = await node.put('crowd', { integrity });
    const runs = [];
    for (let player = 0; player < 130; player += 1) runs.push(await node.record(board, `p${player}`, 5, { at: T }));
    await node.deliver(...runs);
    const [flag, ...more] = await node.flagged({ board: 'crowd' });
    expect(more).toEqual([]);
    expect(flag).toMatchObject({ count: 130 });
    expect(flag!.submissionIds).toEqual(runs.slice(0, 100).map(({ submissionId }) => submissionId));
  });

  it('waits for runs of other lanes that are committed later with lower positions', async () => {
    const board = await node.put('lanes', { integrity });
    const [ofLane0, ofLane1] = [0, 1].map((lane) =>
      Array.from({ length: 40 }, (_, index) => `l${index}`).filter((id) => node.lanes.of(id) === lane),
    ) as [string[], string[]];
    let commit = (): void => undefined;
    let isWritten = (): void => undefined;
    const written = new Promise<void>((resolve) => (isWritten = resolve));
    const late = node.work.holding(node.lanes.place(0), async (transaction) => {
      const run = await node.write(transaction, board, ofLane0[0]!, 9, { at: T });
      isWritten();
      await new Promise<void>((resolve) => (commit = resolve));
      return run;
    });
    await Promise.race([written, late]);
    const early = [
      await node.record(board, ofLane1[0]!, 9, { at: T }),
      await node.record(board, ofLane1[1]!, 9, { at: T }),
    ];
    const examined = node.deliver(...early).then(() => 'examined');
    expect(await Promise.race([examined, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])).toBe('waits');
    expect(await node.flagged({ board: 'lanes' })).toEqual([]);
    commit();
    expect((await late).position).toBeLessThan(early[0]!.position);
    await examined;
    // The late run's own event has not been looked at.
    expect(await node.flagged({ board: 'lanes' })).toMatchObject([{ count: 3 }]);
  });
});

describe('a board', () => {
  it('without integrity, deleted or reset, raises nothing', async () => {
    const plain = await node.put('plain', {});
    const gone = await node.put('gone', { integrity: { rate: { runs: 2, seconds: 60 } } });
    const runs = [];
    for (const board of [plain, gone]) for (let n = 0; n < 4; n += 1) runs.push(await node.record(board, 'ada', 1));
    await node.registry.reset('gone', 'mod');
    await node.boards.refresh();
    await node.deliver(...runs);
    expect([...(await node.flagged({ board: 'plain' })), ...(await node.flagged({ board: 'gone' }))]).toEqual([]);
  });
});

describe('a list of flags', () => {
  it('comes in pages, the newest first, and by every filter', async () => {
    const board = await node.put('pages', { integrity: { rate: { runs: 2, seconds: 60 } } });
    for (const player of ['a', 'b', 'c', 'd', 'e']) {
      for (let n = 0; n < 3; n += 1) await node.deliver(await node.record(board, player, 1));
    }
    const first = await node.flags.list({ board: 'pages' }, 3, null);
    const rest = await node.flags.list({ board: 'pages' }, 3, first.at(-1)!.number);
    expect([...first, ...rest].map(({ playerId }) => playerId)).toEqual(['e', 'd', 'c', 'b', 'a']);
    await node.decide(first[0]!, 'dismiss');
    const playersBy = async (filter: object): Promise<(string | null)[]> =>
      (await node.flagged({ board: 'pages', ...filter })).map(({ playerId }) => playerId);
    expect(await playersBy({ state: 'open' })).toEqual(['a', 'b', 'c', 'd']);
    expect(await playersBy({ state: 'decided' })).toEqual(['e']);
    expect(await playersBy({ player: 'b' })).toEqual(['b']);
    expect(await playersBy({ rule: 'jump' })).toEqual([]);
    expect(await playersBy({ severity: 'medium', rule: 'rate', state: 'open', player: 'c' })).toEqual(['c']);
    expect(await playersBy({ severity: 'high' })).toEqual([]);
    expect(await node.flags.openByRule()).toContainEqual(expect.objectContaining({ rule: 'rate', severity: 'medium' }));
  });

  it('tells the log of each flag once, in a lane', async () => {
    const events = await node.database.query<{ payload: string; key: string; lane: number }>(
      `SELECT payload, key, lane FROM outbox WHERE topic = 'flag-raised' ORDER BY position`,
    );
    const told = events.map(
      ({ payload }) => JSON.parse(payload) as { flagId: string; rule: string; playerId: string | null },
    );
    expect(told.map(({ flagId }) => flagId).sort()).toEqual((await allFlags()).sort());
    const [ofPlayer] = events.filter((_, index) => told[index]!.rule === 'jump');
    expect(ofPlayer).toMatchObject({ key: 'ada', lane: node.lanes.of('ada') });
  });

  const allFlags = async (): Promise<string[]> =>
    (await node.database.query<{ id: string }>('SELECT flag_id AS id FROM flags')).map(({ id }) => id);

  it('forgets what was decided long ago, and nothing else', async () => {
    const before = await allFlags();
    const [old, recent] = await node.flagged({ board: 'pages' });
    await node.decide(old!, 'dismiss');
    await node.database.query(`UPDATE flags SET decided_at = ladder_now() - interval '401 days' WHERE flag_id = $1`, [
      old!.flagId,
    ]);
    await node.flags.prune(new AbortController().signal);
    expect(await allFlags()).toEqual(before.filter((id) => id !== old!.flagId));
    expect(await node.database.query('SELECT 1 FROM flag_runs WHERE flag_id = $1', [old!.flagId])).toEqual([]);
    await expect(node.flags.find(old!.flagId)).rejects.toMatchObject({ code: 'FLAG_NOT_FOUND' });
    expect(await node.flags.find(recent!.flagId)).toMatchObject({ playerId: 'b' });
  });
});
