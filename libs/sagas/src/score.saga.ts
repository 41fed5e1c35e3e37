import { encodeSortKey, shardOf, type Board, type EntryChange, type EntryChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';
import { BoardCatalog } from '@laddercast/ledger';
import { ApplyEntriesCommand, MarkLaneCommand, type ProjectedChange, type RankList } from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** The consumer group that feeds the ranks. */
export const SCORE_GROUP = 'score';

/** Shards of one batch that are written side by side. */
const SHARDS_AT_ONCE = 8;

interface ShardChanges {
  list: RankList;
  shard: number;
  keepUntilMs: number | null;
  changes: ProjectedChange[];
}

/** Brings the ranks up to the entries: events → one command per shard → the lane's mark. */
@Controller()
@UseFilters(SagaFailureFilter)
export class ScoreSaga {
  constructor(
    private readonly commands: CommandBus,
    private readonly boards: BoardCatalog,
  ) {}

  @ConsumesLog({ group: SCORE_GROUP, topics: ['entry-changed'] })
  async project({ lane, records }: LogBatch): Promise<void> {
    const shards = await this.byShard(records.map(({ event }) => event as EntryChanged));
    for (let from = 0; from < shards.length; from += SHARDS_AT_ONCE) {
      await Promise.all(
        shards
          .slice(from, from + SHARDS_AT_ONCE)
          .map(({ list, shard, changes, keepUntilMs }) =>
            this.commands.execute(new ApplyEntriesCommand(list, shard, changes, keepUntilMs)),
          ),
      );
    }
    const last = records.at(-1);
    if (last) await this.commands.execute(new MarkLaneCommand(lane, last.position));
  }

  private async byShard(events: EntryChanged[]): Promise<ShardChanges[]> {
    const shards = new Map<string, ShardChanges>();
    const boards = new Map<number, Board | undefined>();
    for (const { boardUid } of events) {
      // Once a batch: each look for a board that is gone asks PostgreSQL.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.boards.byUid(boardUid));
    }
    for (const event of events) {
      const board = boards.get(event.boardUid);
      // Deleted or reset meanwhile: nothing may come back under its uid.
      if (!board) continue;
      for (const change of event.changes) this.add(shards, board, event, change);
    }
    return [...shards.values()];
  }

  private add(shards: Map<string, ShardChanges>, board: Board, event: EntryChanged, change: EntryChange): void {
    const { playerId, version } = event;
    const count = board.definition.sharding.count;
    const shard = shardOf(playerId, count);
    const name = `${change.windowUid}.${shard}`;
    let target = shards.get(name);
    if (!target) {
      const list = { boardUid: board.uid, windowUid: change.windowUid, ordering: board.definition, shards: count };
      target = { list, shard, keepUntilMs: change.keepUntilMs, changes: [] };
      shards.set(name, target);
    }
    const key = change.entry && encodeSortKey(board.definition, change.entry, playerId);
    target.changes.push({ playerId, version, key });
  }
}
