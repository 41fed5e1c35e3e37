import { ConsumesLog, SagaFailureFilter, type EntryChanged, type LogBatch } from '@laddercast/leaderboard';
import { Controller, UseFilters } from '@nestjs/common';
import { PassRegistry } from './pass-registry.js';

/** Notes who has scored with a pass, so that the shop need not ask: one consumer group of the log. */
@Controller()
@UseFilters(SagaFailureFilter)
export class EntrantsSaga {
  constructor(private readonly passes: PassRegistry) {}

  /** Batches come at least once, and late: to note somebody twice changes nothing. */
  @ConsumesLog({ group: 'season-pass.entrants', topics: ['entry-changed'] })
  async note({ records }: LogBatch): Promise<void> {
    for (const { playerId, changes } of records.map(({ event }) => event as EntryChanged)) {
      if (changes.length > 0) await this.passes.noteUse(playerId);
    }
  }
}
