// Real: PostgreSQL with the ledger, and families of more boards than one transaction tells of a change.
import { ScoreSubmitter, type AcceptedSubmission } from '@laddercast/commands';
import { withBoardDefaults, type Board } from '@laddercast/domain';
import { NO_EXTENSIONS } from '@laddercast/extension';
import type { Identity } from '@laddercast/identity';
import { PatchRegistry, type PatchDefinition } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LedgerNode } from '../nodes/ledger-node.js';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const never = new AbortController().signal;
const GAME_SERVER: Identity = { kind: 'key', keyId: 'k', scopes: ['scores:write'] };
const plain = { publishedAtMs: null, sameAs: null, title: null };

describe('patches of many boards', () => {
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

  const put = async (id: string, given: Partial<PatchDefinition> = {}): Promise<unknown> =>
    patches.put(id, family, { ...plain, ...given }, {}, 'ops');
  const board = async (id: string): Promise<Board> => {
    await node.boards.refresh();
    return node.boards.byId(id)!;
  };
  /** Boards `f1-0`, `f1-1` … of the family. */
  const makeBoards = async (count: number): Promise<void> => {
    const definition = withBoardDefaults({ order: 'asc', operator: 'best', decay: { family, perPatch: 0.1 } });
    await node.registry.put(`${family}-0`, definition);
    await node.database.query(
      `INSERT INTO boards (board_id, definition, layouts, revision, definition_revision, family_uid, family_revision)
       SELECT regexp_replace(board_id, '0$', n::text), definition, layouts, nextval('ladder_position'), 1, family_uid,
         family_revision
       FROM boards, generate_series(1, $2::int - 1) AS n WHERE board_id = $1`,
      [`${family}-0`, count],
    );
  };

  it.each([
    ['deleted', (registry: PatchRegistry) => registry.delete('1.29', family, null, 'ops')],
    [
      'moved into the future',
      (registry: PatchRegistry) => registry.put('1.29', family, { ...plain, publishedAtMs: NOON + HOUR }, {}, 'ops'),
    ],
    [
      'made a hotfix',
      (registry: PatchRegistry) => registry.put('1.29', family, { ...plain, sameAs: '1.28' }, {}, 'ops'),
    ],
  ])('are named by no run of the 201st board from the moment on that they are %s', async (how, change) => {
    await put('1.28', { publishedAtMs: NOON - HOUR });
    await put('1.29');
    await makeBoards(201);
    const last = await board(`${family}-200`);
    let changes = 0;
    let outcomes: PromiseSettledResult<AcceptedSubmission>[] = [];
    const submitter = new ScoreSubmitter(node.boards, node.ledger, NO_EXTENSIONS);
    const submit = async (patch: string): Promise<AcceptedSubmission> => {
      const body = { playerId: 'ada', score: 100, patch, submissionId: `of-${patch}` };
      return submitter.commit(await submitter.prepare(GAME_SERVER, { boardId: last.id, body }));
    };
    const inTwo: typeof node.allLanes.change = async (work, before) => {
      if ((changes += 1) === 2) outcomes = await Promise.allSettled([submit('1.29'), submit('1.28')]);
      return node.allLanes.change(work, before);
    };
    await change(new PatchRegistry(node.database, node.lanes, { change: inTwo } as typeof node.allLanes));
    expect(changes).toBe(2);
    const later = { code: 'OVERLOADED', extensions: { retryAfterSeconds: 1 } };
    expect(outcomes).toMatchObject([{ reason: later }, { status: 'fulfilled' }]);
    const uses = await node.database.query(
      `SELECT patch_id AS id, runs FROM patch_uses LEFT JOIN patches USING (patch_uid)
       WHERE board_uid = $1`,
      [last.uid],
    );
    expect(uses).toEqual([{ id: '1.28', runs: 1 }]);
    const again = submit('1.29');
    if (how !== 'made a hotfix') await expect(again).rejects.toMatchObject({ code: 'PATCH_UNKNOWN' });
    else expect((await again).receipt.answer.taxed).toMatchObject({ patch: '1.28' });
  });

  it('reach all of 450 boards before the answer, and those that a crash left out afterwards', async () => {
    await put('1.28');
    await makeBoards(450);
    const taxOrders = async (): Promise<Record<string, number>> => {
      await node.boards.refresh();
      const counts: Record<string, number> = {};
      for (const { patches: known, layouts } of node.boards.all()) {
        if (known?.id !== family) continue;
        const order = String((layouts.opening ?? layouts.serving).taxOrder);
        counts[order] = (counts[order] ?? 0) + 1;
      }
      return counts;
    };
    await put('1.29');
    expect(await taxOrders()).toEqual({ 2: 450 });
    const crash = { ...node.allLanes, change: failingAfterFirst() } as unknown as typeof node.allLanes;
    const dying = new PatchRegistry(node.database, node.lanes, crash);
    await expect(dying.put('1.30', family, plain, {}, 'ops')).rejects.toThrow('killed');
    expect(await taxOrders()).toEqual({ 2: 250, 3: 200 });
    expect((await patches.list(family)).at(-1)!.status).toBe('retaxing');
    await patches.publishDue(never);
    expect(await taxOrders()).toEqual({ 3: 450 });
  });

  /** Transactions of a process that is killed after the first one. */
  const failingAfterFirst = () => {
    let left = 1;
    const change: typeof node.allLanes.change = (work, before) => {
      if (left === 0) return Promise.reject(new Error('killed'));
      left -= 1;
      return node.allLanes.change(work, before);
    };
    return change;
  };
});
