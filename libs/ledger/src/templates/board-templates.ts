import { isDeepStrictEqual } from 'node:util';
import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { boardsOfTemplate, type BoardRow } from '../boards/board-rows.js';
import type { TemplateLink } from '../boards/template-layers.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { recordAudit } from '../operators/audit-log.js';
import { namesTag, type PutCondition } from '../operators/put-condition.js';
import { isLeft } from './board-plan.js';
import {
  entityTagOfTemplate,
  templateChanged,
  templateNotFound,
  type BoardTemplate,
  type DefinitionMaker,
  type GivenTemplate,
  type TemplateOutcome,
  type TemplateResult,
} from './board-template.js';
import { TemplateBoards, type TemplateAct } from './template-boards.js';
import {
  beginDeletion,
  changeTemplate,
  deleteTemplate,
  findTemplate,
  insertTemplate,
  listTemplates,
  templateToChange,
  type ListedTemplate,
  type TemplateContent,
} from './template-rows.js';

/** What was changed by hand on a board of a template. */
export interface HandChange {
  board: string;
  overrides: TemplateLink['byHand'];
}

/** How a template is to be put. */
export interface TemplatePut {
  id: string;
  given: GivenTemplate;
  condition: PutCondition;
  make: DefinitionMaker;
}

/** How many boards are looked at before others get a turn of the event loop. */
const BOARDS_A_TURN = 100;

/**
 * Templates of boards. The template is stored first, in a transaction of its own, then each board is brought to it in its
 * own: so a call that was interrupted is finished by the same call again, and of two different ones that come at once the
 * one that was stored last wins on every board.
 */
@Injectable()
export class BoardTemplates {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly boards: TemplateBoards,
  ) {}

  /**
   * A template, and what was changed by hand on its boards, by their ids.
   * @throws TEMPLATE_NOT_FOUND
   */
  async get(id: string): Promise<{ template: BoardTemplate; byHand: HandChange[] }> {
    const template = await this.require(id);
    const rows = await boardsOfTemplate(this.database, id, []);
    const byHand = [...rows].flatMap(([board, row]) => {
      const overrides = row.template?.byHand ?? {};
      return Object.keys(overrides).length > 0 ? [{ board, overrides }] : [];
    });
    return { template, byHand };
  }

  /** @throws TEMPLATE_NOT_FOUND */
  async require(id: string): Promise<BoardTemplate> {
    const template = await findTemplate(this.database, id);
    if (!template) throw templateNotFound(id);
    return template;
  }

  /** Templates by id, after a given one. */
  list(after: string, limit: number): Promise<ListedTemplate[]> {
    return listTemplates(this.database, after, limit);
  }

  /**
   * Stores a template and makes its boards as it says, each in its own transaction. A board that cannot take its definition
   * stays as it is, and is a `problem` of the outcome; the others go on.
   * @throws PRECONDITION_FAILED also when somebody else puts or deletes the template meanwhile
   */
  async put(put: TemplatePut, actor: string): Promise<TemplateOutcome> {
    const { id, given, make } = put;
    const { revision, created } = await this.store(put, actor);
    const act: TemplateAct = { id, revision, actor };
    const rows = await boardsOfTemplate(this.database, id, idsOf(given));
    const results = await eachInTurn(given.boards, (one) =>
      resultOf(one.board, () => this.boards.bring(act, given, one, rows.get(one.board), make)),
    );
    const released = releasedOf(id, given, rows);
    for (const board of released) await this.boards.release(act, board);
    return { revision, created, results, released };
  }

  /**
   * What {@link put} would do; nothing is written.
   * @throws PRECONDITION_FAILED
   */
  async rehearse(put: TemplatePut): Promise<TemplateOutcome> {
    const { id, given, make } = put;
    const current = await findTemplate(this.database, id);
    await this.assertMayPut(this.database, current, put);
    const rows = await boardsOfTemplate(this.database, id, idsOf(given));
    const results = await eachInTurn(given.boards, (one) =>
      resultOf(one.board, () => this.boards.rehearse(id, given, one, rows.get(one.board), make)),
    );
    return { revision: null, created: current === undefined, results, released: releasedOf(id, given, rows) };
  }

  /**
   * Deletes a template; its boards stay as they are, and are of no template then.
   * @param withBoards deletes them, too
   * @throws TEMPLATE_NOT_FOUND, PRECONDITION_FAILED; BOARD_IN_USE where a pool feeds a board that is to be deleted
   */
  async delete(id: string, ifMatch: string | null, actor: string, withBoards: boolean): Promise<void> {
    const rows = await boardsOfTemplate(this.database, id, []);
    if (withBoards) this.boards.assertDeletable(rows);
    const revision = await this.database.transaction(async (transaction) => {
      const current = await templateToChange(transaction, id);
      if (!current) throw templateNotFound(id);
      const refusal = refusalOf(id, current, { ifMatch });
      if (refusal) throw refusal;
      // Whoever puts it now notices, and stops: no board comes to it any more.
      return beginDeletion(transaction, id);
    });
    const act: TemplateAct = { id, revision, actor };
    for (const board of (await boardsOfTemplate(this.database, id, [])).keys()) {
      await (withBoards ? this.boards.delete(act, board) : this.boards.release(act, board));
    }
    await this.database.transaction(async (transaction) => {
      if (!(await deleteTemplate(transaction, id, revision))) throw templateChanged(id);
      await recordAudit(transaction, { actor, action: 'template.delete', subject: id, details: { withBoards } });
    });
  }

  /** Stores what is given, unless it is what is there already. */
  private store(put: TemplatePut, actor: string): Promise<{ revision: number; created: boolean }> {
    const { id } = put;
    const content = contentOf(put.given);
    return this.database.transaction(async (transaction) => {
      const known = await templateToChange(transaction, id);
      await this.assertMayPut(transaction, known, put);
      const record = (action: string): Promise<number> =>
        recordAudit(transaction, { actor, action, subject: id, details: detailsOf(content) });
      if (!known) {
        const revision = await insertTemplate(transaction, id, content);
        if (revision !== undefined) {
          await record('template.create');
          return { revision, created: true };
        }
      }
      const current = known ?? (await templateToChange(transaction, id));
      if (!known) await this.assertMayPut(transaction, current, put);
      if (!current) throw templateChanged(id);
      if (isStored(current, content)) return { revision: current.revision, created: false };
      const revision = await changeTemplate(transaction, id, content);
      await record('template.replace');
      return { revision, created: false };
    });
  }

  /**
   * What an earlier call stored, and could not bring to all boards, is finished whatever the condition says.
   * @throws PRECONDITION_FAILED
   */
  private async assertMayPut(
    runner: SqlRunner,
    current: BoardTemplate | undefined,
    { id, given, condition, make }: TemplatePut,
  ): Promise<void> {
    const refusal = refusalOf(id, current, condition);
    if (refusal === null) return;
    if (!isStored(current, contentOf(given))) throw refusal;
    const rows = await boardsOfTemplate(runner, id, idsOf(given));
    const left = await eachInTurn(given.boards, async (one) => isLeft(id, given, one, rows.get(one.board), make));
    if (!left.includes(true) && releasedOf(id, given, rows).length === 0) throw refusal;
  }
}

