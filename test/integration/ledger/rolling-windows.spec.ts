// Real: PostgreSQL, the ledgers of two processes and what expires hours in each; the ledger's clock is the test's.
// The random runs print their seed; SEED=… repeats them.
import type { Board, BoardDefinition, EntryChanged, Operator } from '@laddercast/domain';
import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { Dice, seedOfRun, createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holding, TimeNode, waitingBackend } from '../nodes/time-node.js';

const HOUR_MS = 3_600_000;
const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const seed = seedOfRun();

describe('rolling windows', () => {
  let testDatabase: TestDatabase;
  let a: TimeNode;
  let b: TimeNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    a = new TimeNode(testDatabase.url);
    b = new TimeNode(testDatabase.url);
    await a.start();
    await b.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });

  afterAll(async () => {
    await clock.close();
    await Promise.all([a.stop(), b.stop()]);
    await testDatabase.drop();
  });

  const rolling = (operator: Operator, hours: number, more: Partial<BoardDefinition> = {}): Promise<Board> =>
    a.put({ operator, windows: [{ rolling: `${hours}h` }], ...more });

  interface Entry {
    player: string;
    score: number;
    achievedAtMs: number;
    metadata: string | null;
    version: number;
  }

  const entries = (board: Board): Promise<Entry[]> =>
    a.database.query<Entry>(
      `SELECT player_id AS player, score, achieved_at_ms AS "achievedAtMs", metadata, version FROM entries
       WHERE board_uid = $1 AND NOT removed ORDER BY player_id`,
      [board.uid],
    );

  const scores = async (board: Board): Promise<Record<string, number>> =>
    Object.fromEntries((await entries(board)).map(({ player, score }) => [player, score]));

  const changes = async (board: Board): Promise<EntryChanged[]> =>
    (await a.events('entry-changed', board)) as EntryChanged[];

  it.each<[Operator, number[]]>([
    ['sum', [7, 6, 4]],
    ['best', [4, 4, 4]],
    ['latest', [4, 4, 4]],
  ])('forget the hours that left them: %s', async (operator, expected) => {
    const board = await rolling(operator, 3);
    for (const [time, score] of [
      ['10:59:59', 1],
      ['11:00:00', 2],
      ['12:30:00', 4],
    ] as const) {
      await clock.stopAt(at(`2026-11-20T${time}Z`));
      await a.submit(board, 'ada', score);
    }
    const seen: number[] = [];
    for (const time of ['12:59:59.999', '13:00:00.000', '14:00:00.000']) {
      await clock.stopAt(at(`2026-11-20T${time}Z`));
      await a.expirer.run(running);
      seen.push((await scores(board))['ada']!);
    }
    expect(seen).toEqual(expected);
    await clock.stopAt(at('2026-11-20T15:00:00Z'));
    expect(await a.expirer.run(running)).toBe(1);
    expect(await entries(board)).toEqual([]);
    expect((await changes(board)).at(-1)).toMatchObject({
      playerId: 'ada',
      changes: [{ entry: null, keepUntilMs: null }],
    });
    expect(await a.expirer.run(running)).toBe(0);
    expect(await a.database.query('SELECT 1 FROM rolling_hours')).toEqual([]);
  });

  it('write nothing for players whom an hour that left did not change', async () => {
    const board = await rolling('best', 2);
    await clock.stopAt(at('2026-11-20T10:30:00Z'));
    await a.submit(board, 'ada', 5);
    await a.submit(board, 'bob', 9);
    await clock.stopAt(at('2026-11-20T11:30:00Z'));
    await a.submit(board, 'ada', 7, { metadata: '{"run":2}' });
    await a.submit(board, 'bob', 7);
    const before = await changes(board);
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    expect(await a.expirer.run(running)).toBe(1);
    const [change] = (await changes(board)).slice(before.length);
    expect(change).toMatchObject({ playerId: 'bob', changes: [{ entry: { score: 7 } }] });
    expect(await entries(board)).toMatchObject([
      { player: 'ada', score: 7, metadata: '{"run":2}', version: before[2]!.version },
      { player: 'bob', score: 7, version: change!.version },
    ]);
  });

  it('show the latest metadata of the hours that remain', async () => {
    const board = await rolling('sum', 3);
    for (const [hour, metadata] of [
      [10, '{"n":10}'],
      [11, '{"n":11}'],
      [12, '{"n":12}'],
      [13, null],
    ] as const) {
      await clock.stopAt(at(`2026-11-20T${hour}:30:00Z`));
      await a.submit(board, 'ada', 1, { metadata });
      await a.expirer.run(running);
    }
    expect(await entries(board)).toMatchObject([{ score: 3, metadata: '{"n":12}' }]);
  });

  it('keep the scopes of an entry, also of one that they take away', async () => {
    const board = await rolling('sum', 1, { scopes: ['global', 'region'] });
    await a.database.query(`INSERT INTO players (player_id, region, changed_at) VALUES ('ada', 'EU', ladder_now())`);
    await clock.stopAt(at('2026-11-20T10:30:00Z'));
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-20T11:00:00Z'));
    await a.expirer.run(running);
    const [eu] = await a.scopes.ensure(['region:EU']);
    const last = (await changes(board)).at(-1)!;
    expect(last.changes).toEqual([
      { windowUid: await a.windowUid(board, 'rolling:1h'), keepUntilMs: null, entry: null, scopes: [eu] },
    ]);
    await a.submit(board, 'ada', 3);
    expect(await scores(board)).toEqual({ ada: 3 });
    const [row] = await a.database.query<{ scopes: number[]; left_scopes: number[] }>(
      'SELECT scopes, left_scopes FROM entries WHERE board_uid = $1',
      [board.uid],
    );
    expect(row).toEqual({ scopes: [eu], left_scopes: [] });
  });

  it('count a run that comes while they are brought up, in both orders', async () => {
    const board = await rolling('sum', 1);
    await clock.stopAt(at('2026-11-20T10:30:00Z'));
    await a.submit(board, 'ada', 5);
    await clock.stopAt(at('2026-11-20T11:00:00Z'));
    const lane = a.lanes.of('ada');
    const held = await holding(b, `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, ${lane})`);
    const expiring = a.expirer.run(running);
    await waitingBackend(b, 'ladder_take_lane');
    const submitting = b.submit(board, 'ada', 2);
    await held.end();
    await Promise.all([expiring, submitting]);
    expect(await scores(board)).toEqual({ ada: 2 });
    await clock.stopAt(at('2026-11-20T12:00:00Z'));
    await b.submit(board, 'ada', 1);
    await Promise.all([a.expirer.run(running), b.expirer.run(running)]);
    expect(await scores(board)).toEqual({ ada: 1 });
  });

  it('are brought up chunk by chunk, once, by two processes at a time', async () => {
    const board = await rolling('best', 1);
    await clock.stopAt(at('2026-11-20T10:30:00Z'));
    const players = Array.from({ length: 1300 }, (_, n) => `p${n}`);
    await Promise.all(players.map((player, n) => a.submit(board, player, n)));
    await clock.stopAt(at('2026-11-20T11:00:00Z'));
    await a.submit(board, 'p7', 3);
    const changed = await Promise.all([a.expirer.run(running), b.expirer.run(running)]);
    expect(changed[0] + changed[1]).toBe(1300);
    expect(await scores(board)).toEqual({ p7: 3 });
    const removals = (await changes(board)).filter((event) => event.changes[0]!.entry === null);
    expect([removals.length, new Set(removals.map(({ playerId }) => playerId)).size]).toEqual([1299, 1299]);
  });

  it(`are at every hour as all runs of their hours put together say (SEED=${seed})`, async () => {
    const { below } = new Dice(seed);
    const operators: Operator[] = ['sum', 'best', 'latest'];
    const boards = await Promise.all(operators.map((operator) => rolling(operator, 4)));
    const runs: { player: string; score: number; atMs: number }[][] = boards.map(() => []);
    let nowMs = at('2026-11-21T00:10:00Z');
    for (let step = 0; step < 60; step += 1) {
      nowMs += below(5) === 0 ? below(5 * HOUR_MS) : below(HOUR_MS / 2);
      await clock.stopAt(nowMs);
      const submitting = boards.map(async (board, index) => {
        for (let run = below(4); run > 0; run -= 1) {
          const player = `p${below(5)}`;
          const atMs = nowMs - below(3 * HOUR_MS) - 1;
          const score = below(100) - 30;
          const isSet = operators[index] === 'sum' && below(4) === 0;
          await [a, b][run % 2]!.submit(board, player, score, {
            achievedAtMs: atMs,
            ...(isSet && { operator: 'set' }),
          });
          // What came before a set matters no more, whatever its time.
          if (isSet) runs[index] = runs[index]!.filter((one) => one.player !== player);
          runs[index]!.push({ player, score, atMs });
        }
      });
      await Promise.all([...submitting, a.expirer.run(running), b.expirer.run(running)]);
      await a.expirer.run(running);
      const first = Math.floor(nowMs / HOUR_MS) - 3;
      for (const [index, board] of boards.entries()) {
        const counted = runs[index]!.filter(({ atMs }) => Math.floor(atMs / HOUR_MS) >= first);
        const expected: Record<string, number> = {};
        for (const player of new Set(counted.map((run) => run.player))) {
          const ofPlayer = counted.filter((run) => run.player === player);
          const latestMs = Math.max(...ofPlayer.map(({ atMs }) => atMs));
          expected[player] = {
            sum: ofPlayer.reduce((sum, { score }) => sum + score, 0),
            best: Math.max(...ofPlayer.map(({ score }) => score)),
            latest: ofPlayer.filter(({ atMs }) => atMs === latestMs).at(-1)!.score,
          }[operators[index]!];
        }
        expect(await scores(board), `${operators[index]} at step ${step}`).toEqual(expected);
      }
    }
  });
});
