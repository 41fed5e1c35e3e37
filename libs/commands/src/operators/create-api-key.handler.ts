import { actorOf, assertAdmin } from '@laddercast/identity';
import { ApiKeyStore, type CreatedApiKey } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CreateApiKeyCommand } from '../commands.js';

@CommandHandler(CreateApiKeyCommand)
export class CreateApiKeyHandler implements ICommandHandler<CreateApiKeyCommand> {
  constructor(private readonly keys: ApiKeyStore) {}

  execute({ identity, key }: CreateApiKeyCommand): Promise<CreatedApiKey> {
    assertAdmin(identity);
    return this.keys.create(key, actorOf(identity));
  }
}
