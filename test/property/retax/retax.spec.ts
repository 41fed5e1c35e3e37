// Real: api and projector as they are built, PostgreSQL, Redis, HTTP, a WebSocket client that knows only the contract's rule, and
// SIGKILL. Random runs and publications (also between others, also several at once) on boards of every kind of shards; readers
// all along, each of whose answers is whole under one tax, and says which; at the end every list equals a plain model.
import {
  createTestDatabase,
  Dice,
  emptyTestRedis,
  newInstallation,
  seedOfRun,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from '../../e2e/rest-client.js';
import {
  faultOfRows,
  orderOf,
  patchList,
  taxedList,
  type ModelPatch,
  type ModelRow,
  type ModelRun,
} from './taxed-model.js';

const SEED = seedOfRun();
const PLAYERS = 14;
const ROUNDS = 6;
const soakMs = Number(process.env['SOAK_MINUTES'] ?? 0) * 60_000;
/** Of a family that is left room for a few more. */
const PATCHES_MOST = 200;
const FAMILY = 'eu4';
const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse('2026-01-01T00:00:00.000Z');

interface Page {
  entries: ModelRow[];
  decay: { latest: string | null; retaxing: { to: string | null; done: number } | null };
}

const BOARDS = {
  'one-shard': { order: 'asc' },
  'four-shards': { order: 'desc', sharding: { by: 'hash', count: 4 } },
  ranges: { order: 'asc', sharding: { by: 'range', boundaries: [40, 80, 120] }, dense: true },
} as const satisfies Record<string, { order: 'asc' | 'desc'; sharding?: object; dense?: boolean }>;
type BoardName = keyof typeof BOARDS;
const NAMES = Object.keys(BOARDS) as BoardName[];

describe(`re-taxing (SEED=${SEED})`, () => {
  const dice = new Dice(SEED);
  let testDatabase: TestDatabase;
  let installation: Installation;
  let api: RunningApp;
  let projector: RunningApp;
  let client: RestClient;
  const patches: ModelPatch[] = [];
  /** Every order of patches that there was, and those that publications at one time may have led to. */
  const orders: string[][] = [[]];
  const runs = new Map<BoardName, ModelRun[]>(NAMES.map((name) => [name, []]));
  const faults: string[] = [];
  let answers = 0;
  let retaxingSeen = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
    [api, projector] = await Promise.all([startApp('api', installation), startApp('projector', installation)]);
    client = new RestClient(api.url, installation.adminKey);
  });
  afterAll(async () => {
    await Promise.all([api?.stop(), projector?.stop()]);
    await testDatabase?.drop();
  });

  async function publish(): Promise<void> {
    const n = patches.length;
    const isHotfix = n > 1 && dice.below(6) === 0;
    const sameAs = isHotfix ? dice.oneOf(patches.filter((one) => one.sameAs === undefined)) : undefined;
    // Sometimes between two others, and sometimes at the time of another.
    const at = FIRST_MS + DAY_MS * (dice.below(3) === 0 && n > 0 ? dice.below(n) : n);
    // No two at one time: which of them comes first is then for who accepts them.
    const publishedAtMs = (sameAs ? Math.max(at, sameAs.publishedAtMs) : at) + n;
    const one: ModelPatch = { patch: `1.${n + 5}`, publishedAtMs, ...(sameAs && { sameAs: sameAs.patch }) };
    patches.push(one);
    const body = { family: FAMILY, publishedAt: new Date(publishedAtMs).toISOString(), sameAs: one.sameAs ?? null };
    const answer = await client.put(`/v1/patches/${one.patch}`, body);
    expect(answer.status, answer.text).toBe(201);
  }

  const noteOrders = (from: number): void => {
    // Each of those published at one time may have come first: every set of them was an order for a moment.
    const before = patches.slice(0, from);
    const added = patches.slice(from);
    for (let set = 0; set < 2 ** added.length; set += 1) {
      orders.push(orderOf([...before, ...added.filter((_, at) => (set & (1 << at)) !== 0)]));
    }
  };

  async function submit(name: BoardName): Promise<void> {
    const run = {
      playerId: `p${dice.below(PLAYERS)}`,
      patch: dice.oneOf(patches).patch,
      score: dice.below(3) === 0 ? dice.below(12) * 10 : Math.round(dice.next() * 1e6) / 1e4,
      achievedAtMs: FIRST_MS + dice.below(1000),
    };
    const achievedAt = new Date(run.achievedAtMs).toISOString();
    const { playerId, patch, score } = run;
    const answer = await client.post(`/v1/boards/${name}/scores`, { playerId, patch, score, achievedAt });
    expect(answer.status, answer.text).toBe(200);
    runs.get(name)!.push(run);
    const { rawScore, patchesBehind, score: shown, patch: of } = answer.body as ModelRow;
    const row = { rank: 1, playerId, score: shown, rawScore, patch: of, patchesBehind };
    const fault = orders.map((order) => faultOfRows([row], order.at(-1) ?? null, [order], BOARDS[name].order));
    if (!fault.includes(null)) faults.push(`answer ${answer.text} is under no tax that there was`);
  }

  /** Reads until it is told to stop; 503 is no answer. */
  async function read(name: BoardName, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const path = dice.below(2) === 0 ? 'entries?limit=100' : 'players/p1?around=50';
      const answer = await client.get(`/v1/boards/${name}/${path}`);
      if (answer.status === 200) {
        const { entries, neighbours, decay } = answer.body as Page & { neighbours?: ModelRow[] };
        answers += 1;
        if (decay.retaxing) retaxingSeen += 1;
        const fault = faultOfRows(entries ?? neighbours, decay.latest, orders, BOARDS[name].order);
        if (fault) faults.push(`${name}/${path}: ${fault}: ${answer.text}`);
      } else if (answer.status !== 503 && answer.status !== 404) faults.push(`${name}/${path}: ${answer.text}`);
      await sleep(20);
    }
  }

  const listOf = async (name: BoardName, query = ''): Promise<Page | null> => {
    const answer = await client.get(`/v1/boards/${name}/entries?limit=100${query}`);
    return answer.status === 200 ? (answer.body as Page) : null;
  };

  async function expectModel(): Promise<void> {
    const order = orderOf(patches);
    for (const name of NAMES) {
      const expected = taxedList(runs.get(name)!, patches, order, BOARDS[name].order);
      await expect
        .poll(
          async () => {
            const page = await listOf(name);
            return page?.entries.map(({ rank, playerId, score, rawScore, patch, patchesBehind }) => ({
              ...{ rank, playerId, score, rawScore, patch, patchesBehind },
            }));
          },
          { timeout: 60_000, interval: 200 },
        )
        .toEqual(expected);
      const patch = dice.oneOf(order);
      const ofPatch = await listOf(name, `&scope=patch:${patch}`);
      expect(ofPatch?.entries.map(({ rank, playerId, score }) => [rank, playerId, score])).toEqual(
        patchList(runs.get(name)!, patches, patch, BOARDS[name].order),
      );
    }
  }

  it(
    'answers whole under one tax all along, and comes to what a plain model says',
    { timeout: 180_000 + 2 * soakMs },
    async () => {
      await publish();
      noteOrders(0);
      for (const name of NAMES) {
        const definition = { operator: 'best', limits: { scoreMin: 0 }, decay: { family: FAMILY, perPatch: 0.1 } };
        await client.makeBoard(name, { ...definition, ...BOARDS[name] });
      }
      let isOver = false;
      const readers = NAMES.map((name) => read(name, () => isOver));
      try {
        const endsAtMs = Date.now() + soakMs;
        const goesOn = (round: number): boolean =>
          round < ROUNDS || (Date.now() < endsAtMs && patches.length < PATCHES_MOST);
        for (let round = 0; goesOn(round); round += 1) {
          for (let n = 0; n < 12; n += 1) await submit(dice.oneOf(NAMES));
          const from = patches.length;
          const together = 1 + dice.below(2);
          // Noted before: an answer may come from between.
          const publishing = Array.from({ length: together }, () => publish());
          noteOrders(from);
          await Promise.all(publishing);
          if (dice.below(2) === 0) {
            await sleep(dice.below(400));
            projector.process.kill('SIGKILL');
            await once(projector.process, 'exit');
            projector = await startApp('projector', installation);
          }
          for (let n = 0; n < 6; n += 1) await submit(dice.oneOf(NAMES));
          if (round % 3 === 2) await expectModel();
        }
        await expectModel();
      } finally {
        isOver = true;
        await Promise.all(readers);
      }
      expect(faults.slice(0, 3)).toEqual([]);
      expect(answers).toBeGreaterThan(100);
      expect(retaxingSeen).toBeGreaterThan(0);
    },
  );
});
