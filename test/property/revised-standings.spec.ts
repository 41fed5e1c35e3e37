// Real: PostgreSQL with the ledger's schema, what settles windows, and what makes their later editions.
import type { GivenBoard, SortColumn } from '@laddercast/domain';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerNode } from '../integration/nodes/ledger-node.js';
import { RevisedWindow, SCOPES, type Entry } from './revised-standings.js';

const ANY_SHARE = { rowsMax: 1000, partMax: 1000 };
const PLAYERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'é', 'Z', 'red'];

const anyDefinition = (): fc.Arbitrary<GivenBoard> =>
  fc.record({
    order: fc.constantFrom('asc' as const, 'desc' as const),
    operator: fc.constant('best' as const),
    tiebreak: fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
    columns: fc.constantFrom<SortColumn[]>([], [{ name: 'moves', order: 'asc' }]),
    scopes: fc.constantFrom(
      ['global' as const, 'region' as const, 'guild' as const],
      ['global' as const, 'region' as const],
    ),
    guildAggregate: fc.constantFrom(
      { kind: 'sum' as const, k: null, onLeave: 'takeAway' as const },
      { kind: 'average' as const, k: null, onLeave: 'takeAway' as const },
      { kind: 'top' as const, k: 2, onLeave: 'takeAway' as const },
    ),
  });

/** Few values, so that many are equal. */
const anyEntry = (definition: GivenBoard): fc.Arbitrary<Entry> =>
  fc.option(
    fc.record({
      score: fc.integer({ min: -2, max: 3 }),
      columns: fc.constantFrom(...((definition.columns ?? []).length === 0 ? [[]] : [[0], [1], [2]])),
      achievedAtMs: fc.integer({ min: 1, max: 3 }),
      scopes: fc
        .subarray([...SCOPES])
        .map((names) => names.filter((name, at) => at < 2 || names[at - 1]?.slice(0, 5) !== name.slice(0, 5))),
    }),
    { freq: 4 },
  );

const anyChanges = (definition: GivenBoard, playersMax: number): fc.Arbitrary<Map<string, Entry>> =>
  fc
    .uniqueArray(fc.constantFrom(...PLAYERS), { minLength: 1, maxLength: playersMax })
    .chain((ids) => fc.tuple(...ids.map((id) => anyEntry(definition).map((entry) => [id, entry] as const))))
    .map((pairs) => new Map(pairs));

const anyHistory = fc.oneof(fc.constant(ANY_SHARE), fc.constant({ rowsMax: 4, partMax: 1000 })).chain((limits) =>
  anyDefinition().chain((definition) =>
    fc.record({
      limits: fc.constant(limits),
      definition: fc.constant(definition),
      first: anyChanges(definition, 10),
      rounds: fc.array(fc.array(anyChanges(definition, 3), { minLength: 1, maxLength: 2 }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
  ),
);

describe('standings that acts revised', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let boards = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    await node.start();
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  it('answer every question as a list ranked anew, in every edition, style and scope', () =>
    fc.assert(
      fc.asyncProperty(anyHistory, async ({ limits, definition, first, rounds }) => {
        const window = await RevisedWindow.make(node, `b${(boards += 1)}`, definition);
        await window.act(first, false);
        await window.settle();
        for (const acts of rounds) {
          for (const changes of acts) await window.act(changes);
          await window.revise(limits);
        }
        await window.check();
        expect(await node.database.query('SELECT FROM revisions_due')).toEqual([]);
      }),
      { numRuns: 10 },
    ));

  const kept = async (
    window: RevisedWindow,
  ): Promise<{ number: number; isLaid: boolean; acts: number[]; rows: number }[]> =>
    node.database.query(
      `SELECT number, base_uid IS NOT NULL AS "isLaid", acts::float8[],
         (SELECT count(*) FROM standings WHERE edition_uid = e.edition_uid)::int AS rows
       FROM editions e WHERE window_uid = $1 ORDER BY number`,
      [window.windowUid],
    );
  const entry = (score: number): Entry => ({ score, columns: [], achievedAtMs: 1, scopes: ['region:EU', 'guild:red'] });
  const many = (count: number): Map<string, Entry> =>
    new Map(Array.from({ length: count }, (_, at) => [`p${at}`, entry(at)]));
  const made = async (id: string, first: Map<string, Entry>): Promise<RevisedWindow> => {
    const window = await RevisedWindow.make(node, id, {
      order: 'desc',
      operator: 'best',
      scopes: ['global', 'region', 'guild'],
    });
    await window.act(first, false);
    await window.settle();
    return window;
  };

  it('are laid over the edition before, and written whole where much differs', async () => {
    const window = await made('much', many(400));
    await window.act(new Map([['p3', entry(999)]]));
    expect(await window.revise({ rowsMax: 1000, partMax: 0.01 })).toBe(true);
    await window.act(new Map([['p5', entry(998)]]));
    await window.act(
      new Map([
        ['p6', null],
        ['p7', null],
      ]),
    );
    expect(await window.revise({ rowsMax: 1000, partMax: 0.01 })).toBe(true);
    const editions = await kept(window);
    // Everybody's list, that of the region, that of the guild, and the table of guilds.
    expect(editions).toEqual([
      { number: 1, isLaid: false, acts: [], rows: 1201 },
      { number: 2, isLaid: true, acts: [2], rows: 0 },
      { number: 3, isLaid: false, acts: [3, 4], rows: 3 * 398 + 1 },
    ]);
    await window.check();
  });

  it('get no edition where nothing differs, or differs no more', async () => {
    const window = await made('same', many(5));
    await window.act(new Map([['p3', entry(999)]]));
    await window.act(
      new Map([
        ['p3', entry(3)],
        ['nobody', null],
      ]),
    );
    await node.database.query(`UPDATE entries SET metadata = '{"ofAct":1}' WHERE window_uid = $1`, [window.windowUid]);
    expect(await window.revise(ANY_SHARE)).toBe(false);
    expect(await kept(window)).toHaveLength(1);
    expect(await node.database.query('SELECT FROM revisions_due')).toEqual([]);
  });

  it('are as they were again when the act is undone, bit for bit', async () => {
    const window = await made('undone', many(50));
    const before = window.editions[0]!;
    await window.act(new Map([['p3', null]]));
    await window.revise(ANY_SHARE);
    await window.act(new Map([['p3', entry(3)]]));
    await node.database.query(`UPDATE entries SET metadata = '{"ofAct":1}' WHERE window_uid = $1`, [window.windowUid]);
    await window.revise(ANY_SHARE);
    const list = (uid: number) => window.reader.exported({ ...window.listOf(uid, 0), edition: uid }, 0, 50);
    expect(window.editions).toHaveLength(3);
    expect(await list(window.editions[2]!.uid)).toEqual(await list(before.uid));
    const left = await node.database.query('SELECT FROM edition_changes WHERE edition_uid = $1 AND until IS NULL', [
      before.uid,
    ]);
    expect(left).toEqual([]);
  });
});
