// Real: PostgreSQL and the ledger, with templates. Random puts of templates, changes by hand, deletes and runs, against a model
// that knows every option by itself. Prints its seed; SEED=… repeats it.
import { withBoardDefaults, type BoardDefinition, type GivenOptions } from '@laddercast/domain';
import { createTestDatabase, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateNode } from '../integration/nodes/template-node.js';
import { CHOICES, leavesOf, nested, TemplatesModel, type Leaves } from './templates-model.js';

const HISTORIES = 6;
const STEPS = 60;
const BOARDS = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'];
const TEMPLATES = ['t1', 't2'];
const seed = seedOfRun();
const { next: random, below, oneOf } = new Dice(seed);

/** Some of the options; where a template or its board says them, null stands for the default. */
const someLeaves = (share: number, withNulls: boolean): Leaves =>
  Object.fromEntries(
    Object.entries(CHOICES).flatMap(([name, values]): [string, unknown][] => {
      if (random() >= share) return [];
      const isNull = withNulls && name !== 'order' && name !== 'title' && random() < 0.2;
      return [[name, isNull ? null : oneOf([...values])]];
    }),
  );

const withoutNullTitle = ({ title, ...others }: Leaves): Leaves => (title == null ? others : { ...others, title });

describe(`boards of templates (SEED=${seed})`, () => {
  let testDatabase: TestDatabase;
  let node: TemplateNode;
  let model: TemplatesModel;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TemplateNode(testDatabase.url);
    await node.start();
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  async function putTemplate(id: string): Promise<string> {
    const definition = { ...someLeaves(0.5, false), order: oneOf(['asc', 'desc']) };
    const boards = BOARDS.filter(() => random() < 0.7).sort(() => random() - 0.5);
    const list = boards.map((board): [string, Leaves] => [board, withoutNullTitle(someLeaves(0.25, true))]);
    const body = {
      definition: { operator: 'best', ...nested(definition) },
      boards: list.map(([board, { title, ...overrides }]) => ({ board, title, overrides: nested(overrides) })),
    };
    const isRehearsed = random() < 0.4;
    const rehearsed = isRehearsed ? await node.rehearse(id, body) : null;
    const outcome = await node.put(id, body);
    const wanted = model.put(id, definition, list);
    for (const one of [outcome, ...(rehearsed ? [rehearsed] : [])]) {
      expect(one.results.map(({ board, status }) => `${board} ${status}`)).toEqual(wanted.lines);
      expect(one.released).toEqual(wanted.released);
    }
    const again = await node.put(id, body);
    expect(again.results.map(({ status }) => status)).toEqual(
      wanted.lines.map((line) => (line.endsWith('problem') ? 'problem' : 'unchanged')),
    );
    return `put ${id} ${JSON.stringify(body)}`;
  }

  async function changeByHand(board: string): Promise<string> {
    const known = await node.board(board);
    const before = known ? known.definition : withBoardDefaults({ order: 'asc', operator: 'best' });
    const change = someLeaves(0.3, false);
    const to = { ...leavesOf({ ...before }), ...change };
    const parts = nested(to) as Partial<BoardDefinition> & Record<string, object>;
    const full = Object.fromEntries(
      Object.entries(before).map(([name, value]: [string, unknown]) => {
        const part: unknown = parts[name] ?? (name in parts ? null : value);
        return [
          name,
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? { ...value, ...(part as object) }
            : part,
        ];
      }),
    ) as unknown as BoardDefinition;
    const putting = node.registry.put(board, full, {}, 'hand');
    if (model.change(board, to)) await putting;
    else await expect(putting).rejects.toMatchObject({ code: 'BOARD_NOT_EMPTY' });
    return `change ${board} ${JSON.stringify(change)}`;
  }

  async function step(): Promise<string> {
    const board = oneOf(BOARDS);
    const template = oneOf(TEMPLATES);
    const known = model.boards.get(board);
    switch (below(13)) {
      case 12:
      case 0:
        if (!known) return 'nothing';
        await node.play(board);
        known.hasEntries = true;
        return `play ${board}`;
      case 1:
        if (!known) return 'nothing';
        await node.registry.delete(board, null, 'hand');
        model.boards.delete(board);
        return `delete ${board}`;
      case 2:
        if (!known) return 'nothing';
        await node.registry.reset(board, 'hand');
        known.hasEntries = false;
        return `reset ${board}`;
      case 3: {
        if (!model.templates.has(template)) return 'nothing';
        const withBoards = random() < 0.3;
        await node.templates.delete(template, null, 'hand', withBoards);
        model.deleteTemplate(template, withBoards);
        return `delete ${template} ${withBoards}`;
      }
      case 4:
      case 5:
      case 6:
      case 7:
        return putTemplate(template);
      default:
        return changeByHand(board);
    }
  }

  async function compare(): Promise<void> {
    await node.boards.refresh();
    for (const id of BOARDS) {
      const board = node.boards.byId(id);
      const wanted = model.boards.get(id);
      const shown = board && { template: board.template ?? null, now: leavesOf({ ...board.definition }) };
      expect(shown, id).toEqual(wanted && { template: wanted.template, now: wanted.now });
    }
    for (const id of model.templates.keys()) {
      const { byHand } = await node.templates.get(id);
      const own = [...model.boards].filter(
        ([, board]) => board.template === id && Object.keys(board.byHand).length > 0,
      );
      const shown = byHand.map(({ board, overrides }) => [board, leavesOf(overrides as GivenOptions)]);
      expect(shown).toEqual(own.map(([board, { byHand: leaves }]) => [board, leaves]).sort());
    }
  }

  it.each(Array.from({ length: HISTORIES }, (_, at) => at))('are what the model says, history %i', async () => {
    for (const id of TEMPLATES) await node.templates.delete(id, null, 'hand', true).catch(() => undefined);
    for (const id of BOARDS) await node.registry.delete(id, null, 'hand').catch(() => undefined);
    model = new TemplatesModel();
    const done: string[] = [];
    for (let count = 0; count < STEPS; count += 1) {
      try {
        done.push(await step());
        await compare();
      } catch (error) {
        throw new Error(`SEED=${seed} after\n${done.join('\n')}`, { cause: error });
      }
    }
  });
});
