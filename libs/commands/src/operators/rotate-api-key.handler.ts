import { actorOf, assertAdmin } from '@laddercast/identity';
import { ApiKeyStore, type RotatedApiKey } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RotateApiKeyCommand } from '../commands.js';

@CommandHandler(RotateApiKeyCommand)
export class RotateApiKeyHandler implements ICommandHandler<RotateApiKeyCommand> {
  constructor(private readonly keys: ApiKeyStore) {}

  execute({ identity, keyId, rotation }: RotateApiKeyCommand): Promise<RotatedApiKey> {
    assertAdmin(identity);
    return this.keys.rotate(keyId, rotation, actorOf(identity));
  }
}
