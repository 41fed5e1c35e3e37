import { Command } from '@nestjs/cqrs';
import type { Announcement } from '../redis/announcements.js';
import type { ProjectedChange, RankList } from '../ranks/rank-projection.js';
import type { ListRef } from '../ranks/snapshot-store.js';
import type { TraceNote } from '../live/trace-notes.js';

/** Brings one shard of one list up to the changes given. */
export class ApplyEntriesCommand extends Command<{ applied: number }> {
  constructor(
    readonly list: RankList,
    readonly shard: number,
    readonly changes: ProjectedChange[],
    /** When the list's keys may go, Unix ms; null for ever. */
    readonly keepUntilMs: number | null,
  ) {
    super();
  }
}

/** Leads the traces of changes that are about to be applied on to who publishes them. */
export class LeaveTraceNotesCommand extends Command<void> {
  constructor(readonly notes: readonly { list: ListRef; note: TraceNote }[]) {
    super();
  }
}

/** Records in the projection that a lane was applied up to a position: the last step before its offset is committed. */
export class MarkLaneCommand extends Command<void> {
  constructor(
    readonly lane: number,
    readonly position: number,
  ) {
    super();
  }
}

/** Removes what the projection and the ledger keep of a board that was deleted or reset. */
export class DropBoardCommand extends Command<void> {
  constructor(readonly boardUid: number) {
    super();
  }
}

/** Lets the keys of boards' windows live as long as their present bounds ask for; where nothing moved it does nothing. */
export class KeepWindowsCommand extends Command<void> {
  constructor(readonly boardUids: readonly number[]) {
    super();
  }
}

/** Tells all processes. */
export class AnnounceCommand extends Command<void> {
  constructor(readonly announcement: Announcement) {
    super();
  }
}
