import type { Board, EntryChange, EntryChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { BoardCatalog, keptAfterEndMs, WindowCatalog } from '@laddercast/ledger';
import { nowMs } from '@laddercast/platform';
import { ApplyEntriesCommand, ChangesByShard, laterOf, MarkLaneCommand } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** The consumer group that feeds the ranks. */
export const SCORE_GROUP = 'score';

/** Brings the ranks up to the entries: events → one command per list and shard → the lane's mark. */
@Controller()
@UseFilters(SagaFailureFilter)
export class ScoreSaga {
  constructor(
    private readonly commands: CommandBus,
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
  ) {}

  @ConsumesLog({ group: SCORE_GROUP, topics: ['entry-changed'] })
  async project({ lane, records }: LogBatch): Promise<void> {
    const changes = await this.sorted(records.map(({ event }) => event as EntryChanged));
    await changes.apply(async ({ list, shard, changes, keepUntilMs }) => {
      const command = new ApplyEntriesCommand(list, shard, changes, keepUntilMs);
      return (await this.commands.execute(command)).applied;
    });
    const last = records.at(-1);
    if (last) await this.commands.execute(new MarkLaneCommand(lane, last.position));
  }

  private async sorted(events: EntryChanged[]): Promise<ChangesByShard> {
    const sorted = new ChangesByShard();
    const boards = new Map<number, Board | undefined>();
    const now = nowMs();
    for (const event of events) {
      const { boardUid, playerId, version, isGuild = false } = event;
      // Once a batch: each look for a board that is gone asks PostgreSQL.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.boards.byUid(boardUid));
      const board = boards.get(boardUid);
      // Deleted or reset meanwhile: nothing may come back under its uid.
      if (!board) continue;
      for (const change of event.changes) {
        const { windowUid, entry: values, scopes = [], leftScopes = [] } = change;
        const keepUntilMs = await this.keepUntil(board, change);
        // Its keys are gone, and nothing may make them again.
        if (keepUntilMs !== null && keepUntilMs <= now) continue;
        sorted.add(board, { windowUid, playerId, version, values, scopes, leftScopes, isGuild, keepUntilMs });
      }
    }
    return sorted;
  }

  /** An event says when its window would end; the end of a season may have been moved since. */
  private async keepUntil(board: Board, { windowUid, keepUntilMs }: EntryChange): Promise<number | null> {
    if (keepUntilMs === null) return null;
    const window = await this.windows.byUid(windowUid);
    const present = window?.endsAtMs == null ? null : window.endsAtMs + keptAfterEndMs(board.definition);
    return present === null ? keepUntilMs : laterOf(present, keepUntilMs);
  }
}
