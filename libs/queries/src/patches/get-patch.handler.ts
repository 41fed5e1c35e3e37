import { PatchRegistry, type ListedPatch } from '@laddercast/ledger';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetPatchQuery } from './patch-queries.js';

@QueryHandler(GetPatchQuery)
export class GetPatchHandler implements IQueryHandler<GetPatchQuery> {
  constructor(private readonly patches: PatchRegistry) {}

  async execute({ patchId, family }: GetPatchQuery): Promise<ListedPatch> {
    return this.patches.get(patchId, await this.patches.familyOf(patchId, family));
  }
}
