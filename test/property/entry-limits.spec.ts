// Real: PostgreSQL, the ledgers of two processes and what removes entries in each; the ledger's clock is the test's.
// Checked against everything that happened, computed anew as plainly as possible. Prints its seed; SEED=… repeats it.
import { withBoardDefaults, type Board, type BoardLimits, type WindowSpec } from '@laddercast/domain';
import { Dice, seedOfRun, createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimitNode } from '../integration/nodes/limit-node.js';
import { LimitHistory, type LimitRules, type Standing } from './limit-history.js';

const PLAYERS = ['ada', 'Bob', 'cy', 'dé', 'é', 'eve/1', 'z', '😀', '\u{fffd}'];
const BOARDS = 6;
const STEPS = 120;
const MINUTE_MS = 60_000;
const running = new AbortController().signal;
const audit = { actor: 'test', action: 'entry.set', subject: 'any', details: {} };
const seed = seedOfRun();

const { next: random, below, oneOf } = new Dice(seed);
const maybe = <T>(value: T): T | null => (random() < 0.6 ? value : null);

interface Sent {
  player: string;
  score: number;
  atMs: number;
  submissionId: string;
}

describe(`limits (SEED=${seed})`, () => {
  let testDatabase: TestDatabase;
  let nodes: LimitNode[];
  let clock: DatabaseClock;
  let nowMs = Date.parse('2026-11-20T20:00:00Z');
  let runs = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new LimitNode(testDatabase.url), new LimitNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
  });
  afterAll(async () => {
    await clock.close();
    await Promise.all(nodes.map((node) => node.stop()));
    await testDatabase.drop();
  });

  const limitsOf = (operator: string): BoardLimits => ({
    scoreMin: null,
    scoreMax: null,
    columns: {},
    entriesMax: operator === 'sum' ? null : maybe(1 + below(6)),
    attemptsMax: maybe(1 + below(12)),
    entryLifetimeSeconds: maybe(60 * (1 + below(300))),
  });

  async function makeBoard(): Promise<{ board: Board; history: LimitHistory; sent: Map<string, Sent> }> {
    const operator = oneOf(['best', 'latest', 'sum'] as const);
    const windows = oneOf([['alltime'], ['daily', 'alltime'], ['rolling:3h'], ['alltime', 'rolling:3h', 'daily']]);
    const rules: LimitRules = {
      operator,
      windows,
      order: oneOf(['asc', 'desc']),
      tiebreak: oneOf(['earliest', 'latest', 'none']),
      graceMs: 10 * MINUTE_MS,
      limits: limitsOf(operator),
    };
    const specs = windows.map((name): WindowSpec => (name === 'rolling:3h' ? { rolling: '3h' } : (name as 'daily')));
    const definition = withBoardDefaults({ ...rules, windows: specs, graceSeconds: rules.graceMs / 1000 });
    return { board: await nodes[0]!.put(definition), history: new LimitHistory(rules), sent: new Map() };
  }

  async function submit({ board, history, sent }: Awaited<ReturnType<typeof makeBoard>>): Promise<void> {
    const [player, score] = [oneOf(PLAYERS), 1 + below(8)];
    const atMs = nowMs - (random() < 0.6 ? 0 : below(5 * 60) * MINUTE_MS);
    const submissionId = `s${(runs += 1)}`;
    const wanted = history.submit(player, { score, atMs }, nowMs);
    const result = await oneOf(nodes).attempt(board, player, score, { achievedAtMs: atMs, submissionId });
    expect(Array.isArray(result) ? [...result].sort() : result.code).toEqual(
      Array.isArray(wanted) ? [...wanted].sort() : wanted,
    );
    if (Array.isArray(result)) sent.set(submissionId, { player, score, atMs, submissionId });
  }

  async function repeat({ board, sent }: Awaited<ReturnType<typeof makeBoard>>): Promise<void> {
    if (sent.size === 0) return;
    const { player, score, atMs, submissionId } = oneOf([...sent.values()]);
    const receipt = await oneOf(nodes).submit(board, player, score, { achievedAtMs: atMs, submissionId });
    expect(receipt.replayed).toBe(true);
  }

  async function override({ board, history }: Awaited<ReturnType<typeof makeBoard>>): Promise<void> {
    const [player, score] = [oneOf(PLAYERS), random() < 0.5 ? null : 1 + below(8)];
    history.override(player, score, nowMs);
    const node = oneOf(nodes);
    await node.boards.refresh();
    const entry = score === null ? null : { score, columns: [] };
    await node.ledger.write({
      kind: 'override',
      board: node.boards.byId(board.id)!,
      playerId: player,
      entry,
      audit,
    });
  }

  async function redefine({ board, history }: Awaited<ReturnType<typeof makeBoard>>): Promise<void> {
    const limits = limitsOf(history.rules.operator);
    history.redefine(limits, nowMs);
    await nodes[0]!.put({ ...board.definition, limits }, board.id);
  }

  async function stored({ board }: { board: Board }): Promise<Map<string, Standing[]>> {
    const rows = await nodes[0]!.database.query<{ id: string; player: string; score: number; atMs: number }>(
      `SELECT window_id AS id, player_id AS player, score, achieved_at_ms AS "atMs"
       FROM entries JOIN windows USING (window_uid) WHERE entries.board_uid = $1 AND NOT removed`,
      [board.uid],
    );
    const standings = new Map<string, Standing[]>();
    for (const { id, player, score, atMs } of rows)
      standings.set(id, [...(standings.get(id) ?? []), [player, score, atMs]]);
    return standings;
  }

  /** What the log says that every window holds: of each entry the newest version. */
  async function logged({ board }: { board: Board }): Promise<Map<string, Standing[]>> {
    const versions = new Map<string, number>();
    const entries = new Map<string, Standing>();
    for (const { playerId, version, changes } of await nodes[0]!.changes(board)) {
      for (const { windowUid, entry } of changes) {
        const { id } = (await nodes[0]!.windows.byUid(windowUid))!;
        const key = `${id} ${playerId}`;
        expect(version, 'versions only grow').toBeGreaterThan(versions.get(key) ?? 0);
        versions.set(key, version);
        if (entry === null) {
          expect(entries.delete(key), `${key} is removed once`).toBe(true);
        } else entries.set(key, [playerId, entry.score, entry.achievedAtMs]);
      }
    }
    const standings = new Map<string, Standing[]>();
    for (const [key, standing] of entries) {
      const id = key.split(' ')[0]!;
      standings.set(id, [...(standings.get(id) ?? []), standing]);
    }
    return standings;
  }

  async function compare(one: Awaited<ReturnType<typeof makeBoard>>, what: string, withLog: boolean): Promise<void> {
    const { history } = one;
    const looks: [string, Map<string, Standing[]>][] = [['entries', await stored(one)]];
    if (withLog) looks.push(['log', await logged(one)]);
    for (const [name, standings] of looks) {
      for (const id of new Set([...history.windows.keys(), ...standings.keys()])) {
        const sorted = (rows: Standing[]): Standing[] => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(sorted(standings.get(id) ?? []), `${name} of ${id} ${what} ${JSON.stringify(history.rules)}`).toEqual(
          sorted(history.standings(id)),
        );
      }
    }
  }

  it('leave what everything that happened says', async () => {
    const boards: Awaited<ReturnType<typeof makeBoard>>[] = [];
    for (let n = 0; n < BOARDS; n += 1) boards.push(await makeBoard());
    for (let step = 0; step < STEPS; step += 1) {
      const dice = random();
      const one = oneOf(boards);
      if (dice < 0.55) for (const board of boards) await submit(board);
      else if (dice < 0.62) await repeat(one);
      else if (dice < 0.7) await override(one);
      else if (dice < 0.76) await redefine(one);
      else {
        nowMs += below(90) * MINUTE_MS;
        await clock.stopAt(nowMs);
        await oneOf(nodes).expirer.run(running);
        for (const { history } of boards) history.roll(nowMs);
        await compare(one, `rolled at step ${step}`, false);
        await oneOf(nodes).limit(one.board);
        for (const board of boards) {
          board.history.limit(nowMs);
          await compare(board, `limited at step ${step}`, random() < 0.1);
        }
      }
    }
    for (const board of boards) await compare(board, 'in the end', true);
  });
});
