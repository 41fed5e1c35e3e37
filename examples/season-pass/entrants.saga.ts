import { LogSaga, type SagaBatch } from '@laddercast/leaderboard';
import { Injectable } from '@nestjs/common';
import { PassRegistry } from './pass-registry.js';
import { SEASON_BOARD } from './season-pass.check.js';

/** Notes who has scored with a pass, so that the shop need not ask: one consumer group of the log. */
@Injectable()
export class EntrantsSaga extends LogSaga<'entry-changed'> {
  readonly group = 'season-pass.entrants';
  readonly topics = ['entry-changed'] as const;

  constructor(private readonly passes: PassRegistry) {
    super();
  }

  /** Batches come at least once, and late: to note somebody twice changes nothing. */
  async handle({ events }: SagaBatch<'entry-changed'>): Promise<void> {
    for (const { board, playerId } of events) {
      if (board === SEASON_BOARD && playerId !== undefined) await this.passes.noteUse(playerId);
    }
  }
}
