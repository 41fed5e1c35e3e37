import { withBoardDefaults, type Board } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import { MoreThan } from 'typeorm';
import { BoardEntity } from './entities/board.entity.js';
import type { PostgresDatabase } from './postgres-database.js';

/** How often a process looks for changed boards: every process sees a change within a second. */
const REFRESH_EVERY_MS = 250;

export type BoardListener = (board: Board, gone: boolean) => void;

/**
 * All live boards, in memory, kept up to date from PostgreSQL. While PostgreSQL is away it answers what it knew.
 * Revisions are drawn under all lanes' locks, so they become visible in order and none is missed.
 */
export class BoardCatalog {
  private readonly boardsById = new Map<string, Board>();
  private readonly boardsByUid = new Map<number, Board>();
  private readonly listeners = new Set<BoardListener>();
  private revisionSeen = 0;
  private refreshing: Promise<void> | null = null;
  private readonly stopped = new AbortController();

  constructor(private readonly database: PostgresDatabase) {}

  /** Loads every board and follows changes until {@link stop}. */
  async start(): Promise<void> {
    await this.refresh();
    void this.follow();
  }

  stop(): void {
    this.stopped.abort();
  }

  byId(id: string): Board | undefined {
    return this.boardsById.get(id);
  }

  /** The live board with this uid; undefined also when it was deleted or reset. */
  async byUid(uid: number): Promise<Board | undefined> {
    // An event can be ahead of the catalogue, never a board ahead of its event's commit.
    if (!this.boardsByUid.has(uid)) await this.refresh();
    return this.boardsByUid.get(uid);
  }

  /** Boards ordered by id. */
  all(): Board[] {
    return [...this.boardsById.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Calls the listener for every board that appears, changes or goes; returns how to end that. */
  onChange(listener: BoardListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Reads what changed since the last look; calls made meanwhile wait for a look that began after them. */
  async refresh(): Promise<void> {
    const running = this.refreshing;
    if (running) await running.catch(() => undefined);
    this.refreshing ??= this.readChanges().finally(() => (this.refreshing = null));
    await this.refreshing;
  }

  private async follow(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await sleep(REFRESH_EVERY_MS, this.stopped.signal);
      // While the database is away the catalogue stays as it is; readiness reports the outage.
      if (!this.stopped.signal.aborted) await this.refresh().catch(() => undefined);
    }
  }

  private async readChanges(): Promise<void> {
    const rows = await this.database.dataSource
      .getRepository(BoardEntity)
      .find({ where: { revision: MoreThan(this.revisionSeen) }, order: { revision: 'ASC' } });
    for (const row of rows) {
      this.revisionSeen = row.revision;
      this.accept(row);
    }
  }

  private accept(row: BoardEntity): void {
    const known = this.boardsByUid.get(row.boardUid);
    if (row.boardId === null) {
      if (!known) return;
      this.boardsByUid.delete(row.boardUid);
      if (this.boardsById.get(known.id) === known) this.boardsById.delete(known.id);
      this.tell(known, true);
      return;
    }
    const { boardUid: uid, boardId: id, revision, definitionRevision, windowsSinceMs, layouts } = row;
    // What was stored by an earlier release lacks the options that came later.
    const definition = withBoardDefaults(row.definition);
    const board: Board = { uid, id, revision, definitionRevision, windowsSinceMs, definition, layouts };
    this.boardsByUid.set(board.uid, board);
    this.boardsById.set(board.id, board);
    this.tell(board, false);
  }

  private tell(board: Board, gone: boolean): void {
    for (const listener of this.listeners) listener(board, gone);
  }
}
