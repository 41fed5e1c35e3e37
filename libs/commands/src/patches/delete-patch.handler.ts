import { actorOf, assertAdmin } from '@laddercast/identity';
import { BoardCatalog, PatchRegistry } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeletePatchCommand } from './patch-commands.js';

@CommandHandler(DeletePatchCommand)
export class DeletePatchHandler implements ICommandHandler<DeletePatchCommand> {
  constructor(
    private readonly patches: PatchRegistry,
    private readonly boards: BoardCatalog,
  ) {}

  async execute({ identity, patchId, family, ifMatch }: DeletePatchCommand): Promise<void> {
    assertAdmin(identity);
    const named = await this.patches.familyOf(patchId, family);
    await this.patches.delete(patchId, named, ifMatch, actorOf(identity));
    await this.boards.refresh().catch(() => undefined);
  }
}
