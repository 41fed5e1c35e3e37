import { setTimeout as delay } from 'node:timers/promises';
import { LadderError, type EntryChanged } from '@laddercast/domain';
import { LOG_BATCH_MAX, type EventLog } from '@laddercast/event-log';
import type { PostgresDatabase } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import { ascending, Collector, gate, newBoard, openGates, until } from './collector.js';
import { OutboxWriter } from '../services/outbox-writer.js';

/** One process's log, with its way to the services in the hands of the test. */
export interface EventLogProcess {
  log: EventLog;
  /** Nothing more goes to or comes from the services: to the others it looks like `kill -9`. */
  cut(): void;
  mend(): void;
  /** Also after {@link cut}. */
  close(): Promise<void>;
}

export interface EventLogHarness {
  lanes: number;
  /** The ledger's database, where tests write events and find dead letters. */
  database: PostgresDatabase;
  openProcess(): Promise<EventLogProcess>;
}

export interface EventLogConformanceOptions {
  /** Asked for in each test. */
  harness: () => EventLogHarness;
  /** The longest that a lane may stand still after its consumer's process was killed. */
  takeoverMs: number;
  /** The longest that 20,000 events may take. */
  bulkMs: number;
}

const TEST_TIMEOUT_MS = 180_000;

let lastGroup = 0;

