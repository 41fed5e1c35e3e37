import { LadderError, type BoardDefinition, type Fault, type GivenOptions } from '@laddercast/domain';
import { TEMPLATE_BOARDS_MAX, type GivenTemplate } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import { parseBoardDefinition } from './board-definition.js';
import { parseBoardTemplate } from './board-template-body.js';

const definition = { order: 'asc', operator: 'best', push: { top: 50 } };
const make = (given: GivenOptions): BoardDefinition => parseBoardDefinition(given);
const parse = (body: unknown): Promise<GivenTemplate> => parseBoardTemplate(body, 'eu4', make);

async function refusal(body: unknown): Promise<LadderError> {
  const error: unknown = await parse(body).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(LadderError);
  return error as LadderError;
}

async function faults(body: unknown): Promise<string[]> {
  const { code, extensions } = await refusal(body);
  expect(code).toBe('VALIDATION_FAILED');
  return (extensions['errors'] as Fault[]).map(({ pointer }) => pointer);
}

describe('the body of a template', () => {
  it('is the definition as it was given, and of each board its overrides and what they come to', async () => {
    const boards = [
      { board: 'a' },
      { board: 'b', title: 'B', overrides: { push: { intervalMs: 50 }, history: null } },
      { board: 'c', title: null, overrides: null },
    ];
    const given = await parse({ id: 'eu4', definition: { ...definition, history: null }, boards });
    expect(given.definition).toEqual(definition);
    expect(given.boards.map(({ board, overrides }) => [board, overrides])).toEqual([
      ['a', {}],
      ['b', { push: { intervalMs: 50 }, history: null, title: 'B' }],
      ['c', {}],
    ]);
    expect(given.boards.map(({ definition: { title, push } }) => [title, push])).toEqual([
      [null, { intervalMs: 1000, top: 50 }],
      ['B', { intervalMs: 50, top: 50 }],
      [null, { intervalMs: 1000, top: 50 }],
    ]);
  });

  it('may have the most boards, each with a title of its own, and none', async () => {
    const boards = Array.from({ length: TEMPLATE_BOARDS_MAX }, (_, at) => ({ board: `b${at}`, title: `Board ${at}` }));
    let checked = 0;
    const counted = (given: GivenOptions): BoardDefinition => {
      checked += 1;
      return make(given);
    };
    const given = await parseBoardTemplate({ definition, boards }, 'eu4', counted);
    expect(given.boards[1999]!.definition.title).toBe('Board 1999');
    // Boards that differ in their titles alone are checked once.
    expect(checked).toBe(2);
    expect((await parse({ definition, boards: [] })).boards).toEqual([]);
    expect(await faults({ definition, boards: [...boards, { board: 'more' }] })).toEqual(['/boards']);
  });

  it('is refused with every fault, and where it stands', async () => {
    for (const body of [null, [], 'eu4', 5]) expect(await faults(body)).toEqual(['']);
    expect(await faults({})).toEqual(['/definition', '/boards']);
    expect(await faults({ definition, boards: [], colour: 1 })).toEqual(['/colour']);
    expect(await faults({ id: 'other', definition, boards: [] })).toEqual(['/id']);
    expect(await faults({ definition: [], boards: {} })).toEqual(['/definition', '/boards']);
    expect(await faults({ definition: { order: 'up', push: { top: 1 } }, boards: [] })).toEqual([
      '/definition/order',
      '/definition/operator',
      '/definition/push/top',
    ]);
    expect(await faults({ definition: { ...definition, id: 'eu4', template: 'eu4' }, boards: [] })).toEqual([
      '/definition/id',
      '/definition/template',
    ]);
    const boards = [
      null,
      { board: 'A' },
      {},
      { board: 'a', titel: 'x' },
      { board: 'b', title: 5 },
      { board: 'c', title: 'x'.repeat(201) },
      { board: 'd', title: 'a\u0000' },
      { board: 'e', overrides: [] },
      { board: 'f', overrides: { title: 'x', id: 'f', template: 'eu4' } },
      { board: 'g' },
      { board: 'g' },
    ];
    expect(await faults({ definition, boards })).toEqual([
      ...['/boards/0', '/boards/1/board', '/boards/2/board', '/boards/3/titel', '/boards/4/title', '/boards/5/title'],
      ...['/boards/6/title', '/boards/7/overrides', '/boards/8/overrides/id', '/boards/8/overrides/title'],
      ...['/boards/8/overrides/template', '/boards/10/board'],
    ]);
  });

  it('is refused where an override cannot be, alone or with the definition', async () => {
    const boards: { board: string; overrides?: object }[] = [
      { board: 'a', overrides: { push: { top: 1 } } },
      { board: 'b', overrides: { colour: 'red', constructor: 1 } },
      { board: 'c' },
      { board: 'd', overrides: { limits: { scoreMax: 1 } } },
    ];
    expect(await faults({ definition: { ...definition, limits: { scoreMin: 2 } }, boards })).toEqual([
      '/boards/0/overrides/push/top',
      '/boards/1/overrides/constructor',
      '/boards/3/overrides/limits/scoreMin',
    ]);
  });

  it('names the board of which something else is refused', async () => {
    const refused = await refusal({
      definition,
      boards: [{ board: 'a' }, { board: 'b', overrides: { counts: 'verified' } }],
    });
    expect(refused).toMatchObject({ code: 'RUNS_NOT_KEPT', extensions: { option: 'counts' } });
    expect(refused.detail).toMatch(/^Board "b": counts/);
    expect((await refusal({ definition: { ...definition, counts: 'verified' }, boards: [] })).detail).toMatch(
      /^The definition: /,
    );
  });
});
