import { assertAdmin } from '@laddercast/identity';
import { BoardTemplates } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { cutPage } from '../shared/cut-page.js';
import { ListBoardTemplatesQuery, type TemplatesPage } from './template-queries.js';

@QueryHandler(ListBoardTemplatesQuery)
export class ListBoardTemplatesHandler implements IQueryHandler<ListBoardTemplatesQuery> {
  constructor(private readonly templates: BoardTemplates) {}

  async execute({ identity, limit, after }: ListBoardTemplatesQuery): Promise<TemplatesPage> {
    assertAdmin(identity);
    const found = await this.templates.list(after, limit + 1);
    const { page: templates, next } = cutPage(found, limit, ({ id }) => id);
    return { templates, next };
  }
}
