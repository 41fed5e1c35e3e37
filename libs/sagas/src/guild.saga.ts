import { guildOfScope, type EntryChange, type EntryChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { RecomputeGuildTotalsCommand } from '@laddercast/commands';
import { ScopeCatalog, type GuildTarget } from '@laddercast/ledger';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Has the totals of guilds recomputed whose members' entries changed: once for each guild and window of a batch. */
@Controller()
@UseFilters(SagaFailureFilter)
export class GuildSaga {
  constructor(
    private readonly commands: CommandBus,
    private readonly scopes: ScopeCatalog,
  ) {}

  @ConsumesLog({ group: 'guild', topics: ['entry-changed'] })
  async addUp({ records }: LogBatch): Promise<void> {
    const targets = await this.targetsOf(records.map(({ event }) => event as EntryChanged));
    if (targets.length > 0) await this.commands.execute(new RecomputeGuildTotalsCommand(targets));
  }

  private async targetsOf(events: readonly EntryChanged[]): Promise<GuildTarget[]> {
    const scoped = events.flatMap(({ isGuild, changes }) => (isGuild ? [] : changes.filter(isScoped)));
    if (scoped.length === 0) return [];
    const names = await this.scopes.namesOf([...new Set(scoped.flatMap(scopesOf))]);
    const targets = new Map<string, GuildTarget>();
    for (const change of scoped) {
      for (const scope of scopesOf(change)) {
        const guildId = guildOfScope(names.get(scope) ?? '');
        if (guildId === null) continue;
        const { windowUid } = change;
        targets.set(`${windowUid}/${guildId}`, { windowUid, guildId });
      }
    }
    return [...targets.values()];
  }
}

/** Most players are in no scope. */
const isScoped = ({ scopes, leftScopes }: EntryChange): boolean => scopes !== undefined || leftScopes !== undefined;

const scopesOf = ({ scopes = [], leftScopes = [] }: EntryChange): number[] => [...scopes, ...leftScopes];
