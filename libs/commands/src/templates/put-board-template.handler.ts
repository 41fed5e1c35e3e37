import type { BoardDefinition, GivenOptions } from '@laddercast/domain';
import { Extensions } from '@laddercast/extension';
import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, BoardTemplates, type TemplateOutcome } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { assertRulesKnown } from '../boards/known-rules.js';
import { parseBoardDefinition } from '../bodies/board-definition.js';
import { parseBoardTemplate } from '../bodies/board-template-body.js';
import { PutBoardTemplateCommand } from './template-commands.js';

@CommandHandler(PutBoardTemplateCommand)
export class PutBoardTemplateHandler implements ICommandHandler<PutBoardTemplateCommand> {
  constructor(
    private readonly templates: BoardTemplates,
    private readonly boards: BoardCatalog,
    private readonly extensions: Extensions,
  ) {}

  async execute(command: PutBoardTemplateCommand): Promise<TemplateOutcome> {
    const { identity, templateId: id, body, condition, isDryRun } = command;
    assertAdmin(identity);
    const make = (given: GivenOptions): BoardDefinition => this.definitionOf(given);
    const given = await parseBoardTemplate(body, id, make);
    const put = { id, given, condition, make };
    if (isDryRun) return this.templates.rehearse(put);
    try {
      return await this.templates.put(put, actorOf(identity));
    } finally {
      // Also where it ended early: some of its boards are made.
      await this.boards.refresh().catch(() => undefined);
    }
  }

  private definitionOf(given: GivenOptions): BoardDefinition {
    const definition = parseBoardDefinition(given);
    assertRulesKnown(this.extensions, definition);
    return definition;
  }
}