const contentOf = ({ definition, boards }: GivenTemplate): TemplateContent => ({
  definition,
  boards: boards.map(({ board, overrides }) => ({ board, overrides })),
});

/** Whether a template is there and says just this; one that is being deleted is put anew. */
const isStored = (current: BoardTemplate | undefined, content: TemplateContent): current is BoardTemplate =>
  current !== undefined &&
  current.revision > 0 &&
  isDeepStrictEqual(content, { definition: current.definition, boards: current.boards });

const idsOf = ({ boards }: GivenTemplate): string[] => boards.map(({ board }) => board);

/** What is kept of a template in the audit log; the boards' own records have their definitions. */
const detailsOf = ({ definition, boards }: TemplateContent): object => ({
  definition,
  boards: boards.length,
});

/** Boards of the template that it names no longer. */
function releasedOf(id: string, given: GivenTemplate, rows: ReadonlyMap<string, BoardRow>): string[] {
  const named = new Set(idsOf(given));
  return [...rows].flatMap(([board, row]) => (row.template?.id === id && !named.has(board) ? [board] : []));
}

/** One after the other, so that all lanes are free between two boards. */
async function eachInTurn<Item, Result>(
  items: readonly Item[],
  of: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    if (at % BOARDS_A_TURN === BOARDS_A_TURN - 1) await new Promise((resolve) => setImmediate(resolve));
    results.push(await of(item));
  }
  return results;
}

/** A refusal concerns one board; what may pass by itself, and a template that was changed, end the call. */
async function resultOf(board: string, bring: () => Promise<TemplateResult['status']>): Promise<TemplateResult> {
  try {
    return { board, status: await bring() } as TemplateResult;
  } catch (error) {
    if (!(error instanceof LadderError) || error.retriable || error.code === 'PRECONDITION_FAILED') throw error;
    return { board, status: 'problem', problem: error };
  }
}

/** null: the template is as the condition says. */
function refusalOf(
  id: string,
  current: BoardTemplate | undefined,
  { ifMatch = null, onlyCreate = false }: PutCondition,
): LadderError | null {
  if (onlyCreate && current) {
    return new LadderError('PRECONDITION_FAILED', `Template "${id}" exists already (If-None-Match: *).`);
  }
  if (ifMatch === null || (current && namesTag(ifMatch, entityTagOfTemplate(current)))) return null;
  return new LadderError('PRECONDITION_FAILED', `Template "${id}" is not the one If-Match names; read it again.`);
}
