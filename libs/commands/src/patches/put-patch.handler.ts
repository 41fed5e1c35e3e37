import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, PatchRegistry, type ListedPatch } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutPatchCommand } from './patch-commands.js';

@CommandHandler(PutPatchCommand)
export class PutPatchHandler implements ICommandHandler<PutPatchCommand> {
  constructor(
    private readonly patches: PatchRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({
    identity,
    patchId,
    family,
    definition,
    condition,
  }: PutPatchCommand): Promise<{ patch: ListedPatch; created: boolean }> {
    assertAdmin(identity);
    if (typeof condition.ifMatch === 'string' && !condition.familyIsNamed) {
      await this.patches.assertOfOneFamily(patchId);
    }
    const result = await this.patches.put(patchId, family, definition, condition, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
    return result;
  }
}
