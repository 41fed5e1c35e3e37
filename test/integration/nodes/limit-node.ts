import { LadderError, type Board, type BoardDefinition, type EntryChanged } from '@laddercast/domain';
import { EntryExpirer, LimitStartMarker, EntryTrimmer, type SubmitReceipt, type SubmitWrite } from '@laddercast/ledger';
import { expect } from 'vitest';
import { TimeNode } from './time-node.js';

const running = new AbortController().signal;

/** The ledger of one process with what limits of boards need done, by hand. */
export class LimitNode extends TimeNode {
  readonly marker = new LimitStartMarker(this.database, this.lanes);
  readonly trimmer = new EntryTrimmer(this.database, this.lanes, this.notifier, { OUTBOX_EVENTS_MAX: 1_000_000 });
  readonly lifetimes = new EntryExpirer(this.database, this.lanes, this.notifier);

  /** Does everything that is due, on every board; returns how many entries of this one were removed. */
  async limit(board: Board): Promise<number> {
    const before = await this.changes(board);
    await this.marker.run(running);
    await this.trimmer.run(running);
    await this.lifetimes.run(running);
    const changes = (await this.changes(board)).slice(before.length).flatMap((event) => event.changes);
    return changes.filter(({ entry }) => entry === null).length;
  }

  async best(definition: Partial<BoardDefinition>): Promise<Board> {
    return this.put({ operator: 'best', ...definition });
  }

  /** `player score`, in the board's order. */
  async standing(board: Board, windowId = 'alltime'): Promise<string[]> {
    const window = await this.windows.find(board.uid, windowId);
    const rows = await this.database.query<{ player: string; score: number }>(
      `SELECT player_id AS player, score FROM entries WHERE window_uid = $1 AND NOT removed
       ORDER BY score ${board.definition.order}, achieved_at_ms, player_id`,
      [window?.uid ?? 0],
    );
    return rows.map(({ player, score }) => `${player} ${score}`);
  }

  async changes(board: Board): Promise<EntryChanged[]> {
    return (await this.events('entry-changed', board)) as EntryChanged[];
  }

  /** The windows that a run counted in, or the problem that it was refused with. */
  async attempt(
    board: Board,
    playerId: string,
    score: number,
    more: Partial<SubmitWrite> = {},
  ): Promise<string[] | LadderError> {
    return this.submit(board, playerId, score, more).then(
      ({ answer }: SubmitReceipt) => answer.windows,
      (error: unknown) => {
        expect(error).toBeInstanceOf(LadderError);
        return error as LadderError;
      },
    );
  }
}
