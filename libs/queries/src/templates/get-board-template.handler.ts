import { assertAdmin } from '@laddercast/identity';
import { BoardTemplates, type BoardTemplate, type HandChange } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetBoardTemplateQuery } from './template-queries.js';

@QueryHandler(GetBoardTemplateQuery)
export class GetBoardTemplateHandler implements IQueryHandler<GetBoardTemplateQuery> {
  constructor(private readonly templates: BoardTemplates) {}

  async execute({
    identity,
    templateId,
  }: GetBoardTemplateQuery): Promise<{ template: BoardTemplate; byHand: HandChange[] }> {
    assertAdmin(identity);
    return this.templates.get(templateId);
  }
}
