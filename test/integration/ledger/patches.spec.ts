// Real: PostgreSQL with the ledger, its patches and boards; its clock, `ladder_now()`, is in the test's hands.
import { newestOrder, taxOrderOf, withBoardDefaults, type Board } from '@laddercast/domain';
import { AuditLog, countPatchUse, PatchRegistry, takeLane, type PatchDefinition } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LedgerNode } from '../nodes/ledger-node.js';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const never = new AbortController().signal;

describe('patches in the ledger', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let clock: DatabaseClock;
  let patches: PatchRegistry;
  let family: string;
  let families = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    patches = new PatchRegistry(node.database, node.lanes, node.allLanes);
  });
  beforeEach(async () => {
    family = `f${(families += 1)}`;
    await clock.stopAt(NOON);
  });
  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const put = async (id: string, given: Partial<PatchDefinition> = {}, ifMatch: string | null = null) =>
    (await patches.put(id, family, { publishedAtMs: null, sameAs: null, title: null, ...given }, { ifMatch }, 'ops'))
      .patch;
  const makeBoard = async (id: string): Promise<Board> => {
    const definition = withBoardDefaults({ order: 'asc', operator: 'best', decay: { family, perPatch: 0.1 } });
    return (await node.registry.put(id, definition)).board;
  };
  const board = async (id: string): Promise<Board> => {
    await node.boards.refresh();
    return node.boards.byId(id)!;
  };
  /** Ids of the newest order, the oldest first. */
  const order = async (id: string): Promise<string[]> => {
    const known = (await board(id)).patches!;
    const ids = Object.entries(known.published).map(([id, { uid }]): [number, string] => [uid, id]);
    return newestOrder(known).patches.map((uid) => new Map(ids).get(uid)!);
  };
  /** A run of the board that names the patch. */
  const use = async ({ uid, patches: known }: Board, id: string, runs = 1): Promise<void> =>
    node.database.transaction(async (transaction) => {
      await takeLane(transaction, node.lanes.place(0));
      await countPatchUse(transaction, 0, [{ patchUid: known!.published[id]!.uid, boardUid: uid, runs }]);
    });
  const list = async (): Promise<string[]> =>
    (await patches.list(family)).map(({ id, behind, status }) => `${id} ${behind} ${status}`);
  const audited = async (id: string): Promise<string[]> =>
    (await new AuditLog(node.database).list({ subject: `${family}/${id}` }, 50, null)).map(({ action }) => action);

  it('stand in the order of publication, not of their ids: 1.9 before 1.10', async () => {
    await put('1.10', { publishedAtMs: NOON - HOUR });
    await put('1.9', { publishedAtMs: NOON - 2 * HOUR });
    expect(await list()).toEqual(['1.9 1 published', '1.10 0 published']);
  });

  it('stand by acceptance where they were published at once', async () => {
    await put('b', { publishedAtMs: NOON });
    await put('a', { publishedAtMs: NOON });
    expect(await list()).toEqual(['b 1 published', 'a 0 published']);
  });

  it('are known to a board that was made before the first of them', async () => {
    const made = await makeBoard(`${family}-board`);
    expect([made.patches?.id, made.patches?.orders]).toEqual([family, []]);
    await put('1.28');
    await put('1.29');
    expect(await order(`${family}-board`)).toEqual(['1.28', '1.29']);
    const { layouts, patches: known } = await board(`${family}-board`);
    expect(known!.orders.map(({ number, sinceMs }) => [number, sinceMs])).toEqual([
      [1, NOON],
      [2, NOON],
    ]);
    expect([layouts.serving.taxOrder, layouts.opening?.taxOrder, layouts.opening?.generation]).toEqual([0, 2, 3]);
  });

  it('tax a new board by their newest order from the beginning', async () => {
    await put('1.28');
    await put('1.29');
    const { layouts } = await makeBoard(`${family}-board`);
    expect(layouts.serving).toMatchObject({ taxOrder: 2, taxedSinceMs: NOON });
    expect(layouts.opening).toBeNull();
    expect((await board(`${family}-board`)).layouts).toEqual(layouts);
  });

  it('open a generation for each board of their family alone, and tell it in every lane', async () => {
    await put('1.28');
    const mine = await makeBoard(`${family}-board`);
    const own = family;
    family = `${own}-other`;
    const other = await makeBoard(`${own}-other`);
    family = own;
    await put('1.29');
    expect((await board(`${own}-other`)).layouts).toEqual(other.layouts);
    const { layouts, revision } = await board(`${own}-board`);
    expect(layouts.opening).toMatchObject({ generation: 2, taxOrder: 2, openedAtMs: NOON });
    const events = await node.database.query<{ lane: number; revision: number }>(
      `SELECT lane, (payload::json ->> 'revision')::bigint AS revision FROM outbox
       WHERE topic = 'board-changed' AND key = $1 AND (payload::json ->> 'revision')::bigint = $2 ORDER BY lane`,
      [String(mine.uid), revision],
    );
    expect(events).toEqual(node.lanes.all.map((lane) => ({ lane, revision })));
  });

  it('give up a generation that is being filled when the next one comes', async () => {
    await put('1.28');
    const { uid } = await makeBoard(`${family}-board`);
    await put('1.29');
    await put('1.30');
    const { opening } = (await board(`${family}-board`)).layouts;
    expect(opening).toMatchObject({ generation: 3, taxOrder: 3 });
    expect((await node.layouts.removalsOf(uid)).map(({ generation, taxOrder }) => [generation, taxOrder])).toEqual([
      [2, 2],
    ]);
  });

  it('are in the order where a board is rebuilt, or grows, meanwhile', async () => {
    await put('1.28');
    const { uid } = await makeBoard(`${family}-board`);
    const generation = await node.layouts.rebuild(`${family}-board`, 'ops');
    expect((await board(`${family}-board`)).layouts.opening).toMatchObject({ generation, taxOrder: 1 });
    const filled = (await node.layouts.filled(uid, generation))!;
    await clock.stopAt(NOON + HOUR);
    expect(await node.layouts.serve(uid, filled, ({ versions }) => versions)).toBe(true);
    // The same tax is shown since it was shown first.
    expect((await board(`${family}-board`)).layouts.serving).toMatchObject({ taxOrder: 1, taxedSinceMs: NOON });
    await put('1.29');
    const retaxed = await node.layouts.filled(uid, 3);
    await node.layouts.stopFeeding(uid, 1);
    await clock.stopAt(NOON + 2 * HOUR);
    expect(await node.layouts.serve(uid, retaxed!, ({ versions }) => versions)).toBe(true);
    expect((await board(`${family}-board`)).layouts.serving).toMatchObject({
      ...{ generation: 3, taxOrder: 2, taxedSinceMs: NOON + 2 * HOUR },
    });
  });

  it('retax until the last board of the family serves their order', async () => {
    await put('1.28');
    const boards = [await makeBoard(`${family}-one`), await makeBoard(`${family}-two`)];
    expect((await put('1.29')).status).toBe('retaxing');
    for (const { uid } of boards) {
      expect(await list()).toEqual(['1.28 1 published', '1.29 0 retaxing']);
      await node.layouts.serve(uid, (await node.layouts.filled(uid, 2))!, ({ versions }) => versions);
    }
    expect(await list()).toEqual(['1.28 1 published', '1.29 0 published']);
  });

  it('tax nobody for a hotfix, which counts as the first of its chain from the next look on', async () => {
    await put('1.28');
    await makeBoard(`${family}-board`);
    const before = await board(`${family}-board`);
    await put('1.28.1', { sameAs: '1.28' });
    await put('1.28.2', { sameAs: '1.28.1' });
    const { layouts, patches: known, revision } = await board(`${family}-board`);
    expect(layouts).toEqual(before.layouts);
    expect(revision).toBeGreaterThan(before.revision);
    const { uid } = known!.published['1.28']!;
    expect(Object.values(known!.published).map(({ countsAs }) => countsAs)).toEqual([uid, uid, uid]);
    expect(await list()).toEqual(['1.28 0 published', '1.28.1 0 published', '1.28.2 0 published']);
    await put('1.29');
    expect(await list()).toEqual([
      ...['1.28 1 published', '1.28.1 1 published', '1.28.2 1 published', '1.29 0 retaxing'],
    ]);
  });

  it('refuse a hotfix of nothing, of what comes later, and of itself', async () => {
    await put('1.28', { publishedAtMs: NOON - HOUR });
    await put('1.29', { publishedAtMs: NOON - HOUR, sameAs: '1.28' });
    const at = { publishedAtMs: NOON - 2 * HOUR };
    const faulty = { code: 'VALIDATION_FAILED', extensions: { errors: [{ pointer: '/sameAs' }] } };
    await expect(put('1.30', { sameAs: '1.27' })).rejects.toMatchObject(faulty);
    await expect(put('1.27', { ...at, sameAs: '1.28' })).rejects.toMatchObject(faulty);
    await expect(put('1.28', { sameAs: '1.29' })).rejects.toMatchObject(faulty);
    await expect(put('1.28', { sameAs: '1.28' })).rejects.toMatchObject(faulty);
    await expect(put('1.28', { publishedAtMs: NOON })).rejects.toMatchObject({
      extensions: { errors: [{ pointer: '/publishedAt' }] },
    });
    expect(await list()).toEqual(['1.28 0 published', '1.29 0 published']);
    expect(await audited('1.30')).toEqual([]);
    expect(await audited('1.29')).toEqual(['patch.create']);
  });

  it('come between two others, each change another order, and the old ones stay', async () => {
    await put('a', { publishedAtMs: NOON - 3 * HOUR });
    await put('c', { publishedAtMs: NOON - HOUR });
    await makeBoard(`${family}-board`);
    await put('b', { publishedAtMs: NOON - 2 * HOUR });
    expect(await order(`${family}-board`)).toEqual(['a', 'b', 'c']);
    expect((await board(`${family}-board`)).layouts.opening?.taxOrder).toBe(3);
    await put('a', { publishedAtMs: NOON });
    expect(await order(`${family}-board`)).toEqual(['b', 'c', 'a']);
    const { orders } = (await board(`${family}-board`)).patches!;
    expect(orders.map(({ patches }) => patches.length)).toEqual([1, 2, 3, 3]);
  });

  it('keep their order where a changed time does not change it: nothing is opened', async () => {
    await put('a', { publishedAtMs: NOON - 3 * HOUR });
    await put('b', { publishedAtMs: NOON - HOUR });
    const { layouts } = await makeBoard(`${family}-board`);
    await put('a', { publishedAtMs: NOON - 2 * HOUR });
    expect((await board(`${family}-board`)).layouts).toEqual(layouts);
    expect((await board(`${family}-board`)).patches!.orders.length).toBe(2);
  });

  it('are published when their time comes by the clock of the database, all that are due at once', async () => {
    await put('1.28');
    await makeBoard(`${family}-board`);
    await put('1.30', { publishedAtMs: NOON + 2 * HOUR });
    await put('1.29', { publishedAtMs: NOON + HOUR });
    await clock.stopAt(NOON + HOUR - 1);
    await patches.publishDue(never);
    expect(await list()).toEqual(['1.28 0 published', '1.29 null scheduled', '1.30 null scheduled']);
    expect(await order(`${family}-board`)).toEqual(['1.28']);
    // A day of nobody to look.
    await clock.stopAt(NOON + 24 * HOUR);
    await Promise.all([patches.publishDue(never), patches.publishDue(never)]);
    await patches.publishDue(never);
    expect(await order(`${family}-board`)).toEqual(['1.28', '1.29', '1.30']);
    const { patches: known, layouts } = await board(`${family}-board`);
    expect(known!.orders.map(({ sinceMs }) => sinceMs)).toEqual([NOON, NOON + 24 * HOUR]);
    expect(layouts.opening).toMatchObject({ generation: 2, taxOrder: 2 });
    // A window that had ended by then keeps what held at its end.
    expect(taxOrderOf({ patches: known }, layouts.opening!, { endsAtMs: NOON + 3 * HOUR }).number).toBe(1);
  });

  it('are published once when they are put twice at the same time', async () => {
    await put('1.28');
    await makeBoard(`${family}-board`);
    const both = [1, 2].map(() => patches.put('1.29', family, plain, {}, 'ops'));
    expect((await Promise.all(both)).map(({ created }) => created).sort()).toEqual([false, true]);
    const { patches: known, layouts } = await board(`${family}-board`);
    expect([known!.orders.length, layouts.opening?.generation]).toEqual([2, 2]);
    expect(await audited('1.29')).toEqual(['patch.create']);
  });
  const plain = { publishedAtMs: null, sameAs: null, title: null };

  it('stay as they are where the same is put again, and need the tag that If-Match names', async () => {
    const { entityTag } = await put('1.28', { title: 'Conquest' });
    const again = await put('1.28', { title: 'Conquest' });
    expect(again.entityTag).toBe(entityTag);
    const changed = await put('1.28', { title: 'Third Rome' }, entityTag);
    expect([changed.title, changed.entityTag === entityTag]).toEqual(['Third Rome', false]);
    await expect(put('1.28', {}, entityTag)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(put('1.31', {}, entityTag)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(patches.put('1.28', family, plain, { onlyCreate: true }, 'ops')).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
    await expect(patches.delete('1.28', family, entityTag, 'ops')).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
  });

  it('are in use while a run of a board that exists names them', async () => {
    await put('1.27');
    await put('1.28');
    await put('1.28.1', { sameAs: '1.28' });
    await makeBoard(`${family}-board`);
    const used = await board(`${family}-board`);
    await use(used, '1.28.1', 2);
    await use(used, '1.28.1');
    expect((await patches.list(family)).map(({ runs }) => runs)).toEqual([0, 0, 3]);
    const inUse = { code: 'PATCH_IN_USE', status: 409 };
    await expect(patches.delete('1.28.1', family, null, 'ops')).rejects.toMatchObject(inUse);
    await expect(put('1.28.1', { sameAs: null })).rejects.toMatchObject(inUse);
    await expect(put('1.28.1', { sameAs: '1.27' })).rejects.toMatchObject(inUse);
    // Its runs would be those of another patch.
    await expect(put('1.28', { sameAs: '1.27' })).rejects.toMatchObject(inUse);
    await expect(put('1.28.1', { sameAs: '1.28', publishedAtMs: NOON + HOUR })).rejects.toMatchObject(inUse);
    expect((await put('1.28.1', { sameAs: '1.28', title: 'Hotfix' })).title).toBe('Hotfix');
    await node.registry.reset(`${family}-board`, 'ops');
    await put('1.28.1', { sameAs: '1.27' });
    await patches.delete('1.28.1', family, null, 'ops');
    expect(await list()).toEqual(['1.27 1 published', '1.28 0 published']);
  });

  it('go with another order when nobody uses them, and stay while a hotfix is the same as them', async () => {
    await put('1.28');
    await put('1.29');
    await put('1.29.1', { sameAs: '1.29' });
    await makeBoard(`${family}-board`);
    await expect(patches.delete('1.29', family, null, 'ops')).rejects.toMatchObject({ code: 'PATCH_IN_USE' });
    await patches.delete('1.29.1', family, null, 'ops');
    await patches.delete('1.29', family, null, 'ops');
    expect(await order(`${family}-board`)).toEqual(['1.28']);
    expect((await board(`${family}-board`)).layouts.opening?.taxOrder).toBe(3);
    await expect(patches.delete('1.29', family, null, 'ops')).rejects.toMatchObject({
      ...{ code: 'PATCH_UNKNOWN', status: 404 },
    });
  });

  it('are 256 a family at most', async () => {
    await put('p0');
    await node.database.query(
      `INSERT INTO patches (family_uid, patch_id, published_ms, is_published, revision)
       SELECT family_uid, 'p' || n, $2, false, 0 FROM patch_families, generate_series(1, 255) AS n WHERE family_id = $1`,
      [family, NOON + HOUR],
    );
    await expect(put('p256')).rejects.toMatchObject({ code: 'LIMIT_REACHED', status: 422 });
    await put('p255', { title: 'still there' });
  });

  it('change their order 1,024 times at most', async () => {
    await put('a');
    await node.database.query(
      `UPDATE patch_families SET orders = (SELECT jsonb_agg(jsonb_build_object('number', n, 'sinceMs', 0, 'patches', '[]'))
         FROM generate_series(1, 1024) AS n) WHERE family_id = $1`,
      [family],
    );
    await expect(put('b')).rejects.toMatchObject({ code: 'LIMIT_REACHED', status: 422 });
    expect(await list()).toEqual(['a 0 published']);
  });

  it('leave what is due unpublished where the order can change no more, and hold up nothing else', async () => {
    await put('a');
    await put('b', { publishedAtMs: NOON + HOUR });
    await put('b.1', { publishedAtMs: NOON + HOUR, sameAs: 'b' });
    await put('a.1', { publishedAtMs: NOON + HOUR, sameAs: 'a' });
    await put('a.2', { publishedAtMs: NOON + HOUR, sameAs: 'a.1' });
    await node.database.query(
      `UPDATE patch_families SET orders = (SELECT jsonb_agg(orders -> 0 || jsonb_build_object('number', n))
         FROM generate_series(1, 1024) AS n) WHERE family_id = $1`,
      [family],
    );
    await clock.stopAt(NOON + 2 * HOUR);
    await patches.publishDue(never);
    await put('a', { title: 'The first' });
    await put('a.3', { sameAs: 'a' });
    // A hotfix waits with what it counts as.
    expect(await list()).toEqual([
      ...['a 0 published', 'b null scheduled', 'b.1 null scheduled'],
      ...['a.1 0 published', 'a.2 0 published', 'a.3 0 published'],
    ]);
    expect(await node.database.query(patches.due)).toEqual([]);
    await expect(put('c', { publishedAtMs: NOON + 9 * HOUR })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    for (const id of ['b.1', 'b']) await patches.delete(id, family, null, 'ops');
  });

  it('stay published when the clock is set back, and may get another title then', async () => {
    await put('1.28', { publishedAtMs: NOON - HOUR });
    const made = await makeBoard(`${family}-back`);
    await put('1.29');
    await use(await board(`${family}-back`), '1.29');
    await clock.stopAt(NOON - 5000);
    await put('1.30', { publishedAtMs: NOON + HOUR });
    await put('1.29', { title: 'The second' });
    expect(await list()).toEqual(['1.28 1 published', '1.29 0 retaxing', '1.30 null scheduled']);
    expect((await board(`${family}-back`)).patches!.orders).toHaveLength(2);
    expect((await board(`${family}-back`)).uid).toBe(made.uid);
    await expect(put('1.29', { publishedAtMs: NOON + HOUR })).rejects.toMatchObject({ code: 'PATCH_IN_USE' });
  });
});
