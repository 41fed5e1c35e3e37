// Real: PostgreSQL with the ledger, Redis or Valkey, the outbox as the log, the saga that feeds the ranks.
import { LadderError, laneOf, rangeShardOf, shardOf, type Sharding } from '@laddercast/domain';
import { rankListOf, type PageReading, type RankList } from '@laddercast/projections';
import { createTestDatabase, emptyTestRedis, type TestDatabase } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LayoutNode } from '../nodes/layout-node.js';

const LANES = 2;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let testDatabase: TestDatabase;
let redisUrl: string;
let nodes: LayoutNode[];

async function newNode(): Promise<LayoutNode> {
  const node = new LayoutNode(testDatabase.url, redisUrl);
  nodes.push(node);
  await node.start();
  return node;
}

beforeEach(async () => {
  nodes = [];
  redisUrl = await emptyTestRedis();
  testDatabase = await createTestDatabase();
});

afterEach(async () => {
  for (const node of nodes) await node.stop();
  await testDatabase.drop();
});

/**
 * Runs of one lane, one after another: player 0, 1, 2 … and again, the n-th with the score n. Whoever sees some of the
 * players knows from the highest score what the others must have.
 */
class LaneOfRuns {
  readonly players: string[] = [];
  private readonly numbers = new Map<string, number>();
  submitted = 0;

  constructor(
    private readonly lane: number,
    players: number,
  ) {
    for (let at = 0; this.players.length < players; at += 1) {
      const playerId = `läufer ${at}`;
      if (laneOf(playerId, LANES) === lane) this.players.push(playerId);
    }
    for (const [at, playerId] of this.players.entries()) this.numbers.set(playerId, at);
  }

  async next(node: LayoutNode, board: string): Promise<void> {
    const playerId = this.players[this.submitted % this.players.length]!;
    this.submitted += 1;
    await node.submit(board, playerId, this.submitted);
  }

  has(playerId: string): boolean {
    return this.numbers.has(playerId);
  }

  /** The rows as they are once every run has arrived. */
  finalRows(): { playerId: string; score: number }[] {
    const rows: { playerId: string; score: number }[] = [];
    for (let score = Math.max(1, this.submitted - this.players.length + 1); score <= this.submitted; score += 1) {
      rows.push({ playerId: this.players[(score - 1) % this.players.length]!, score });
    }
    return rows;
  }

  /**
   * What is wrong with these rows of one shard by ranges, of players whose index lies in one shard: those are written
   * together. null: they stood so there at some moment.
   */
  faultInRange(
    rows: readonly { playerId: string; score: number }[],
    isOfHome: (playerId: string) => boolean,
  ): string | null {
    const wrong = rows.find(({ playerId, score }) => this.players[(score - 1) % this.players.length] !== playerId);
    if (wrong) return `lane ${this.lane}: ${wrong.playerId} never had ${wrong.score}`;
    const scores = rows.map(({ score }) => score).sort((a, b) => a - b);
    const numbers = this.players.flatMap((playerId, number) => (isOfHome(playerId) ? [number] : []));
    /** The how many-th of all runs of these players it is. */
    const turnOf = (score: number): number => {
      const number = (score - 1) % this.players.length;
      return ((score - 1 - number) / this.players.length) * numbers.length + numbers.indexOf(number);
    };
    if (scores.every((score, at) => turnOf(score) === turnOf(scores[0]!) + at)) return null;
    return `lane ${this.lane}: gaps in ${scores.join(' ')}, numbers ${numbers.join(' ')}`;
  }

  /** What is wrong with these rows of players who share a shard; null: the lane stood so at some moment. */
  fault(
    rows: readonly { playerId: string; score: number }[],
    shardOfPlayer: (playerId: string) => boolean,
  ): string | null {
    const scores = new Map(rows.map(({ playerId, score }) => [playerId, score]));
    const newest = Math.max(0, ...scores.values());
    for (const [playerId, number] of this.numbers) {
      if (!shardOfPlayer(playerId)) continue;
      const turns = Math.floor((newest - number - 1) / this.players.length);
      const expected = turns < 0 ? undefined : number + 1 + turns * this.players.length;
      const found = scores.get(playerId);
      if (found !== expected) return `lane ${this.lane} at ${newest}: ${playerId} has ${found}, not ${expected}`;
    }
    return null;
  }
}