/** Declares the tests that every {@link EventLog} must pass, against real services. */
export function eventLogConformance({ harness, takeoverMs, bulkMs }: EventLogConformanceOptions): void {
  const writer = (): OutboxWriter => new OutboxWriter(harness().database);
  const lanes = (): number[] => Array.from({ length: harness().lanes }, (_, lane) => lane);
  const newGroup = (): string => `group-${(lastGroup += 1)}`;
  const deadLetters = (group: string): Promise<{ position: number; cause: string; payload: string }[]> =>
    harness().database.query(
      'SELECT position, cause, payload FROM dead_letters WHERE consumer_group = $1 ORDER BY position',
      [group],
    );
  const lagOf = async (log: EventLog, group: string): Promise<number> =>
    (await log.lag(group)).reduce((sum, { events }) => sum + events, 0);
  /** Runs a test with processes that are closed whatever happens. */
  const withProcesses = async (
    count: number,
    test: (...processes: EventLogProcess[]) => Promise<void>,
  ): Promise<void> => {
    const processes = await Promise.all(Array.from({ length: count }, () => harness().openProcess()));
    try {
      await test(...processes);
    } finally {
      openGates();
      await Promise.all(processes.map((process) => process.close()));
    }
  };

  describe('order and completeness', () => {
    it(
      'delivers every committed event once in the order of its lane, while writers commit late and roll back',
      { timeout: TEST_TIMEOUT_MS },
      () =>
        withProcesses(1, async (process) => {
          const seen = new Collector(newBoard());
          const written: { lane: number; position: number }[] = [];
          await process!.log.consume(newGroup(), ['entry-changed'], seen.collect);
          const write = async (connection: number): Promise<void> => {
            for (let round = 0; round < 40; round += 1) {
              const lane = (connection + round) % harness().lanes;
              const rollBack = Math.random() < 0.2;
              const players = Array.from({ length: 1 + (round % 5) }, (_, n) => `player-${connection}-${n}`);
              const positions = await writer()
                .write(lane, seen.boardUid, players, async () => {
                  await delay(Math.random() * 15);
                  if (rollBack) throw new Error('rolled back on purpose');
                })
                .catch((error: Error) => (error.message === 'rolled back on purpose' ? [] : Promise.reject(error)));
              written.push(...positions.map((position) => ({ lane, position })));
            }
          };
          await Promise.all([0, 1, 2, 3].map(write));
          await until('every event has arrived', () => seen.deliveries.length >= written.length);
          for (const lane of lanes()) {
            const positions = written.filter((one) => one.lane === lane).map((one) => one.position);
            expect(seen.firsts(lane)).toEqual(ascending(positions));
            for (const [position, ms] of await writer().writtenAtMs(lane, positions)) {
              expect([...seen.writtenAtMs.get(position)!]).toEqual([ms]);
            }
          }
          expect(seen.deliveries).toHaveLength(written.length);
        }),
    );

    it('gives each group everything, however slow another is', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(1, async (process) => {
        const [fast, slow] = [new Collector(newBoard()), gate()];
        const slowSeen = new Collector(fast.boardUid);
        await process!.log.consume(newGroup(), ['entry-changed'], fast.collect);
        await process!.log.consume(newGroup(), ['entry-changed'], async (batch) => {
          await slow.opened;
          await slowSeen.collect(batch);
        });
        for (const lane of lanes()) await writer().write(lane, fast.boardUid, ['a', 'b', 'c']);
        await until('the fast group has everything', () => fast.deliveries.length === 3 * harness().lanes);
        expect(slowSeen.deliveries).toHaveLength(0);
        slow.open();
        await until('the slow group has everything', () => slowSeen.deliveries.length === 3 * harness().lanes);
      }),
    );

    it('gives a group the topics that it asked for, and no other', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(1, async (process) => {
        const boards = new Collector(newBoard());
        const both = new Collector(boards.boardUid);
        const group = newGroup();
        await process!.log.consume(group, ['board-changed'], boards.collect);
        await process!.log.consume(newGroup(), ['entry-changed', 'board-changed'], both.collect);
        await writer().write(0, boards.boardUid, ['a', 'b']);
        const position = await writer().writeBoardChanged(0, boards.boardUid);
        await writer().write(0, boards.boardUid, ['c']);
        await until('both have theirs', () => both.deliveries.length === 4 && boards.deliveries.length === 1);
        expect(boards.deliveries).toEqual([{ lane: 0, position }]);
        await until('nothing is left for the rare topic', async () => (await lagOf(process!.log, group)) === 0);
      }),
    );

    it('handles 20,000 events in bounded time, in bounded batches', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(1, async (process) => {
        const seen = new Collector(newBoard());
        let largest = 0;
        for (const lane of lanes()) await writer().writeMany(lane, seen.boardUid, 20_000 / harness().lanes);
        const startedAt = performance.now();
        await process!.log.consume(newGroup(), ['entry-changed'], async (batch) => {
          largest = Math.max(largest, batch.records.length);
          await seen.collect(batch);
        });
        await until('all are handled', () => seen.deliveries.length >= 20_000, bulkMs);
        const seconds = (performance.now() - startedAt) / 1000;
        expect(largest).toBeLessThanOrEqual(LOG_BATCH_MAX);
        for (const lane of lanes()) expect(seen.firsts(lane)).toEqual(ascending(seen.firsts(lane)));
        expect(seconds * 1000).toBeLessThan(bulkMs);
      }),
    );
  });

  describe('failing handlers', () => {
    it('calls again after a retriable error until it succeeds, and parks nothing', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(1, async (process) => {
        const seen = new Collector(newBoard());
        const group = newGroup();
        let failuresLeft = 4;
        await process!.log.consume(group, ['entry-changed'], async (batch) => {
          const mine = batch.records.some(({ event }) => (event as EntryChanged).boardUid === seen.boardUid);
          if (mine && (failuresLeft -= 1) >= 0) throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
          await seen.collect(batch);
        });
        const positions = await writer().write(0, seen.boardUid, ['a', 'b']);
        await until('they are handled after all', () => seen.deliveries.length >= 2);
        expect(seen.firsts(0)).toEqual(positions);
        expect(await deadLetters(group)).toEqual([]);
      }),
    );

    it(
      'parks the one event that fails by itself, with its cause, and the lane goes on',
      { timeout: TEST_TIMEOUT_MS },
      () =>
        withProcesses(1, async (process) => {
          const seen = new Collector(newBoard());
          const group = newGroup();
          await process!.log.consume(group, ['entry-changed'], async (batch) => {
            const poison = batch.records.some(
              ({ event }) =>
                (event as EntryChanged).boardUid === seen.boardUid &&
                'playerId' in event &&
                event.playerId === 'poison',
            );
            if (poison) throw new TypeError('this one cannot be handled, redis://user:hunter2@127.0.0.1');
            await seen.collect(batch);
          });
          const positions = await writer().write(0, seen.boardUid, ['a', 'b', 'c', 'poison', 'd', 'e', 'f']);
          const poison = positions[3]!;
          await until('the events around it are handled', () => seen.firsts(0).length === 6);
          expect(ascending(seen.firsts(0))).toEqual(positions.filter((position) => position !== poison));
          const [letter, ...others] = await deadLetters(group);
          expect(others).toEqual([]);
          expect(letter!.position).toBe(poison);
          expect(letter!.cause).toMatch(/TypeError: this one cannot be handled/);
          expect(letter!.cause).not.toContain('hunter2');
          expect(JSON.parse(letter!.payload)).toMatchObject({ playerId: 'poison', version: poison });
          const [after] = await writer().write(0, seen.boardUid, ['later']);
          await until('the lane goes on', () => seen.count(after!) === 1);
          await until('nothing is left', async () => (await lagOf(process!.log, group)) === 0);
        }),
    );

    it('counts what waits, and how long it has waited', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(1, async (process) => {
        const seen = new Collector(newBoard());
        const [group, held] = [newGroup(), gate()];
        const subscription = await process!.log.consume(group, ['entry-changed'], seen.collect);
        await writer().write(0, seen.boardUid, ['a']);
        await until(
          'the group has caught up',
          async () => (await lagOf(process!.log, group)) === 0 && seen.deliveries.length === 1,
        );
        await subscription.stop();
        await process!.log.consume(group, ['entry-changed'], () => held.opened);
        await writer().write(0, seen.boardUid, ['b', 'c', 'd']);
        if (harness().lanes > 1) await writer().write(1, seen.boardUid, ['e']);
        await delay(2200);
        const lag = await process!.log.lag(group);
        expect(lag.map(({ lane }) => lane)).toEqual(lanes());
        expect(lag.map(({ events }) => events)).toEqual(lanes().map((lane) => [3, 1][lane] ?? 0));
        expect(lag[0]!.seconds).toBeGreaterThanOrEqual(2);
        expect(lag[0]!.seconds).toBeLessThan(60);
        held.open();
        await until('nothing waits', async () =>
          (await process!.log.lag(group)).every((lane) => lane.events === 0 && lane.seconds === 0),
        );
      }),
    );
  });

  describe('several processes', () => {
    it(
      'delivers again what a killed process had not committed, and nothing that was',
      { timeout: TEST_TIMEOUT_MS },
      () =>
        withProcesses(2, async (killed, next) => {
          const before = new Collector(newBoard());
          const after = new Collector(before.boardUid);
          const [group, stuck] = [newGroup(), gate()];
          let inHand = 0;
          let mayHandle = true;
          await killed!.log.consume(group, ['entry-changed'], async (batch) => {
            if (!mayHandle) {
              inHand += batch.records.filter(
                ({ event }) => (event as EntryChanged).boardUid === before.boardUid,
              ).length;
              await stuck.opened;
            }
            await before.collect(batch);
          });
          const handled = await writer().write(0, before.boardUid, ['a', 'b']);
          await until(
            'the first are committed',
            async () => before.deliveries.length === 2 && (await lagOf(killed!.log, group)) === 0,
          );
          mayHandle = false;
          const unhandled = await writer().write(0, before.boardUid, ['c', 'd']);
          await until('the next are in hand', () => inHand > 0);
          // Longer than an offset waits to be committed: one that went out too early must be seen.
          await delay(400);
          killed!.cut();
          await next!.log.consume(group, ['entry-changed'], after.collect);
          await until('they come again', () => after.firsts(0).length === 2, takeoverMs);
          expect(after.firsts(0)).toEqual(unhandled);
          for (const position of handled) expect(after.count(position)).toBe(0);
          stuck.open();
        }),
    );

    it('shares a group’s lanes, and takes over those of a killed process', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(2, async (first, second) => {
        const one = new Collector(newBoard());
        const two = new Collector(one.boardUid);
        const group = newGroup();
        const lanesServed = { one: new Set<number>(), two: new Set<number>() };
        await first!.log.consume(group, ['entry-changed'], async (batch) => {
          lanesServed.one.add(batch.lane);
          await one.collect(batch);
        });
        const written: number[] = [];
        const writeAll = async (): Promise<void> => {
          for (const lane of lanes()) written.push(...(await writer().write(lane, one.boardUid, ['a'])));
        };
        const seenByAny = (): Set<number> =>
          new Set([...one.deliveries, ...two.deliveries].map((each) => each.position));
        await writeAll();
        await until('the first serves every lane', () => lanesServed.one.size === harness().lanes);
        await second!.log.consume(group, ['entry-changed'], async (batch) => {
          lanesServed.two.add(batch.lane);
          await two.collect(batch);
        });
        await until('both serve lanes', async () => {
          lanesServed.one.clear();
          lanesServed.two.clear();
          await writeAll();
          await until('all arrived', () => written.every((position) => seenByAny().has(position)), takeoverMs);
          return lanesServed.one.size > 0 && lanesServed.two.size > 0;
        });
        first!.cut();
        lanesServed.two.clear();
        await writeAll();
        await until('the second serves every lane', () => lanesServed.two.size === harness().lanes, takeoverMs);
        await until('nothing was lost', () => written.every((position) => seenByAny().has(position)));
      }),
    );

    it('changes nothing by the commit of a consumer that lost its lane', { timeout: TEST_TIMEOUT_MS }, () =>
      withProcesses(3, async (late, next, last) => {
        const seen = new Collector(newBoard());
        const again = new Collector(seen.boardUid);
        const [group, stuck] = [newGroup(), gate()];
        let inHand = false;
        await late!.log.consume(group, ['entry-changed'], async (batch) => {
          inHand ||= batch.records.some(({ event }) => (event as EntryChanged).boardUid === seen.boardUid);
          if (inHand) await stuck.opened;
        });
        await writer().write(0, seen.boardUid, ['a']);
        await until('the late one has the event in hand', () => inHand);
        late!.cut();
        const taking = await next!.log.consume(group, ['entry-changed'], seen.collect);
        await writer().write(0, seen.boardUid, ['b', 'c']);
        await until('the next one handled all', () => seen.firsts(0).length === 3, takeoverMs);
        await until('and committed', async () => (await lagOf(next!.log, group)) === 0);
        late!.mend();
        stuck.open();
        // Time to try: connections come back with backoff.
        await delay(3000);
        await taking.stop();
        await late!.close();
        await last!.log.consume(group, ['entry-changed'], again.collect);
        const [fresh] = await writer().write(0, seen.boardUid, ['d']);
        await until('the last one goes on', () => again.count(fresh!) === 1, takeoverMs);
        expect(again.firsts(0)).toEqual([fresh]);
      }),
    );
  });
}
