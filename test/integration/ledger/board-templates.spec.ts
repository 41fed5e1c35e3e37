// Real: PostgreSQL and the ledger, two of them as two processes would run.
import { setTimeout } from 'node:timers/promises';
import { entityTagOf, entityTagOfTemplate } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateNode } from '../nodes/template-node.js';

const definition = { order: 'asc', operator: 'best', push: { top: 50 } };
const named = (...ids: string[]): { board: string; title: string }[] => ids.map((board) => ({ board, title: board }));

describe('templates of boards', () => {
  let testDatabase: TestDatabase;
  let node: TemplateNode;
  let other: TemplateNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TemplateNode(testDatabase.url);
    other = new TemplateNode(testDatabase.url);
    await node.start();
    await other.start();
  });
  afterAll(async () => {
    await node.stop();
    await other.stop();
    await testDatabase.drop();
  });

  const actsOn = async (...subjects: string[]): Promise<string[]> => {
    const acts = await node.database.query<{ line: string }>(
      `SELECT concat_ws(' ', actor, action, subject) AS line FROM audit_log WHERE subject = ANY($1) ORDER BY audit_id`,
      [subjects],
    );
    return acts.map(({ line }) => line);
  };
  /** Everything that is stored of boards and templates. */
  const stored = async (): Promise<unknown> => {
    const boards = await node.database.query('SELECT * FROM boards ORDER BY board_uid');
    const templates = await node.database.query('SELECT * FROM board_templates ORDER BY template_id');
    const [counted] = await node.database.query(
      'SELECT (SELECT count(*) FROM audit_log) AS acts, (SELECT count(*) FROM outbox) AS events',
    );
    return { boards, templates, counted };
  };

  it('make boards, change what differs, and leave alone what is so already', async () => {
    const boards = [...named('a1', 'a2'), { board: 'a3', overrides: { push: { intervalMs: 50 } } }];
    const made = await node.put('a', { definition, boards });
    expect(node.linesOf(made)).toEqual(['a1 created', 'a2 created', 'a3 created']);
    expect(made).toMatchObject({ created: true, released: [] });
    expect((await node.board('a3'))!).toMatchObject({
      template: 'a',
      definition: { push: { intervalMs: 50, top: 50 } },
    });
    expect((await node.board('a1'))!.definition).toMatchObject({ title: 'a1', push: { intervalMs: 1000, top: 50 } });

    const before = await stored();
    const again = await node.put('a', { definition, boards });
    expect(node.linesOf(again)).toEqual(['a1 unchanged', 'a2 unchanged', 'a3 unchanged']);
    expect(again).toMatchObject({ created: false, revision: made.revision });
    expect(await stored()).toEqual(before);

    const tags = [entityTagOf((await node.board('a1'))!), entityTagOf((await node.board('a2'))!)];
    const changed = await node.put('a', { definition, boards: [{ board: 'a1', title: 'First' }, ...boards.slice(1)] });
    expect(node.linesOf(changed)).toEqual(['a1 updated', 'a2 unchanged', 'a3 unchanged']);
    expect(changed.revision).toBeGreaterThan(made.revision!);
    expect([entityTagOf((await node.board('a1'))!), entityTagOf((await node.board('a2'))!)]).toEqual([
      expect.not.stringContaining(tags[0]!) as string,
      tags[1],
    ]);
    expect(await actsOn('a', 'a1', 'a2')).toEqual([
      ...['key-1 template.create a', 'key-1 board.create a1', 'key-1 board.create a2'],
      ...['key-1 template.replace a', 'key-1 board.replace a1'],
    ]);
    expect(await node.templates.list('', 1)).toEqual([{ id: 'a', definition, boardCount: 3 }]);
    expect((await node.templates.get('a')).template.boards[2]).toEqual({
      board: 'a3',
      overrides: { push: { intervalMs: 50 } },
    });
  });

  it('say what they would do, and write nothing', async () => {
    await node.registry.put('b0', (await node.board('a1'))!.definition);
    await node.put('b', { definition, boards: named('b1', 'b2', 'b3') });
    await node.play('b2');
    const before = await stored();
    const body = {
      definition: { ...definition, order: 'desc' },
      boards: named('b0', 'b1', 'b2', 'b4', 'a1'),
    };
    const rehearsed = await node.rehearse('b', body);
    expect(await stored()).toEqual(before);
    expect(node.linesOf(rehearsed)).toEqual([
      ...['b0 problem BOARD_NOT_OF_TEMPLATE', 'b1 updated', 'b2 problem BOARD_NOT_EMPTY', 'b4 created'],
      'a1 problem BOARD_NOT_OF_TEMPLATE',
    ]);
    expect(rehearsed).toMatchObject({ revision: null, created: false, released: ['b3'] });
    const done = await node.put('b', body);
    expect(node.linesOf(done)).toEqual(node.linesOf(rehearsed));
    expect(done.released).toEqual(rehearsed.released);
    expect((await node.rehearse('none', body)).created).toBe(true);
  });

  it('leave a board alone that cannot take its definition, and go on with the others', async () => {
    await node.put('c', { definition, boards: named('c1', 'c2', 'c3') });
    await node.play('c2');
    const before = (await node.board('c2'))!;
    const body = {
      definition: { ...definition, order: 'desc', visibility: 'private' },
      boards: named('c1', 'c2', 'c3'),
    };
    const refused = await node.put('c', body);
    expect(node.linesOf(refused)).toEqual(['c1 updated', 'c2 problem BOARD_NOT_EMPTY', 'c3 updated']);
    expect(await node.board('c2')).toEqual(before);
    expect(before.definition).toMatchObject({ order: 'asc', visibility: 'public' });
    // What is changed by hand meanwhile is that alone: the rest still follows once it can.
    await node.change('c2', { title: 'Own' });
    expect((await node.templates.get('c')).byHand).toEqual([{ board: 'c2', overrides: { title: 'Own' } }]);
    await node.registry.reset('c2', 'key-2');
    const untitled = { ...body, boards: [...named('c1'), { board: 'c2' }, ...named('c3')] };
    expect(node.linesOf(await node.put('c', untitled))).toEqual(['c1 unchanged', 'c2 updated', 'c3 unchanged']);
    expect((await node.board('c2'))!.definition).toMatchObject({ order: 'desc', visibility: 'private', title: 'Own' });
  });

  it('take a board over that is as they would make it, and no other', async () => {
    await node.put('d', { definition, boards: named('d1', 'd2') });
    const { definition: same } = (await node.board('d1'))!;
    await node.registry.put('d3', { ...same, title: 'd3' });
    await node.registry.put('d4', { ...same, push: { ...same.push, top: 60 } });
    await node.play('d3');
    const uid = (await node.board('d3'))!.uid;
    const tag = entityTagOf((await node.board('d3'))!);
    const outcome = await node.put('d', { definition, boards: named('d1', 'd2', 'd3', 'd4') });
    expect(node.linesOf(outcome)).toEqual([
      ...['d1 unchanged', 'd2 unchanged', 'd3 updated', 'd4 problem BOARD_NOT_OF_TEMPLATE'],
    ]);
    expect(outcome.results[3]).toMatchObject({
      problem: {
        detail: expect.stringContaining('title, push') as string,
        extensions: { differing: ['title', 'push'] },
      },
    });
    const joined = (await node.board('d3'))!;
    expect(joined).toMatchObject({ uid, template: 'd' });
    expect(entityTagOf(joined)).not.toBe(tag);
    expect(await actsOn('d3')).toEqual([expect.stringContaining('board.create'), 'key-1 template.join d3']);
    // Its own options as overrides are the way in.
    const boards = [...named('d1', 'd2', 'd3'), { board: 'd4', title: 'd1', overrides: { push: { top: 60 } } }];
    expect(node.linesOf(await node.put('d', { definition, boards }))[3]).toBe('d4 updated');
    const taken = await node.put('e', { definition, boards: named('d1') });
    expect(node.linesOf(taken)).toEqual(['d1 problem BOARD_NOT_OF_TEMPLATE']);
    expect(taken.results[0]).toMatchObject({
      problem: { detail: expect.stringContaining('of template "d"') as string },
    });
  });

  it('take every option that a board takes, as a tax on runs of older patches', async () => {
    const taxed = { ...definition, limits: { scoreMin: 0 }, decay: { family: 'eu4', perPatch: 0.1 } };
    const boards = [
      { board: 'r1' },
      { board: 'r2', overrides: { decay: { perPatch: 0.2 } } },
      { board: 'r3', overrides: { decay: null } },
    ];
    expect(node.linesOf(await node.put('r', { definition: taxed, boards }))).toEqual([
      'r1 created',
      'r2 created',
      'r3 created',
    ]);
    const decays = [];
    for (const { board } of boards) decays.push((await node.board(board))!.definition.decay);
    expect(decays).toEqual([{ family: 'eu4', perPatch: 0.1 }, { family: 'eu4', perPatch: 0.2 }, null]);
    const other = { ...taxed, decay: { family: 'eu4', perPatch: 0.15 } };
    expect(node.linesOf(await node.put('r', { definition: other, boards }))).toEqual([
      'r1 updated',
      'r2 unchanged',
      'r3 unchanged',
    ]);
    expect((await node.board('r1'))!).toMatchObject({ template: 'r', definition: { decay: { perPatch: 0.15 } } });
  });

  it('let go of boards that they name no longer: they stay as they are', async () => {
    await node.put('f', { definition, boards: named('f1', 'f2') });
    await node.change('f2', { title: 'Own' });
    const before = (await node.board('f2'))!;
    const outcome = await node.put('f', { definition: { ...definition, change: true }, boards: named('f1') });
    expect(outcome.released).toEqual(['f2']);
    const { template, ...left } = (await node.board('f2'))!;
    expect(template).toBeUndefined();
    expect(left).toMatchObject({ uid: before.uid, definition: before.definition });
    expect(left.definitionRevision).toBeGreaterThan(before.definitionRevision);
    expect(await actsOn('f2')).toEqual(['key-1 board.create f2', 'key-2 board.replace f2', 'key-1 template.leave f2']);
    // Changed by hand, it is of no template; and it does not come back by itself.
    await node.change('f2', { title: 'Other' });
    expect((await node.templates.get('f')).byHand).toEqual([]);
    expect(
      (await node.put('f', { definition: { ...definition, change: true }, boards: named('f1') })).released,
    ).toEqual([]);
  });

  it('keep what was changed by hand until its overrides name it', async () => {
    await node.put('g', { definition, boards: named('g1', 'g2') });
    await node.change('g1', { visibility: 'private', push: { intervalMs: 1000, top: 70 } });
    const put = (more: object, overrides: object = {}): Promise<unknown> =>
      node.put('g', {
        definition: { ...definition, ...more },
        boards: [{ board: 'g1', title: 'g1', overrides }, ...named('g2')],
      });
    await put({ push: { top: 90, intervalMs: 500 } });
    expect((await node.board('g1'))!.definition).toMatchObject({
      visibility: 'private',
      push: { intervalMs: 500, top: 70 },
    });
    expect((await node.board('g2'))!.definition.push.top).toBe(90);
    await put({ push: { top: 90, intervalMs: 500 } }, { push: { top: 80 } });
    expect((await node.board('g1'))!.definition).toMatchObject({ visibility: 'private', push: { top: 80 } });
    // An override that goes gives the board back to the template.
    await put({ push: { top: 90, intervalMs: 500 } });
    expect((await node.board('g1'))!.definition).toMatchObject({ visibility: 'private', push: { top: 90 } });
    expect((await node.templates.get('g')).byHand).toEqual([{ board: 'g1', overrides: { visibility: 'private' } }]);
    await node.change('g1', { visibility: 'public' });
    expect((await node.templates.get('g')).byHand).toEqual([]);
    // What was changed by hand goes back, too, where the template came to say the same before it is put so.
    await node.change('g1', { push: { intervalMs: 500, top: 70 } });
    await put({ push: { top: 70, intervalMs: 500 } });
    expect((await node.templates.get('g')).byHand).toEqual([{ board: 'g1', overrides: { push: { top: 70 } } }]);
    await node.change('g1', {});
    expect((await node.templates.get('g')).byHand).toEqual([]);
  });

  it('say so where the template does not go with what was changed by hand', async () => {
    await node.put('h', { definition, boards: [{ board: 'h1' }, { board: 'h2' }] });
    const limits = { ...(await node.board('h1'))!.definition.limits, scoreMin: 5 };
    await node.change('h1', { limits });
    const body = { definition: { ...definition, limits: { scoreMax: 1 } }, boards: [{ board: 'h1' }, { board: 'h2' }] };
    const outcome = await node.put('h', body);
    expect(node.linesOf(outcome)).toEqual(['h1 problem VALIDATION_FAILED', 'h2 updated']);
    expect(outcome.results[0]).toMatchObject({
      problem: { detail: expect.stringContaining('limits as changed by hand') as string },
    });
  });

  it('stay with a board that is reset, emptied of its order or fed by nobody, and not with one made anew', async () => {
    await node.put('i', { definition, boards: named('i1', 'i2') });
    await node.registry.reset('i1', 'key-2');
    expect((await node.board('i1'))!.template).toBe('i');
    await node.change('i1', { order: 'desc' });
    expect((await node.board('i1'))!.template).toBe('i');
    expect((await node.templates.get('i')).byHand).toEqual([{ board: 'i1', overrides: { order: 'desc' } }]);
    await node.registry.delete('i2', null, 'key-2');
    expect(node.linesOf(await node.put('i', { definition, boards: named('i1', 'i2') }))).toEqual([
      ...['i1 unchanged', 'i2 created'],
    ]);
    await node.registry.delete('i2', null, 'key-2');
    await node.registry.put('i2', (await node.board('i1'))!.definition, {}, 'key-2');
    expect((await node.board('i2'))!.template).toBeUndefined();
  });

  it('are only put and deleted where they are as the condition says', async () => {
    const body = { definition, boards: named('j1') };
    const failed = { code: 'PRECONDITION_FAILED' };
    await expect(node.put('j', body, { ifMatch: '"t1"' })).rejects.toMatchObject(failed);
    const { revision } = await node.put('j', body, { onlyCreate: true });
    const tag = entityTagOfTemplate({ revision: revision! });
    for (const condition of [{ onlyCreate: true }, { ifMatch: '"t0"' }]) {
      await expect(node.put('j', body, condition)).rejects.toMatchObject(failed);
      await expect(node.rehearse('j', body, condition)).rejects.toMatchObject(failed);
    }
    await node.put('j', { definition, boards: named('j1', 'j2') }, { ifMatch: tag });
    await expect(node.put('j', body, { ifMatch: tag })).rejects.toMatchObject(failed);
    await expect(node.templates.delete('j', tag, 'key-1', false)).rejects.toMatchObject(failed);
    await expect(node.templates.delete('none', null, 'key-1', false)).rejects.toMatchObject({
      code: 'TEMPLATE_NOT_FOUND',
    });
    await expect(node.templates.get('none')).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
  });

  it('are deleted, and their boards stay, or go with them', async () => {
    await node.put('k', { definition, boards: named('k1', 'k2') });
    await node.play('k1');
    await node.templates.delete('k', null, 'key-3', false);
    expect(await node.board('k1')).not.toHaveProperty('template');
    const { revision } = await node.put('k', { definition, boards: named('k1', 'k2') });
    await node.templates.delete('k', entityTagOfTemplate({ revision: revision! }), 'key-3', true);
    expect([await node.board('k1'), await node.board('k2')]).toEqual([undefined, undefined]);
    await expect(node.templates.get('k')).rejects.toMatchObject({ code: 'TEMPLATE_NOT_FOUND' });
    expect((await actsOn('k', 'k2')).slice(2)).toEqual([
      ...['key-3 template.leave k2', 'key-3 template.delete k', 'key-1 template.create k', 'key-1 template.join k2'],
      ...['key-3 board.delete k2', 'key-3 template.delete k'],
    ]);
  });

  it('are finished by the same call when one died in the middle', async () => {
    const boards = named(...Array.from({ length: 40 }, (_, at) => `l${at}`));
    const dying = new TemplateNode(testDatabase.url);
    await dying.start();
    const underWay = dying.put('l', { definition, boards }).catch((error: unknown) => error);
    const made = async (): Promise<number> =>
      (await node.database.query(`SELECT 1 FROM boards WHERE template ->> 'id' = 'l' AND board_id IS NOT NULL`)).length;
    const until = Date.now() + 10_000;
    while ((await made()) < 5 && Date.now() < until) await setTimeout(2);
    await dying.stop();
    await expect(underWay).resolves.toBeInstanceOf(Error);
    const left = await made();
    expect(left).toBeGreaterThanOrEqual(5);
    expect(left).toBeLessThan(40);
    const lines = node.linesOf(await node.put('l', { definition, boards }));
    expect(lines.filter((line) => line.endsWith('unchanged'))).toHaveLength(left);
    expect(lines.filter((line) => line.endsWith('created'))).toHaveLength(40 - left);
    expect((await actsOn('l')).filter((line) => line.includes('template.'))).toHaveLength(1);
  });

  it('never mix two that come at once: the later one is on every board, the other is told', async () => {
    const boards = named(...Array.from({ length: 30 }, (_, at) => `m${at}`));
    for (let round = 0; round < 3; round += 1) {
      const tops = [60 + round, 70 + round];
      const outcomes = await Promise.allSettled(
        tops.map((top, at) => [node, other][at]!.put('m', { definition: { ...definition, push: { top } }, boards })),
      );
      const failed = outcomes.filter(({ status }) => status === 'rejected');
      for (const one of failed) expect(one).toMatchObject({ reason: { code: 'PRECONDITION_FAILED' } });
      expect(failed.length).toBeLessThan(2);
      const { push } = (await node.templates.get('m')).template.definition as { push: { top: number } };
      expect(tops).toContain(push.top);
      await node.boards.refresh();
      expect(new Set(node.boards.ofTemplate('m').map((board) => board.definition.push.top))).toEqual(
        new Set([push.top]),
      );
      expect(node.boards.ofTemplate('m')).toHaveLength(30);
    }
  });

  it('take two equal ones that come at once for one', async () => {
    const boards = named(...Array.from({ length: 20 }, (_, at) => `n${at}`));
    const both = await Promise.all([node, other].map((one) => one.put('n', { definition, boards })));
    expect(both[0]!.revision).toBe(both[1]!.revision);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    const created = both.flatMap((one) => node.linesOf(one)).filter((line) => line.endsWith('created'));
    expect(created).toHaveLength(20);
    expect(await actsOn('n')).toEqual(['key-1 template.create n']);
  });

  it('are deleted under the hands of who puts them: no board is left of a template that is gone', async () => {
    const boards = named(...Array.from({ length: 30 }, (_, at) => `o${at}`));
    const putting = node.put('o', { definition, boards }).catch((error: unknown) => error);
    const known = async (): Promise<boolean> => (await other.templates.list('', 500)).some(({ id }) => id === 'o');
    const until = Date.now() + 10_000;
    while (!(await known()) && Date.now() < until) await setTimeout(1);
    await other.templates.delete('o', null, 'key-3', true);
    const outcome = await putting;
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'PRECONDITION_FAILED' });
    await node.boards.refresh();
    expect(node.boards.ofTemplate('o')).toEqual([]);
  });

  it('have a change by hand wait until a template that is being put is stored', async () => {
    await node.put('q', { definition, boards: named('q1') });
    const { revision } = (await node.templates.get('q')).template;
    let changing: Promise<unknown> = Promise.resolve();
    let isDone = false;
    await other.database.transaction(async (transaction) => {
      const next = { ...definition, push: { top: 60 } };
      await transaction.query(
        `UPDATE board_templates SET definition = $2, revision = nextval('board_template_revisions') WHERE template_id = $1`,
        ['q', JSON.stringify(next)],
      );
      changing = node.change('q1', { push: { intervalMs: 1000, top: 70 } }).finally(() => (isDone = true));
      await setTimeout(150);
      expect(isDone).toBe(false);
    });
    await changing;
    // It differs from what the template says by now.
    await node.change('q1', { push: { intervalMs: 1000, top: 60 } });
    expect((await node.templates.get('q')).byHand).toEqual([]);
    expect((await node.templates.get('q')).template.revision).toBeGreaterThan(revision);
  });

  it('follow a change by hand that comes at the same time, whichever was first', async () => {
    const boards = [...named(...Array.from({ length: 15 }, (_, at) => `p${at}`)), { board: 'p-last' }];
    await node.put('p', { definition, boards });
    for (let round = 0; round < 4; round += 1) {
      const top = 51 + round;
      await Promise.all([
        node.put('p', { definition: { ...definition, push: { top } }, boards }),
        setTimeout(round * 3).then(() => other.change('p-last', { title: `By hand ${round}` })),
      ]);
      const last = (await node.board('p-last'))!.definition;
      const { byHand } = await node.templates.get('p');
      const own = byHand.find(({ board }) => board === 'p-last')!.overrides as { push?: { top: number } };
      expect(last.title).toBe(`By hand ${round}`);
      // Read before and put after, the old top is what was put by hand.
      expect(last.push.top).toBe(own.push?.top ?? top);
      await node.change('p-last', { push: { intervalMs: 1000, top } });
    }
  });
});
