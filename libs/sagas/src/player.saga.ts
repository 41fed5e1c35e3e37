import type { PlayerChanged, SanctionChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { AnnounceCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Tells every process whose name, listing or sanction changed, so that none shows an old one. */
@Controller()
@UseFilters(SagaFailureFilter)
export class PlayerSaga {
  constructor(private readonly commands: CommandBus) {}

  @ConsumesLog({ group: 'player', topics: ['player-changed', 'sanction-changed'] })
  async tell({ records }: LogBatch): Promise<void> {
    const changed = records.map(({ event }) => event as PlayerChanged | SanctionChanged);
    for (const group of GROUPS) {
      const ids = changed.filter((event) => isOf(event, group)).map(({ playerId }) => playerId);
      if (ids.length === 0) continue;
      await this.commands.execute(new AnnounceCommand({ kind: 'players', ids: [...new Set(ids)], ...group }));
    }
  }
}

/** What is announced together. */
const GROUPS = [{ isGuild: false }, { isGuild: true }, { isGuild: false, ofSanctions: true }];

const isOf = (
  event: PlayerChanged | SanctionChanged,
  { isGuild, ofSanctions = false }: (typeof GROUPS)[number],
): boolean => (event.type === 'sanction-changed' ? ofSanctions : !ofSanctions && (event.isGuild ?? false) === isGuild);
