// Real: PostgreSQL, the saga of histories and its command, in two processes. Events of some days arrive in any order, in any
// batches, again and again, from both; the history is that of plain code that saw each once, in order. The list that ranks
// are looked up in is a fake: it shows the last state of everybody.
import { withBoardDefaults, type Board, type EntryChanged } from '@laddercast/domain';
import { RecordHistoryHandler } from '@laddercast/commands';
import type { LogRecord } from '@laddercast/event-log';
import { EntryHistory, type HistoryPoint, type HistorySpan } from '@laddercast/ledger';
import type { RankList, RankProjection } from '@laddercast/projections';
import { HistorySaga } from '@laddercast/sagas';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import type { CommandBus } from '@nestjs/cqrs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerNode } from '../integration/nodes/ledger-node.js';

const RUNS = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const START_MS = Date.parse('2026-11-20T10:17:23.456Z');
const PLAYERS = ['ada', 'é', 'e\u0301', '{b}', '😀'];

/** One change, some time after the one before. */
interface Change {
  afterMs: number;
  player: number;
  /** In which of two windows; both: 2. */
  windows: number;
  score: number | null;
}

interface Scenario {
  history: { everyMinutes: number; keepDays: number };
  changes: Change[];
  /** Which events each delivery holds, by numbers that are taken modulo the number of events. */
  deliveries: { of: number[]; process: number }[];
  /** Decides the order in which all come once. */
  mixing: number;
}

const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  history: fc.record({ everyMinutes: fc.constantFrom(1, 7, 60, 1440), keepDays: fc.integer({ min: 1, max: 3 }) }),
  changes: fc.array(
    fc.record({
      afterMs: fc.oneof(fc.nat({ max: 2 * MINUTE_MS }), fc.nat({ max: DAY_MS / 2 })),
      player: fc.nat({ max: PLAYERS.length - 1 }),
      windows: fc.nat({ max: 2 }),
      score: fc.oneof({ weight: 6, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) }, fc.constant(null)),
    }),
    { minLength: 1, maxLength: 40 },
  ),
  deliveries: fc.array(fc.record({ of: fc.array(fc.nat(), { maxLength: 12 }), process: fc.nat({ max: 1 }) }), {
    maxLength: 25,
  }),
  mixing: fc.integer({ min: 1, max: 100 }),
});

/** The rank at which the fake list shows a version. */
const rankOf = (version: number): number => 1 + (version % 13);