/** What is wrong with a page of the whole board that was read from the shards of a list. */
function faultOf(page: PageReading, lanes: readonly LaneOfRuns[], { shards, boundaries }: RankList): string | null {
  const { entries, total, accuracy } = page;
  if (new Set(entries.map(({ playerId }) => playerId)).size !== entries.length) return 'a player stands there twice';
  if (entries.some(({ rank }, at) => rank !== at + 1)) return 'ranks have gaps';
  if (entries.some(({ score }, at) => at > 0 && score > entries[at - 1]!.score)) return 'not in order';
  if (total < entries.length) return `total ${total} below ${entries.length}`;
  if (accuracy === 'estimated') return null;
  for (const lane of lanes) {
    for (let shard = 0; shard < shards; shard += 1) {
      if (boundaries !== null) {
        const rows = entries.filter(
          ({ playerId, score }) => lane.has(playerId) && rangeShardOf(boundaries, -score) === shard,
        );
        for (let home = 0; home < shards; home += 1) {
          const isOfHome = (playerId: string): boolean => shardOf(playerId, shards) === home;
          const fault = lane.faultInRange(
            rows.filter(({ playerId }) => isOfHome(playerId)),
            isOfHome,
          );
          if (fault !== null) return `${fault} (range ${shard} of ${shards}, home ${home})`;
        }
        continue;
      }
      const isThere = (playerId: string): boolean => shardOf(playerId, shards) === shard;
      const rows = entries.filter(({ playerId }) => lane.has(playerId) && isThere(playerId));
      const fault = lane.fault(rows, isThere);
      if (fault !== null) return `${fault} (shard ${shard} of ${shards})`;
    }
  }
  return null;
}

/** A reader that has not heard yet which generation serves is told to ask again, and shown nothing that is not so. */
function notYetHeard(error: unknown): null {
  if (error instanceof LadderError && error.message.includes('has not heard where to')) return null;
  throw error;
}

const byHash = (count: number): Sharding => ({ by: 'hash', count });
/** Entries climb by some sixty: two of five cross. */
const byRange = (first: number): Sharding => ({
  by: 'range',
  boundaries: Array.from({ length: 15 }, (_, at) => first + 150 * at),
});

describe('a board that is re-sharded while it is written and read', () => {
  it.each([
    ['by players', byHash(1), [byHash(4), byHash(2), byHash(1)]],
    ['by players, scores and players', byHash(4), [byRange(150), byRange(100), byHash(2)]],
  ])('shows no state that it never had, never fewer entries, and never a lower version: %s', async (_, first, next) => {
    const node = await newNode();
    const reader = await newNode();
    await node.put('busy', { sharding: first });
    const lanes = [new LaneOfRuns(0, 60), new LaneOfRuns(1, 60)];
    await node.follow();
    const stop = new AbortController();
    const schedule = (async () => {
      while (!stop.signal.aborted) {
        node.builder.look(stop.signal);
        await node.remover.look(stop.signal);
        await sleep(20);
      }
      await Promise.all([node.builder.settled(), node.remover.settled()]);
    })();
    const writers = lanes.map(async (lane) => {
      while (!stop.signal.aborted) {
        await lane.next(node, 'busy');
        await sleep(1);
      }
    });
    await expect.poll(() => lanes.every(({ submitted }) => submitted > 5)).toBe(true);
    await node.caughtUp();

    const faults: string[] = [];
    const seen = new Set<number>();
    const window = await reader.listOf('busy');
    let [reads, refusals, exactByRange, total, version] = [0, 0, 0, 0, 0];
    const reading = (async () => {
      while (!stop.signal.aborted && faults.length === 0) {
        // Not refreshed by hand: it hears of another generation when it does.
        const list = rankListOf(reader.boards.byId('busy')!, window.windowUid, 0);
        const page = await reader.projection.page(list, 0, 500, 'ordinal').catch(notYetHeard);
        if (page === null) {
          refusals += 1;
          await sleep(5);
          continue;
        }
        const fault = faultOf(page, lanes, list);
        if (fault !== null) faults.push(`generation ${list.generation}: ${fault}`);
        // What is estimated may be off by its bound.
        if (page.total + (page.errorBound ?? 0) < total)
          faults.push(`total ${page.total} after ${total} in generation ${list.generation}`);
        if (page.listVersion < version) faults.push(`version ${page.listVersion} after ${version}`);
        version = page.listVersion;
        if (page.accuracy === undefined) total = page.total;
        if (page.accuracy === undefined && list.boundaries !== null) exactByRange += 1;
        seen.add(list.generation);
        reads += 1;
      }
    })();
    for (const [at, sharding] of next.entries()) {
      await node.put('busy', { sharding });
      const isServed = async (): Promise<boolean> => {
        const { serving, opening, retiring } = await node.layoutsOf('busy');
        return serving.generation === at + 2 && opening === null && retiring === null;
      };
      await expect.poll(isServed, { timeout: 90_000, interval: 50 }).toBe(true);
    }
    await sleep(400);
    stop.abort();
    await Promise.all([schedule, reading, ...writers]);
    expect(faults).toEqual([]);
    expect(node.failures).toEqual([]);
    expect([...seen]).toEqual([1, 2, 3, 4]);
    expect(reads).toBeGreaterThan(100);
    // It hears within a moment of each of the three moves.
    expect(refusals).toBeLessThan(100);
    expect(exactByRange > 20).toBe(next.some(({ by }) => by === 'range'));
    await node.caughtUp();
    const page = await node.projection.page(await node.listOf('busy'), 0, 500, 'ordinal');
    expect(page.accuracy).toBeUndefined();
    for (const lane of lanes) {
      const rows = page.entries.filter((row) => lane.has(row.playerId));
      expect(rows.map(({ playerId, score }) => ({ playerId, score })).reverse()).toEqual(lane.finalRows());
    }
    expect(page.total).toBe(page.entries.length);
  });
});
