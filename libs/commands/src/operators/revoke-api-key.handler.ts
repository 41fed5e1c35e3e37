import { actorOf, assertAdmin } from '@laddercast/identity';
import { ApiKeyStore } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RevokeApiKeyCommand } from '../commands.js';

@CommandHandler(RevokeApiKeyCommand)
export class RevokeApiKeyHandler implements ICommandHandler<RevokeApiKeyCommand> {
  constructor(private readonly keys: ApiKeyStore) {}

  execute({ identity, keyId }: RevokeApiKeyCommand): Promise<void> {
    assertAdmin(identity);
    return this.keys.revoke(keyId, actorOf(identity));
  }
}
