import {
  everyLayout,
  GLOBAL_SCOPE,
  keyOfEntry,
  type Board,
  type EntryChange,
  type EntryChanged,
} from '@laddercast/domain';
import type { LogBatch, LogRecord } from '@laddercast/event-log';
import { BoardCatalog, keptAfterEndMs, LedgerClock, WindowCatalog, type WindowOfBoard } from '@laddercast/ledger';
import { metrics, traced, type OpenSpan } from '@laddercast/platform';
import {
  ApplyEntriesCommand,
  ChangesByShard,
  CommittedPositions,
  laterOf,
  LeaveTraceNotesCommand,
  MarkLaneCommand,
  TRACE_NOTES_MAX,
  type EntryInLists,
  type ListRef,
  type TraceNote,
} from '@laddercast/projections';
import { Controller, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SagaFailureFilter } from './saga-failure.filter.js';
import { ConsumesLog } from './saga-pattern.js';

/** The consumer group that feeds the ranks. */
export const SCORE_GROUP = 'score';

type ListTimes = Pick<EntryInLists, 'keepUntilMs' | 'startsAtMs' | 'endsAtMs'>;

const FOR_EVER: ListTimes = { keepUntilMs: null, startsAtMs: null, endsAtMs: null };
const NO_SCOPES: readonly number[] = [];

/** Of older events it is checked whether the ledger ever drew their positions, ms. */
const LATE_MS = 10_000;

/**
 * Brings the ranks up to the entries: events → one command per list and shard → the lane's mark.
 *
 * Every entry goes to all generations that its board's lists have. A generation is opened with all lanes held, so an
 * event behind the opening in its lane was committed after it: a look for changed boards after reading the event finds
 * the generation. So after each batch is read there is such a look, beside its writing, and the batch is written again
 * where a generation was not known. Only then the mark moves: everything before it is in every generation of that time.
 * Nothing else needs to be remembered about openings, nor about which process had the lane meanwhile, however long it
 * slept.
 *
 * A log outside PostgreSQL may hold events from after the point to which the ledger was restored. Events whose
 * positions the ledger has not drawn are skipped: neither written nor marked.
 */
@Controller()
@UseFilters(SagaFailureFilter)
export class ScoreSaga {
  /** The ledger has drawn positions at least up to here. */
  private drawn = 0;

  constructor(
    private readonly commands: CommandBus,
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly committed: CommittedPositions,
    private readonly clock: LedgerClock,
  ) {}

  @ConsumesLog({ group: SCORE_GROUP, topics: ['entry-changed'] })
  async project({ lane, records: delivered }: LogBatch): Promise<void> {
    const records = await this.drawnOnes(delivered);
    const events = records.map(({ event }) => event as EntryChanged);
    const refreshed = this.boards.refresh();
    // Awaited below, unless the writing fails first.
    refreshed.catch(() => undefined);
    const written = await this.write(events);
    await refreshed;
    if (!(await this.areAllWritten(written))) await this.write(events);
    const last = records.at(-1);
    if (last) await this.commands.execute(new MarkLaneCommand(lane, last.position));
    const oldestAtMs = records[0]?.writtenAtMs;
    if (Number.isFinite(oldestAtMs))
      metrics.eventToRankSeconds.observe(Math.max(0, this.clock.nowMs() - oldestAtMs!) / 1000);
  }

  /**
   * The records without those from a lost future. Such an event was written before the ledger was restored, so it is
   * never fresh. So only a late batch asks the ledger, and not if the ledger is known to be further.
   */
  private async drawnOnes(records: LogRecord[]): Promise<LogRecord[]> {
    const last = records.at(-1);
    if (!last || last.position <= this.drawn || !(this.clock.latestMs() - last.writtenAtMs > LATE_MS)) return records;
    this.drawn = await this.committed.drawn();
    return records.filter(({ position }) => position <= this.drawn);
  }

