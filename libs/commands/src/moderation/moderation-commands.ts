import type { Identity } from '@laddercast/identity';
import type { NewSanction, Sanction } from '@laddercast/ledger';
import { Command } from '@nestjs/cqrs';

/** Bans, hides or shadows a player, in the place of what was in force. */
export class PutSanctionCommand extends Command<Sanction> {
  constructor(
    readonly identity: Identity,
    readonly playerId: string,
    readonly sanction: NewSanction,
  ) {
    super();
  }
}

/** Lifts the sanction of a player; null: none was in force. */
export class LiftSanctionCommand extends Command<Sanction | null> {
  constructor(
    readonly identity: Identity,
    readonly playerId: string,
    readonly reason: string,
  ) {
    super();
  }
}
