import { LadderError, type Board } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { BoardCatalog } from '../catalogs/board-catalog.js';
import { StaleBoardError } from '../entries/ledger-writes.js';
import { Lanes } from '../lanes/lanes.js';
import { LaneWriters } from '../submissions/lane-writers.js';
import { WriteNotTaken, type LaneWriter } from '../submissions/lane-writer.js';
import { decodeMessage, encodeResults, writeOf, type HandedResult, type MessageOnWire } from './lane-message.js';
import { PATIENCE_MS } from './lane-route.js';

type WriteOnWire = MessageOnWire['writes'][number];

/** Takes the writes that other processes hand over: they join the commits of their lane. */
@Injectable()
export class LaneInbox {
  constructor(
    private readonly lanes: Lanes,
    private readonly boards: BoardCatalog,
    private readonly writers: LaneWriters,
  ) {}

  /** The results of a message, in its order; what is too old to begin with is not taken. */
  async take(text: string): Promise<string> {
    const { lane, sentAtMs, writes } = decodeMessage(text);
    const { count } = this.lanes;
    if (lane >= count)
      throw new Error(`As this process knows it, there are ${count} lanes, and none has number ${lane}.`);
    // A write whose player is in another lane by now is taken there.
    const writer = this.writers.of(lane);
    const boards = await this.boardsOf(writes);
    const now = monotonicMs();
    const takeBeforeMs = now + PATIENCE_MS - Math.max(0, this.boards.clock.nowMs() - sentAtMs);
    // All at once, so that they stay in order.
    const results = writes.map((sent) => this.write(writer, sent, boards.get(sent.board.uid), takeBeforeMs));
    return encodeResults(await Promise.all(results));
  }

  private async write(
    writer: LaneWriter,
    sent: WriteOnWire,
    board: Board | undefined,
    takeBeforeMs: number,
  ): Promise<HandedResult> {
    if (board?.revision !== sent.board.revision) return { error: new StaleBoardError(sent.board.uid) };
    const attempt = { sinceMs: monotonicMs(), expiresAtMs: takeBeforeMs, unsettled: false, isHandedOver: true };
    try {
      return { receipt: await writer.write(writeOf(sent, board), attempt) };
    } catch (error) {
      if (error instanceof WriteNotTaken) return { again: 'not taken' };
      if (error instanceof StaleBoardError) return { error };
      const isAnswer = error instanceof LadderError && error.code !== 'LEDGER_UNAVAILABLE';
      return isAnswer ? { error } : { again: 'not known' };
    }
  }

  /** As this process knows them; looked up anew where the sender knows newer ones. */
  private async boardsOf(writes: readonly WriteOnWire[]): Promise<ReadonlyMap<number, Board | undefined>> {
    const boards = new Map<number, Board | undefined>();
    for (const { board } of writes) {
      if (boards.has(board.uid)) continue;
      let known = await this.boards.byUid(board.uid);
      if (known !== undefined && known.revision < board.revision) {
        await this.boards.refresh();
        known = await this.boards.byUid(board.uid);
      }
      boards.set(board.uid, known);
    }
    return boards;
  }
}
