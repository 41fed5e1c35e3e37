import { Injectable } from '@nestjs/common';
import { assertNotFed, BoardRegistry } from '../boards/board-registry.js';
import { createBoard, findBoard, type BoardRow, type FoundBoard } from '../boards/board-rows.js';
import type { TemplateLink } from '../boards/template-layers.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { AllLanes } from '../lanes/all-lanes.js';
import { announceBoard } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import { planOf, type BoardPlan } from './board-plan.js';
import { templateChanged, type DefinitionMaker, type GivenTemplate } from './board-template.js';
import { revisionToKeep } from './template-rows.js';

/** Who brings boards to which template, at which of its revisions. */
export interface TemplateAct {
  id: string;
  revision: number;
  actor: string;
}

type Given = Pick<GivenTemplate, 'definition'>;
type NamedBoard = GivenTemplate['boards'][number];
/** What a board's owner sees of what was done. */
type Status = 'created' | 'updated' | 'unchanged';

const STATUS: Record<BoardPlan['step'], Status> = {
  create: 'created',
  update: 'updated',
  join: 'updated',
  link: 'unchanged',
  nothing: 'unchanged',
};

/** Single boards of templates: each step is a transaction that holds all lanes, and looks whether the template is still the same. */
@Injectable()
export class TemplateBoards {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly allLanes: AllLanes,
    private readonly registry: BoardRegistry,
  ) {}

  /**
   * Makes a board as its template says.
   * @param seen the board as it was a moment ago: one that is so already is left alone
   * @throws PRECONDITION_FAILED when the template was changed meanwhile; what is refused of this board
   */
  async bring(
    act: TemplateAct,
    given: Given,
    named: NamedBoard,
    seen: BoardRow | undefined,
    make: DefinitionMaker,
  ): Promise<Status> {
    if (planOf(act.id, given, named, seen, make).step === 'nothing') return 'unchanged';
    return this.changing(act, async (transaction) => {
      const current = await findBoard(transaction, named.board);
      const plan = planOf(act.id, given, named, current, make);
      await this.follow(transaction, act, named.board, current, plan);
      return STATUS[plan.step];
    });
  }

  /** What {@link bring} would do; nothing is written. */
  async rehearse(
    id: string,
    given: Given,
    named: NamedBoard,
    seen: BoardRow | undefined,
    make: DefinitionMaker,
  ): Promise<Status> {
    const { step, definition } = planOf(id, given, named, seen, make);
    if (seen && step === 'update') await this.registry.assertTakes(this.database, seen, named.board, definition);
    return STATUS[step];
  }

  /** Takes a board out of the template: it stays as it is. */
  async release(act: TemplateAct, board: string): Promise<void> {
    await this.changing(act, async (transaction) => {
      const current = await findBoard(transaction, board);
      if (current?.template?.id !== act.id) return;
      await this.setTemplate(transaction, act, board, current, null);
    });
  }

  /** @throws BOARD_IN_USE where a pool feeds it */
  async delete(act: TemplateAct, board: string): Promise<void> {
    await this.changing(act, async (transaction) => {
      const current = await findBoard(transaction, board);
      if (current?.template?.id === act.id) await this.registry.remove(transaction, current, board, act.actor);
    });
  }

  /** @throws BOARD_IN_USE where a pool feeds one of the boards */
  assertDeletable(boards: ReadonlyMap<string, BoardRow>): void {
    for (const [board, row] of boards) assertNotFed(board, row);
  }

  private changing<T>({ id, revision }: TemplateAct, change: (transaction: SqlRunner) => Promise<T>): Promise<T> {
    return this.allLanes.change(async (transaction) => {
      if ((await revisionToKeep(transaction, id)) !== revision) throw templateChanged(id);
      return change(transaction);
    });
  }

  private async follow(
    transaction: SqlRunner,
    act: TemplateAct,
    board: string,
    current: FoundBoard | undefined,
    { step, definition, link }: BoardPlan,
  ): Promise<void> {
    if (step === 'nothing') return;
    if (step === 'join') return this.setTemplate(transaction, act, board, current!, link);
    if (step === 'link') return store(transaction, current!.board_uid, link);
    const action = current ? 'board.replace' : 'board.create';
    const details = { definition, template: act.id };
    await recordAudit(transaction, { actor: act.actor, action, subject: board, details });
    if (current) await this.registry.replace(transaction, current, board, definition, link);
    else await createBoard(transaction, this.lanes, board, { definition, template: link });
  }

  /** What everybody sees of a board says its template: so it is announced, and its entity tag is another. */
  private async setTemplate(
    transaction: SqlRunner,
    { id, actor }: TemplateAct,
    board: string,
    { board_uid: uid }: BoardRow,
    link: TemplateLink | null,
  ): Promise<void> {
    const action = link ? 'template.join' : 'template.leave';
    await recordAudit(transaction, { actor, action, subject: board, details: { template: id } });
    const revision = await announceBoard(transaction, this.lanes, uid, board);
    await store(transaction, uid, link);
    await transaction.query('UPDATE boards SET revision = $2, definition_revision = $2 WHERE board_uid = $1', [
      uid,
      revision,
    ]);
  }
}

const store = async (transaction: SqlRunner, boardUid: number, link: TemplateLink | null): Promise<void> => {
  await transaction.query('UPDATE boards SET template = $2 WHERE board_uid = $1', [
    boardUid,
    link && JSON.stringify(link),
  ]);
};
