import type { Identity } from '@laddercast/identity';
import type { BoardTemplate, HandChange, ListedTemplate } from '@laddercast/ledger';
import { Query } from '@nestjs/cqrs';

/** A template, and what was changed by hand on its boards. @throws TEMPLATE_NOT_FOUND */
export class GetBoardTemplateQuery extends Query<{ template: BoardTemplate; byHand: HandChange[] }> {
  constructor(
    readonly identity: Identity,
    readonly templateId: string,
  ) {
    super();
  }
}

export interface TemplatesPage {
  templates: ListedTemplate[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** Templates by id, after a given one. */
export class ListBoardTemplatesQuery extends Query<TemplatesPage> {
  constructor(
    readonly identity: Identity,
    readonly limit: number,
    readonly after: string,
  ) {
    super();
  }
}
