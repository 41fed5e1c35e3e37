import type { Board, BoardHistory, EntryChanged } from '@laddercast/domain';
import { RecordHistoryCommand, type StateToRecord } from '@laddercast/commands';
import type { LogBatch, LogRecord } from '@laddercast/event-log';
import { BoardCatalog, stretchOf, WindowCatalog } from '@laddercast/ledger';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** Has players' entries recorded over time, on boards with `history`: of a batch the last state of each stretch. */
@Controller()
@UseFilters(SagaFailureFilter)
export class HistorySaga {
  constructor(
    private readonly commands: CommandBus,
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
  ) {}

  @ConsumesLog({ group: 'history', topics: ['entry-changed'] })
  async record({ lane, records }: LogBatch): Promise<void> {
    const states = await this.lastStates(records);
    if (states.length > 0) await this.commands.execute(new RecordHistoryCommand(lane, states));
  }

  private async lastStates(records: readonly LogRecord[]): Promise<StateToRecord[]> {
    const last = new Map<string, StateToRecord>();
    const boards = new Map<number, Board | undefined>();
    for (const { event, writtenAtMs } of records) {
      const { boardUid, playerId, version, changes, isGuild = false } = event as EntryChanged;
      if (isGuild) continue;
      // Once a batch: each look for a board that is gone asks PostgreSQL.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.boards.byUid(boardUid));
      const board = boards.get(boardUid);
      const history = board?.definition.history;
      if (!board || !history) continue;
      for (const { windowUid, entry } of changes) {
        const stretchMs = await this.stretchIn(windowUid, history, writtenAtMs);
        const key = `${windowUid}/${stretchMs}/${playerId}`;
        if ((last.get(key)?.version ?? -1) >= version) continue;
        const { score, columns, achievedAtMs } = entry ?? { score: null, columns: [], achievedAtMs: null };
        const of = { board, windowUid, playerId, stretchMs, version };
        last.set(key, { ...of, atMs: writtenAtMs, score, columns, achievedAtMs });
      }
    }
    return [...last.values()];
  }

  /** A freeze splits its stretch: what comes after it must not replace what everyone may see. */
  private async stretchIn(windowUid: number, history: BoardHistory, atMs: number): Promise<number> {
    const freezeAtMs = (await this.windows.byUid(windowUid))?.freezeAtMs ?? null;
    const stretchMs = stretchOf(history, atMs);
    return freezeAtMs !== null && freezeAtMs <= atMs ? Math.max(stretchMs, freezeAtMs) : stretchMs;
  }
}