  /** Writes the entries to every known generation of their boards, and returns the boards as they were known. */
  private async write(events: EntryChanged[]): Promise<Map<number, Board | undefined>> {
    const boards = new Map<number, Board | undefined>();
    const sorted = await this.sorted(events, boards);
    await traced('apply entries', {}, async (span) => {
      if (span !== null) await this.commands.execute(new LeaveTraceNotesCommand(notesOf(events, span)));
      await sorted.apply(async ({ list, shard, changes, keepUntilMs }) => {
        const command = new ApplyEntriesCommand(list, shard, changes, keepUntilMs);
        return (await this.commands.execute(command)).applied;
      });
    });
    return boards;
  }

  private async areAllWritten(written: ReadonlyMap<number, Board | undefined>): Promise<boolean> {
    for (const [uid, before] of written) {
      // A board that was not found is gone: uids are never used again.
      if (before === undefined) continue;
      const board = await this.boards.byUid(uid);
      const generations = new Set(everyLayout(before.layouts).map(({ generation }) => generation));
      if (board && everyLayout(board.layouts).some(({ generation }) => !generations.has(generation))) return false;
    }
    return true;
  }

  private async sorted(events: EntryChanged[], boards: Map<number, Board | undefined>): Promise<ChangesByShard> {
    const sorted = new ChangesByShard();
    const windows = new Map<number, WindowOfBoard | undefined>();
    const pastMs = this.clock.earliestMs();
    for (const event of events) {
      const { boardUid, playerId, version, isGuild = false } = event;
      // Once a batch: each look for a board that is gone asks PostgreSQL.
      if (!boards.has(boardUid)) boards.set(boardUid, await this.boards.byUid(boardUid));
      const board = boards.get(boardUid);
      // Deleted or reset meanwhile: no entry may come back under its uid.
      if (!board) continue;
      for (const change of event.changes) {
        const { windowUid, entryId, entry: values, scopes = NO_SCOPES, leftScopes = NO_SCOPES, runs } = change;
        // Once a batch as well.
        if (change.keepUntilMs !== null && !windows.has(windowUid)) {
          windows.set(windowUid, await this.windows.byUid(windowUid));
        }
        const { keepUntilMs, startsAtMs, endsAtMs } = timesOf(board, windows.get(windowUid), change);
        // Its keys are gone, and must not be made again.
        if (keepUntilMs !== null && keepUntilMs <= pastMs) continue;
        const key = entryId === undefined ? playerId : keyOfEntry({ playerId, entryId });
        const lists = { scopes, leftScopes, isGuild, runs, keepUntilMs, startsAtMs, endsAtMs };
        sorted.add(board, { windowUid, playerId: key, version, values, ...lists });
      }
    }
    return sorted;
  }
}

/** The event has the window's end as it was then; the end of a season may have been moved since. */
function timesOf(board: Board, window: WindowOfBoard | undefined, { keepUntilMs }: EntryChange): ListTimes {
  if (keepUntilMs === null) return FOR_EVER;
  const keptMs = keptAfterEndMs(board.definition);
  const present = window?.endsAtMs == null ? null : window.endsAtMs + keptMs;
  const startsAtMs = window?.startsAtMs ?? null;
  const endsAtMs = window?.endsAtMs ?? keepUntilMs - keptMs;
  return { keepUntilMs: present === null ? keepUntilMs : laterOf(present, keepUntilMs), startsAtMs, endsAtMs };
}

/** The lists in which the span's traces continue: the global ones, and those of the scopes. */
function notesOf(events: readonly EntryChanged[], span: OpenSpan): { list: ListRef; note: TraceNote }[] {
  const notes: { list: ListRef; note: TraceNote }[] = [];
  for (const { boardUid, playerId, changes, traceparent: own } of events) {
    const traceparent = own === undefined ? undefined : span.traceparentAfter(own);
    if (traceparent === undefined) continue;
    for (const { windowUid, scopes = [] } of changes) {
      for (const scope of [GLOBAL_SCOPE, ...scopes]) {
        if (notes.length >= TRACE_NOTES_MAX) return notes;
        notes.push({ list: { boardUid, windowUid, scope }, note: { traceparent, playerId } });
      }
    }
  }
  return notes;
}
