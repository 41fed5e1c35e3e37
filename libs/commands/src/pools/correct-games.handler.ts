import { actorOf, assertAdmin } from '@laddercast/identity';
import {
  asAnswered,
  outcomeOfPoolEvent,
  PoolCorrections,
  PostgresDatabase,
  type KeptOutcome,
} from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorrectGamesCommand, type CorrectionAnswer } from './pool-commands.js';
import { RatingWaits } from './rating-waits.js';

const WAIT_MS = 20_000;

@CommandHandler(CorrectGamesCommand)
export class CorrectGamesHandler implements ICommandHandler<CorrectGamesCommand> {
  constructor(
    private readonly corrections: PoolCorrections,
    private readonly waits: RatingWaits,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ identity, poolId, asked, isDryRun }: CorrectGamesCommand): Promise<CorrectionAnswer> {
    assertAdmin(identity);
    if (isDryRun) return this.corrections.dryRun(poolId, asked);
    const { poolUid, position, games } = await this.corrections.record(poolId, asked, actorOf(identity));
    if (games === 0) return { games, players: [] };
    await this.waits.rated(poolUid, position, monotonicMs() + WAIT_MS);
    // It is recorded whether or not it can be read now.
    const outcome = await outcomeOfPoolEvent<KeptOutcome>(this.database, poolUid, position).catch(() => null);
    return outcome === null ? { games, players: null } : asAnswered(outcome);
  }
}
