import type { LadderEvent } from '@laddercast/domain';
import { PostgresLogEnds, type LogBatch, type LogGroup, type LogRecord } from '@laddercast/event-log';
import { Extensions, type LogSaga } from '@laddercast/extension';
import { BoardCatalog, poolIdsOf, PostgresDatabase, WindowCatalog } from '@laddercast/ledger';
import { inSaga } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { sagaEventOf, type NamesOfNumbers } from './saga-news.js';

/** A team's consumer group with the work of its batches. */
export interface TeamSaga extends LogGroup {
  handle(batch: LogBatch): Promise<void>;
}

/**
 * The sagas of teams. Their batches have ids where ours have numbers; what is about something that is gone is left out, and a
 * batch of nothing else is passed over.
 */
@Injectable()
export class TeamSagas {
  constructor(
    private readonly extensions: Extensions,
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly database: PostgresDatabase,
    private readonly log: PostgresLogEnds,
  ) {}

  all(): TeamSaga[] {
    return this.extensions.logSagas.map((saga) => ({
      group: saga.group,
      topics: saga.topics,
      handle: (batch) => this.tell(saga, batch),
    }));
  }

  private async tell(saga: LogSaga, { lane, records }: LogBatch): Promise<void> {
    const names = await this.namesFor(records);
    const events = records.flatMap((record) => sagaEventOf(record, names) ?? []);
    if (events.length === 0) return;
    const incarnation = await this.log.logName();
    await inSaga(() => saga.handle({ lane, incarnation, events }));
  }

  /** Looked up once for a batch, however many of its events name them. */
  private async namesFor(records: readonly LogRecord[]): Promise<NamesOfNumbers> {
    const events = records.map(({ event }) => event);
    const boards = new Map(
      await Promise.all(
        [...new Set(events.flatMap(boardIn))].map(async (uid) => [uid, await this.boards.byUid(uid)] as const),
      ),
    );
    const windows = await this.windows.byUids(new Set(events.flatMap(windowsIn)));
    const pools = await poolIdsOf(this.database, [...new Set(events.flatMap(poolIn))]);
    return {
      board: (uid) => boards.get(uid),
      window: (uid) => windows.get(uid)?.id,
      pool: (uid) => pools.get(uid),
    };
  }
}

const boardIn = (event: LadderEvent): number[] => ('boardUid' in event ? [event.boardUid] : []);

const poolIn = (event: LadderEvent): number[] => ('poolUid' in event ? [event.poolUid] : []);

function windowsIn(event: LadderEvent): number[] {
  if (event.type === 'entry-changed') return event.changes.map(({ windowUid }) => windowUid);
  return event.type === 'run-recorded' ? event.windowUids : [];
}
