// Real: PostgreSQL and the ledger. Calls end early because PostgreSQL refuses a board, by a trigger of the tests'.
import { entityTagOfTemplate, type PutCondition } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateNode } from '../nodes/template-node.js';

const FAILED = { code: 'PRECONDITION_FAILED' };
const bodyOf = (id: string, top = 50): object => ({
  definition: { order: 'asc', operator: 'best', push: { top } },
  boards: [1, 2, 3].map((at) => ({ board: `${id}${at}`, title: 'Said' })),
});

describe('templates that are put or deleted under a condition', () => {
  let database: TestDatabase;
  let node: TemplateNode;

  beforeAll(async () => {
    database = await createTestDatabase();
    node = new TemplateNode(database.url);
    await node.start();
    await node.database.query('CREATE TABLE refused_boards (board_id text)');
    await node.database.query(`CREATE FUNCTION refuse_board() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT 1 FROM refused_boards r WHERE r.board_id IN (NEW.board_id, OLD.board_id)) THEN
        RAISE EXCEPTION 'The disk is full.';
      END IF;
      RETURN NEW;
    END $$`);
    await node.database.query(
      'CREATE TRIGGER refuse_board BEFORE INSERT OR UPDATE ON boards FOR EACH ROW EXECUTE FUNCTION refuse_board()',
    );
  });
  afterAll(async () => {
    await node?.stop();
    await database?.drop();
  });

  /** A call that ends at this board. */
  const endAt = async (board: string, call: () => Promise<unknown>): Promise<void> => {
    await node.database.query('INSERT INTO refused_boards VALUES ($1)', [board]);
    await expect(call()).rejects.toThrow('The disk is full.');
    await node.database.query('DELETE FROM refused_boards');
  };
  const make = async (id: string): Promise<string> =>
    entityTagOfTemplate({ revision: (await node.put(id, bodyOf(id))).revision! });
  const tagNow = async (id: string): Promise<string> => entityTagOfTemplate(await node.templates.require(id));
  const topsOf = async (id: string): Promise<number[]> => {
    await node.boards.refresh();
    return node.boards.ofTemplate(id).map(({ definition }) => definition.push.top);
  };

  it('are finished by the same put that ended early, whatever they were before', async () => {
    const ifMatch = await make('a');
    const condition: PutCondition = { ifMatch };
    await endAt('a2', () => node.put('a', bodyOf('a', 60), condition));
    expect(await topsOf('a')).toEqual([60, 50, 50]);
    expect(node.linesOf(await node.rehearse('a', bodyOf('a', 60), condition))).toEqual([
      ...['a1 unchanged', 'a2 updated', 'a3 updated'],
    ]);
    expect(node.linesOf(await node.put('a', bodyOf('a', 60), condition))).toEqual([
      ...['a1 unchanged', 'a2 updated', 'a3 updated'],
    ]);
    // Nothing is left: the condition holds again, also for what somebody changed by hand since.
    await node.change('a1', { title: 'By hand' });
    await expect(node.put('a', bodyOf('a', 60), condition)).rejects.toMatchObject(FAILED);
    await expect(node.put('a', bodyOf('a', 70), condition)).rejects.toMatchObject(FAILED);
    await expect(node.rehearse('a', bodyOf('a', 70), condition)).rejects.toMatchObject(FAILED);
    expect(await topsOf('a')).toEqual([60, 60, 60]);
  });

  it('are finished by the same put that was only to make them', async () => {
    const condition: PutCondition = { onlyCreate: true };
    await endAt('b2', () => node.put('b', bodyOf('b'), condition));
    await expect(node.put('b', bodyOf('b', 60), condition)).rejects.toMatchObject(FAILED);
    const finished = await node.put('b', bodyOf('b'), condition);
    expect(finished.created).toBe(false);
    expect(node.linesOf(finished)).toEqual(['b1 unchanged', 'b2 created', 'b3 created']);
    await expect(node.put('b', bodyOf('b'), condition)).rejects.toMatchObject(FAILED);
  });

  it.each([false, true])('are finished by the same delete that ended early (with boards: %s)', async (withBoards) => {
    const id = withBoards ? 'd' : 'c';
    const ifMatch = await make(id);
    const remove = (): Promise<void> => node.templates.delete(id, ifMatch, 'key-1', withBoards);
    await endAt(`${id}2`, remove);
    expect(await topsOf(id)).toEqual([50, 50]);
    await remove();
    await expect(node.templates.require(id)).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
    expect(await topsOf(id)).toEqual([]);
    expect(await node.board(`${id}2`)).toEqual(withBoards ? undefined : expect.not.objectContaining({ template: id }));
  });

  it('are not deleted by a call that ended early once they were put again, as they were or anew', async () => {
    for (const [id, top] of [
      ['e', 50],
      ['f', 60],
    ] as const) {
      const ifMatch = await make(id);
      const remove = (): Promise<void> => node.templates.delete(id, ifMatch, 'key-1', true);
      await endAt(`${id}2`, remove);
      // What is being deleted is not what is put: the condition holds.
      await expect(node.put(id, bodyOf(id, top), { ifMatch: '"t0"' })).rejects.toMatchObject(FAILED);
      const { revision } = await node.put(id, bodyOf(id, top), { ifMatch });
      await expect(remove()).rejects.toMatchObject(FAILED);
      expect(await topsOf(id)).toEqual([top, top, top]);
      expect(await tagNow(id)).toBe(entityTagOfTemplate({ revision: revision! }));
    }
  });

  it('stay where they are put as they are while somebody deletes them, who is told', async () => {
    await make('g');
    let put: Promise<unknown> | null = null;
    const { templateBoards } = node;
    const release = templateBoards.release.bind(templateBoards);
    templateBoards.release = async (act, board) => {
      if (board === 'g2') await (put ??= node.put('g', bodyOf('g')));
      return release(act, board);
    };
    try {
      await expect(node.templates.delete('g', null, 'key-1', false)).rejects.toMatchObject(FAILED);
    } finally {
      templateBoards.release = release;
    }
    expect(await topsOf('g')).toEqual([50, 50, 50]);
    expect((await node.templates.require('g')).id).toBe('g');
  });
});
