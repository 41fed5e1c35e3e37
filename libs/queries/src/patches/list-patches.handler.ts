import { PatchRegistry, type ListedPatch } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListPatchesQuery } from './patch-queries.js';

@QueryHandler(ListPatchesQuery)
export class ListPatchesHandler implements IQueryHandler<ListPatchesQuery> {
  constructor(private readonly patches: PatchRegistry) {}

  execute({ family }: ListPatchesQuery): Promise<ListedPatch[]> {
    return this.patches.list(family);
  }
}
