import { parseBoardDefinition, parseBoardTemplate } from '@laddercast/commands';
import type { Board, BoardDefinition, GivenOptions } from '@laddercast/domain';
import {
  BoardTemplates,
  TemplateBoards,
  type GivenTemplate,
  type PutCondition,
  type TemplateOutcome,
} from '@laddercast/ledger';
import { LedgerNode, submissionOf } from './ledger-node.js';

export const definitionOf = (given: GivenOptions): BoardDefinition => parseBoardDefinition(given);

/** The ledger of one process with templates, by hand. */
export class TemplateNode extends LedgerNode {
  readonly templateBoards: TemplateBoards;
  readonly templates: BoardTemplates;

  constructor(url: string) {
    super(url);
    this.templateBoards = new TemplateBoards(this.database, this.lanes, this.allLanes, this.registry);
    this.templates = new BoardTemplates(this.database, this.templateBoards);
  }

  async put(id: string, body: object, condition: PutCondition = {}): Promise<TemplateOutcome> {
    return this.templates.put(await this.putOf(id, body, condition), 'key-1');
  }

  async rehearse(id: string, body: object, condition: PutCondition = {}): Promise<TemplateOutcome> {
    return this.templates.rehearse(await this.putOf(id, body, condition));
  }

  /** As `a created`, `b problem BOARD_NOT_EMPTY`. */
  linesOf({ results }: TemplateOutcome): string[] {
    return results.map((result) =>
      [result.board, result.status, ...(result.status === 'problem' ? [result.problem.code] : [])].join(' '),
    );
  }

  /** The live board of that id, as it is now. */
  async board(id: string): Promise<Board | undefined> {
    await this.boards.refresh();
    return this.boards.byId(id);
  }

  /** Puts a board by hand, with some options changed. */
  async change(id: string, change: Partial<BoardDefinition>): Promise<Board> {
    const { definition } = (await this.board(id))!;
    return (await this.registry.put(id, { ...definition, ...change }, {}, 'key-2')).board;
  }

  async play(id: string): Promise<void> {
    await this.ledger.write(submissionOf((await this.board(id))!, 'ada', 5));
  }

  private async putOf(
    id: string,
    body: object,
    condition: PutCondition,
  ): Promise<{ id: string; given: GivenTemplate; condition: PutCondition; make: typeof definitionOf }> {
    return { id, given: await parseBoardTemplate(body, id, definitionOf), condition, make: definitionOf };
  }
}
