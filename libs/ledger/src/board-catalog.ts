import type { Board, StoredWindow, WindowBounds } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import { MoreThan } from 'typeorm';
import { BoardEntity } from './entities/board.entity.js';
import { WindowEntity } from './entities/window.entity.js';
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
    const board: Board = { uid: row.boardUid, id: row.boardId, revision: row.revision, definition: row.definition };
    this.boardsByUid.set(board.uid, board);
    this.boardsById.set(board.id, board);
    this.tell(board, false);
  }

  private tell(board: Board, gone: boolean): void {
    for (const listener of this.listeners) listener(board, gone);
  }
}

/** The most windows that a process remembers. */
const WINDOWS_CACHED_MAX = 20_000;

/** Windows and their stored bounds, which never change once they are there. */
export class WindowCatalog {
  private readonly byName = new Map<string, StoredWindow>();
  private readonly windowsByUid = new Map<number, StoredWindow & { boardUid: number }>();

  constructor(private readonly database: PostgresDatabase) {}

  /** The stored window, made when it is not there yet. */
  async ensure(boardUid: number, bounds: WindowBounds): Promise<StoredWindow> {
    const known = this.cached(boardUid, bounds.id) ?? (await this.find(boardUid, bounds.id));
    if (known) return known;
    // One row and no other lock: lanes that meet here cannot deadlock.
    await this.database.query(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at)
       VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), to_timestamp($5::float8 / 1000))
       ON CONFLICT (board_uid, window_id) DO NOTHING`,
      [boardUid, bounds.id, bounds.kind, bounds.startsAtMs, bounds.endsAtMs],
    );
    const made = await this.find(boardUid, bounds.id);
    if (!made) throw new Error(`Window ${bounds.id} of board ${boardUid} vanished while it was being made.`);
    return made;
  }

  cached(boardUid: number, windowId: string): StoredWindow | undefined {
    return this.byName.get(`${boardUid}/${windowId}`);
  }

  async find(boardUid: number, windowId: string): Promise<StoredWindow | undefined> {
    const known = this.cached(boardUid, windowId);
    if (known) return known;
    const row = await this.database.dataSource.getRepository(WindowEntity).findOneBy({ boardUid, windowId });
    return row ? this.remember(row) : undefined;
  }

  async byUid(windowUid: number): Promise<(StoredWindow & { boardUid: number }) | undefined> {
    const known = this.windowsByUid.get(windowUid);
    if (known) return known;
    const row = await this.database.dataSource.getRepository(WindowEntity).findOneBy({ windowUid });
    return row ? this.remember(row) : undefined;
  }

  /** Every stored window of a board. */
  async ofBoard(boardUid: number): Promise<StoredWindow[]> {
    const rows = await this.database.dataSource
      .getRepository(WindowEntity)
      .find({ where: { boardUid }, order: { windowUid: 'ASC' } });
    return rows.map((row) => this.remember(row));
  }

  private remember(row: WindowEntity): StoredWindow & { boardUid: number } {
    if (this.byName.size >= WINDOWS_CACHED_MAX) {
      this.byName.clear();
      this.windowsByUid.clear();
    }
    const window = {
      uid: row.windowUid,
      boardUid: row.boardUid,
      id: row.windowId,
      kind: row.kind,
      startsAtMs: row.startsAt?.getTime() ?? null,
      endsAtMs: row.endsAt?.getTime() ?? null,
    };
    this.byName.set(`${window.boardUid}/${window.id}`, window);
    this.windowsByUid.set(window.uid, window);
    return window;
  }
}