describe("a player's history", () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let nodes: LedgerNode[];
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new LedgerNode(testDatabase.url), new LedgerNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });
  afterAll(async () => {
    await clock.close();
    await Promise.all(nodes.map((node) => node.stop()));
    await testDatabase.drop();
  });

  async function makeBoard(history: Scenario['history']): Promise<{ board: Board; windowUids: number[] }> {
    const columns = [{ name: 'moves', order: 'asc' as const }];
    const definition = withBoardDefaults({ order: 'desc', operator: 'best', columns, history });
    const { board } = await nodes[0]!.registry.put(`h${(made += 1)}`, definition);
    const rows = await nodes[0]!.database.query<{ window_uid: number }>(
      `INSERT INTO windows (board_uid, window_id, kind) VALUES ($1, 'alltime', 'alltime'), ($1, 'rolling:1h', 'rolling')
       RETURNING window_uid`,
      [board.uid],
    );
    return { board, windowUids: rows.map(({ window_uid }) => window_uid) };
  }

  function recordsOf(changes: readonly Change[], boardUid: number, windowUids: readonly number[]): LogRecord[] {
    let atMs = START_MS;
    return changes.map(({ afterMs, player, windows, score }, at): LogRecord => {
      atMs += afterMs;
      const playerId = PLAYERS[player]!;
      const version = 100 + at;
      const entry = score === null ? null : { score: score + 0, columns: [at], achievedAtMs: 1 };
      const changed = windowUids.filter((_, window) => windows === 2 || windows === window);
      const event: EntryChanged = {
        type: 'entry-changed',
        boardUid,
        playerId,
        version,
        changes: changed.map((windowUid) => ({ windowUid, keepUntilMs: null, entry })),
      };
      return { topic: 'entry-changed', lane: 0, position: version, writtenAtMs: atMs, key: playerId, event };
    });
  }

  /** What plain code makes of the events: of each stretch the last state, as far as it is kept, the newest first. */
  function naive(records: readonly LogRecord[], { history }: Scenario, nowMs: number): HistoryPoint[] {
    const points = new Map<string, HistoryPoint>();
    const lastOf = new Map<string, number>();
    for (const { event, writtenAtMs } of records) {
      const { playerId, version, changes } = event as EntryChanged;
      for (const { windowUid } of changes) lastOf.set(`${windowUid}/${playerId}`, version);
      const stretchMs = writtenAtMs - (writtenAtMs % (history.everyMinutes * MINUTE_MS));
      if (writtenAtMs < nowMs - history.keepDays * DAY_MS) continue;
      for (const { windowUid, entry } of changes) {
        const { score, columns } = entry ?? { score: null, columns: [] };
        const point = { windowUid, playerId, stretchMs, atMs: writtenAtMs, version, score, columns, ranked: null };
        points.set(`${windowUid}/${playerId}/${stretchMs}`, point);
      }
    }
    const isRanked = ({ score, atMs }: HistoryPoint): boolean =>
      score !== null && nowMs - atMs <= history.everyMinutes * MINUTE_MS;
    return [...points.values()]
      .map((point) => {
        const shown = lastOf.get(`${point.windowUid}/${point.playerId}`)!;
        const ranked = { rank: rankOf(shown), total: 99, isExact: shown === point.version, rankedAtMs: nowMs };
        return isRanked(point) ? { ...point, ranked } : point;
      })
      .sort((a, b) => b.stretchMs - a.stretchMs);
  }

  const sagaOn = (node: LedgerNode, versionOf: (windowUid: number, playerId: string) => number): HistorySaga => {
    const projection = {
      lookupStates: async ({ windowUid }: RankList, ids: readonly string[]) => ({
        total: 99,
        listVersion: 1,
        states: ids.map((id) => ({ rank: rankOf(versionOf(windowUid, id)), version: versionOf(windowUid, id) })),
      }),
    } as unknown as RankProjection;
    const handler = new RecordHistoryHandler(new EntryHistory(node.database), projection, node.lanes);
    const commands = { execute: (command: never) => handler.execute(command) } as unknown as CommandBus;
    return new HistorySaga(commands, node.boards, node.windows);
  };

  /** All points of a window and player, by pages. */
  async function readAll(windowUid: number, playerId: string, span: HistorySpan): Promise<HistoryPoint[]> {
    const history = new EntryHistory(nodes[1]!.database);
    const points: HistoryPoint[] = [];
    for (let { beforeStretchMs } = span; ;) {
      const page = await history.read(windowUid, playerId, { ...span, beforeStretchMs });
      points.push(...page);
      if (page.length < span.limit) return points;
      beforeStretchMs = page.at(-1)!.stretchMs;
    }
  }

  const withoutMoment = (points: readonly HistoryPoint[]): HistoryPoint[] =>
    points.map((point) => ({ ...point, ranked: point.ranked && { ...point.ranked, rankedAtMs: 0 } }));

  it('is what was, whatever arrives when and how often', () =>
    fc.assert(
      fc.asyncProperty(
        anyScenario,
        fc.integer({ min: 1, max: 5 }),
        fc.tuple(fc.nat({ max: DAY_MS }), fc.nat({ max: DAY_MS })),
        async (scenario, limit, [fromAfter, toBefore]) => {
          const { board, windowUids } = await makeBoard(scenario.history);
          const records = recordsOf(scenario.changes, board.uid, windowUids);
          const nowMs = records.at(-1)!.writtenAtMs;
          await clock.stopAt(nowMs);
          const versions = new Map<string, number>();
          for (const { event } of records) {
            const { playerId, version, changes } = event as EntryChanged;
            for (const { windowUid } of changes) versions.set(`${windowUid}/${playerId}`, version);
          }
          const versionOf = (windowUid: number, id: string): number => versions.get(`${windowUid}/${id}`)!;
          const sagas = nodes.map((node) => sagaOn(node, versionOf));
          const batches = scenario.deliveries.map(({ of, process }) => ({
            process,
            of: of.map((number) => records[number % records.length]!),
          }));
          // Whatever came before, every event comes at some time; two processes may have a lane for a moment.
          const place = ({ position }: LogRecord): number => (position * scenario.mixing) % 101;
          const inAnyOrder = [...records].sort((a, b) => place(a) - place(b));
          batches.splice(batches.length / 2, 0, { process: 0, of: inAnyOrder });
          for (let at = 0; at < batches.length; at += 2) {
            await Promise.all(
              batches.slice(at, at + 2).map(({ of, process }) => sagas[process]!.record({ lane: 0, records: of })),
            );
          }
          const expected = naive(records, scenario, nowMs);
          const [fromMs, toMs] = [START_MS + fromAfter, nowMs + 1 - toBefore];
          const unbounded = { fromMs: 0, toMs: nowMs + 1, beforeStretchMs: nowMs + 1, limit };
          for (const windowUid of windowUids) {
            for (const playerId of PLAYERS) {
              const own = expected.filter((point) => point.windowUid === windowUid && point.playerId === playerId);
              const all = await readAll(windowUid, playerId, unbounded);
              expect(withoutMoment(all)).toEqual(withoutMoment(own));
              const between = own.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
              const part = await readAll(windowUid, playerId, { ...unbounded, fromMs, toMs });
              expect(withoutMoment(part)).toEqual(withoutMoment(between));
            }
          }
        },
      ),
      { numRuns: RUNS },
    ));
});
