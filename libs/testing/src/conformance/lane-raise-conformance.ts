import { setTimeout as delay } from 'node:timers/promises';
import { LadderError } from '@laddercast/domain';
import type { BatchHandler, EventLog } from '@laddercast/event-log';
import { isOfEarlierMap, Lanes, nextPosition, takeAllLanes, type PostgresDatabase } from '@laddercast/ledger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ascending, Collector, newBoard, until } from './collector.js';
import { OutboxWriter } from '../services/outbox-writer.js';

/** One process's log, and what that process knows of the lanes. */
export interface RaisedLogProcess {
  log: EventLog;
  lanes: Lanes;
  /** Nothing more goes to or comes from the services: to the others it looks like `kill -9`. */
  cut(): void;
  close(): Promise<void>;
}

/** A log and a ledger of their own, where nothing was written yet; the first map is of two lanes. */
export interface LaneRaiseHarness {
  database: PostgresDatabase;
  /** Of what fills the log, if that is apart. */
  relayLanes: Lanes | null;
  openProcess(): Promise<RaisedLogProcess>;
  close(): Promise<void>;
}

const TEST_TIMEOUT_MS = 120_000;
/** In this time something that is not held back has long arrived. */
const QUIET_MS = 2500;
const GROUP = 'raised';

/** Declares the tests that every {@link EventLog} must pass whose lanes are raised while it is consumed. */
export function laneRaiseConformance(openHarness: () => Promise<LaneRaiseHarness>): void {
  describe('lanes that are raised', { timeout: TEST_TIMEOUT_MS }, () => {
    let harness: LaneRaiseHarness;
    let writer: OutboxWriter;
    let processes: RaisedLogProcess[];
    let isStuck: boolean;
    let seen: Collector;

    beforeEach(async () => {
      harness = await openHarness();
      await harness.database.query('INSERT INTO lane_maps (number, count, since) VALUES (0, 2, 0)');
      writer = new OutboxWriter(harness.database);
      processes = [];
      isStuck = true;
      seen = new Collector(newBoard());
    }, TEST_TIMEOUT_MS);
    afterEach(async () => {
      isStuck = false;
      await Promise.all(processes.map((process) => process.close()));
      await harness.close();
    }, TEST_TIMEOUT_MS);

    const open = async (): Promise<RaisedLogProcess> => {
      const process = await harness.openProcess();
      processes.push(process);
      return process;
    };
    const write = (lane: number, ...players: string[]): Promise<number[]> => writer.write(lane, seen.boardUid, players);
    /** In the ledger alone: no process knows it. */
    const raiseUnheard = async (count: number): Promise<void> => {
      await harness.database.transaction(async (transaction) => {
        await takeAllLanes(transaction, new Lanes(2));
        const since = await nextPosition(transaction);
        await transaction.query('INSERT INTO lane_maps (number, count, since) VALUES ($1, $2, $3)', [
          writer.map + 1,
          count,
          since,
        ]);
      });
      writer.map += 1;
    };
    const raise = async (count: number): Promise<void> => {
      await raiseUnheard(count);
      for (const lanes of [harness.relayLanes, ...processes.map((process) => process.lanes)]) {
        await lanes?.refresh(harness.database);
      }
    };
    /** Handles nothing of lane 0, nor what came with it, as long as it is stuck. */
    const collectUnlessStuck =
      (collector: Collector): BatchHandler =>
      async (batch) => {
        if (isStuck && batch.lane === 0) throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
        await collector.collect(batch);
      };
    const positionsOf = (collector: Collector): number[] => [
      ...new Set(collector.deliveries.map(({ position }) => position)),
    ];
    const lanesOf = (collector: Collector): number[] => [...new Set(collector.deliveries.map(({ lane }) => lane))];
    const follow = async ({ log }: RaisedLogProcess): Promise<Collector> => {
      const all = new Collector(seen.boardUid);
      await log.consume('another', ['entry-changed'], all.collect);
      return all;
    };

    it('has what is written in those that were added', async () => {
      const process = await open();
      await process.log.consume(GROUP, ['entry-changed'], seen.collect);
      const written = [...(await write(0, 'a', 'b')), ...(await write(1, 'c'))];
      await until('the first are handled', () => seen.deliveries.length === 3);
      await until('and committed', async () => (await process.log.lag(GROUP)).every(({ events }) => events === 0));
      await raise(4);
      written.push(...(await write(2, 'b')), ...(await write(3, 'c', 'd')), ...(await write(0, 'a')));
      await until('all are handled', () => positionsOf(seen).length === written.length);
      expect(ascending(seen.deliveries.map(({ position }) => position))).toEqual(written);
      expect(seen.firsts(3)).toEqual(ascending(seen.firsts(3)));
      await until('nothing is left', async () => (await process.log.lag(GROUP)).every(({ events }) => events === 0));
      expect((await process.log.lag(GROUP)).map(({ lane }) => lane)).toEqual([0, 1, 2, 3]);
    });

    it('has a group begin with one after what its players’ former lane held, and holds up nothing else', async () => {
      const process = await open();
      const all = await follow(process);
      await process.log.consume(GROUP, ['entry-changed'], collectUnlessStuck(seen));
      const before = await write(0, 'a', 'b');
      await until('another group goes on', () => positionsOf(all).length === 2);
      await raise(4);
      const after = await write(2, 'b');
      const beside = await write(3, 'c');
      await until('another group has all', () => positionsOf(all).length === 4);
      // A second process gets some of the lanes, and holds back as well.
      const second = await open();
      await second.lanes.refresh(harness.database);
      await second.log.consume(GROUP, ['entry-changed'], collectUnlessStuck(seen));
      await delay(QUIET_MS);
      expect(lanesOf(seen)).not.toContain(0);
      expect(lanesOf(seen)).not.toContain(2);
      isStuck = false;
      await until('the group has all', () => positionsOf(seen).length === 4);
      expect(positionsOf(seen).filter((position) => !beside.includes(position))).toEqual([...before, ...after]);
    });

    it.each(['ends', 'is killed'])('keeps the order for a group whose process %s meanwhile', async (how) => {
      const first = await open();
      const second = await open();
      const all = await follow(second);
      const taken = await first.log.consume(GROUP, ['entry-changed'], collectUnlessStuck(seen));
      const before = await write(0, 'a', 'b');
      await raise(4);
      const after = await write(2, 'b');
      await until('another group has all', () => positionsOf(all).length === 3);
      await delay(QUIET_MS);
      if (how === 'is killed') first.cut();
      await second.log.consume(GROUP, ['entry-changed'], collectUnlessStuck(seen));
      if (how === 'ends') await taken.stop();
      await delay(QUIET_MS);
      expect(seen.deliveries).toEqual([]);
      isStuck = false;
      await until('the group has all', () => positionsOf(seen).length === 3, 60_000);
      expect(positionsOf(seen)).toEqual([...before, ...after]);
    });

    it('keeps the order where they are raised again, and for a group that is new then', async () => {
      const process = await open();
      const all = await follow(process);
      await process.log.consume(GROUP, ['entry-changed'], collectUnlessStuck(seen));
      const positions = await write(0, 'a');
      await raise(4);
      positions.push(...(await write(2, 'a')));
      await raise(8);
      positions.push(...(await write(6, 'a')));
      await until('another group has all', () => positionsOf(all).length === 3);
      const late = new Collector(seen.boardUid);
      await process.log.consume('new', ['entry-changed'], collectUnlessStuck(late));
      await delay(QUIET_MS);
      expect([...seen.deliveries, ...late.deliveries]).toEqual([]);
      isStuck = false;
      await until('all have all', () => [seen, late].every((one) => positionsOf(one).length === 3));
      for (const one of [all, seen, late]) expect(positionsOf(one)).toEqual(positions);
    });

    it('delivers each player’s events in order while many write', async () => {
      const process = await open();
      const slow = new Collector(seen.boardUid);
      await process.log.consume(GROUP, ['entry-changed'], seen.collect);
      await process.log.consume('slow', ['entry-changed'], async (batch) => {
        await delay(20);
        await slow.collect(batch);
      });
      const written = new Map<number, number[]>();
      let isWriting = true;
      const writeAs = async (player: number): Promise<void> => {
        const positions: number[] = [];
        written.set(player, positions);
        while (isWriting) {
          const lane = player % 2 ** (writer.map + 1);
          const attempt = write(lane, `player-${player}`);
          positions.push(...(await attempt.catch((error) => (isOfEarlierMap(error) ? [] : Promise.reject(error)))));
          await delay(5);
        }
      };
      const writing = Array.from({ length: 8 }, (_, player) => writeAs(player));
      for (const count of [4, 8]) {
        await delay(700);
        await raise(count);
      }
      await delay(700);
      isWriting = false;
      await Promise.all(writing);
      const all = [...written.values()].flat();
      for (const one of [seen, slow]) {
        await until('all have arrived', () => positionsOf(one).length === all.length, 60_000);
        expect(lanesOf(one)).toHaveLength(8);
        for (const positions of written.values()) {
          expect(positionsOf(one).filter((position) => positions.includes(position))).toEqual(positions);
        }
      }
    });
  });
}
