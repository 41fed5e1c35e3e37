import { PlayerRegistry, type StoredPlayer } from '@laddercast/ledger';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PutPlayerCommand } from '../commands.js';
import { assertMayWritePlayers } from '@laddercast/identity';

@CommandHandler(PutPlayerCommand)
export class PutPlayerHandler implements ICommandHandler<PutPlayerCommand> {
  constructor(private readonly players: PlayerRegistry) {}

  execute({ identity, playerId, profile }: PutPlayerCommand): Promise<StoredPlayer> {
    assertMayWritePlayers(identity);
    return this.players.put(playerId, profile);
  }
}
