import {
  dueAtMs,
  isWindowOpen,
  kindOf,
  nameOfSpec,
  windowAt,
  type Board,
  type StoredWindow,
  type WindowBounds,
  type WindowSpec,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { In, Not } from 'typeorm';
import { LRUCache } from 'lru-cache';
import { WindowEntity } from '../entities/window.entity.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { StaleBoardError } from '../entries/ledger-writes.js';
import { BoardCatalog, type ChangedBoard } from './board-catalog.js';
import { growingCache } from '@laddercast/platform';
import { besides, holds, isKnownElsewhere, ofEarlierDefinition, stored } from './window-bounds.js';

/** The most boards whose windows a process remembers, and the most windows by their number. */
const BOARDS_CACHED_MAX = 5000;
const WINDOWS_CACHED_MAX = 20_000;
/** A window is remembered as over when it takes no runs for so long: by then it takes none by the clock of any process. */
const OVER_AFTER_MS = 60_000;

export type WindowOfBoard = StoredWindow & { boardUid: number };

/**
 * Windows and their stored bounds, which win over the calendar and over a new definition. What a process remembers of a
 * board's windows holds for the revision under which it was read: every change of a window's bounds or state gives the
 * board a new revision.
 */
@Injectable()
export class WindowCatalog {
  /** Of each board the windows that are not settled, and all seasons, as they were at a revision. */
  private readonly unsettled = new LRUCache<number, { revision: number; windows: WindowOfBoard[] }>({
    max: BOARDS_CACHED_MAX,
  });
  private readonly byNumber = growingCache<number, WindowOfBoard>(WINDOWS_CACHED_MAX);
  /** Settled windows, which change no more, by board and id. */
  private readonly settled = growingCache<string, WindowOfBoard>(WINDOWS_CACHED_MAX);
  /**
   * Windows that recur and take no runs any more, also such as were never made, by board, its revision, and the period
   * of the calendar: late runs look for them again and again.
   */
  private readonly over = growingCache<string, StoredWindow>(WINDOWS_CACHED_MAX);

  /** Grows when something is forgotten, so that an older reading is not remembered afterwards. */
  private generation = 0;

  constructor(
    private readonly database: PostgresDatabase,
    boards: BoardCatalog,
  ) {
    boards.beforeChange((changed) => this.follow(changed));
  }

  /**
   * The windows of a board that hold an instant, in the order of its definition, then those still running of an earlier
   * definition. Windows are made as they are needed; one that would have closed long ago, and was never made, has the
   * number 0. Rolling windows are always among them: how far back they reach depends on now.
   * @throws StaleBoardError when one would have to be made for a definition that was replaced
   */
  async at(board: Board, atMs: number, nowMs: number): Promise<StoredWindow[]> {
    const known = this.cachedAt(board, atMs, nowMs);
    if (known) return known;
    const live = await this.unsettledOf(board);
    const windows: StoredWindow[] = [];
    for (const spec of board.definition.windows) {
      const window = stored(live, spec, atMs) ?? (await this.make(board, spec, atMs, nowMs));
      if (window && holds(window, atMs)) windows.push(window);
    }
    return [...windows, ...ofEarlierDefinition(live, board, windows, atMs)];
  }

  /** As {@link at}, from memory; undefined when that does not have them all. */
  cachedAt(board: Board, atMs: number, nowMs: number): StoredWindow[] | undefined {
    const live = this.unsettled.get(board.uid);
    if (live?.revision !== board.revision) return undefined;
    const windows: StoredWindow[] = [];
    for (const spec of board.definition.windows) {
      const window = stored(live.windows, spec, atMs);
      const calculated = window ? null : this.calculated(board, spec, atMs);
      if (window) windows.push(window);
      if (calculated === null || isKnownElsewhere(live.windows, spec)) continue;
      const over = this.overAt(board, calculated, atMs, nowMs);
      if (over === undefined) return undefined;
      windows.push(over);
    }
    return [...windows, ...ofEarlierDefinition(live.windows, board, windows, atMs)];
  }

  /**
   * Reads, by one query, the windows that hold an instant of those boards for which this process does not remember them
   * all.
   */
  async prefetch(boards: readonly Board[], atMs: number): Promise<void> {
    const unknown = boards.filter((board) => this.cachedAt(board, atMs, atMs) === undefined);
    if (unknown.length > 0) await this.loadUnsettled(unknown);
  }

  /** The windows that hold an instant, as far as they were made; undefined if nothing is remembered of the board. */
  madeAt(board: Board, atMs: number): StoredWindow[] | undefined {
    const live = this.unsettled.get(board.uid);
    if (live?.revision !== board.revision) return undefined;
    const windows = board.definition.windows.flatMap((spec) => stored(live.windows, spec, atMs) ?? []);
    return [...windows, ...ofEarlierDefinition(live.windows, board, windows, atMs)];
  }

  /**
   * The windows of a board that were made and are not closed; the end of some may be over. They are read anew: another
   * process may have made one since.
   */
  async open(board: Board): Promise<StoredWindow[]> {
    return (await this.loadUnsettled([board])).get(board.uid)!.filter(({ state }) => state === 'open');
  }

  /** Windows that recur and are over, their grace not, and that nobody made, with the number 0. */
  async unmadeInGrace(board: Board, nowMs: number): Promise<StoredWindow[]> {
    const { graceSeconds } = board.definition;
    const live = await this.unsettledOf(board);
    const unmade: StoredWindow[] = [];
    let madeAtMs: number | null = null;
    for (const spec of board.definition.windows) {
      let next = this.calculated(board, spec, nowMs);
      while (next !== null && next.startsAtMs !== null && kindOf(spec) !== 'season') {
        const atMs = next.startsAtMs - 1;
        next = this.calculated(board, spec, atMs);
        if (next === null || dueAtMs(next, graceSeconds) <= nowMs) break;
        if (stored(live, spec, atMs)) continue;
        madeAtMs ??= await this.madeAtMs(board);
        if (next.endsAtMs === null || next.endsAtMs <= madeAtMs) break;
        const { bounds } = await this.besidesStored(board, spec, next, atMs);
        const isOver = bounds !== null && bounds.endsAtMs !== null && bounds.endsAtMs <= nowMs;
        if (isOver) unmade.push({ ...bounds, uid: 0, state: 'settled' });
      }
    }
    return unmade;
  }

  /**
   * Makes a window that is over, since something that it holds came in time.
   * @returns undefined where the board was made after that window's end, and where another window has its id
   * @throws StaleBoardError
   */
  async makeEnded(board: Board, bounds: WindowBounds): Promise<StoredWindow | undefined> {
    const { startsAtMs, endsAtMs } = bounds;
    const isBefore = endsAtMs !== null && endsAtMs <= (await this.madeAtMs(board));
    const made = isBefore ? undefined : await this.insert(board, bounds);
    return made?.state === 'open' && made.startsAtMs === startsAtMs && made.endsAtMs === endsAtMs ? made : undefined;
  }

  private async madeAtMs(board: Board): Promise<number> {
    const [row] = await this.database.query<{ madeAtMs: number }>(
      'SELECT (extract(epoch FROM created_at) * 1000)::float8 AS "madeAtMs" FROM boards WHERE board_uid = $1',
      [board.uid],
    );
    return row?.madeAtMs ?? Infinity;
  }

  /** The window of a spec that holds an instant, made when it is not there yet; null when there is none. */
  async ofSpec(board: Board, spec: WindowSpec, atMs: number, nowMs: number): Promise<StoredWindow | null> {
    const window = stored(await this.unsettledOf(board), spec, atMs) ?? (await this.make(board, spec, atMs, nowMs));
    return window && holds(window, atMs) ? window : null;
  }

  /** The last window of a kind that recurs and that the definition no longer has: it runs to its end. */
  async lastOfKind(board: Board, kind: string, atMs: number): Promise<StoredWindow | undefined> {
    if (kind === 'season') return undefined;
    const left = ofEarlierDefinition(await this.unsettledOf(board), board, [], atMs);
    return left.find((window) => window.kind === kind);
  }

  /** A stored window by its full id, as it is now. */
  async find(boardUid: number, windowId: string): Promise<WindowOfBoard | undefined> {
    const row = await this.repository().findOneBy({ boardUid, windowId });
    return row ? this.remember(row) : undefined;
  }

  /** A stored window by its full id, from memory where the board's revision allows. */
  async ofId(board: Board, windowId: string): Promise<WindowOfBoard | undefined> {
    const live = await this.unsettledOf(board);
    const known = live.find((window) => window.id === windowId) ?? this.settled.get(`${board.uid}/${windowId}`);
    return known ?? this.find(board.uid, windowId);
  }

  async byUid(windowUid: number): Promise<WindowOfBoard | undefined> {
    const known = this.byNumber.get(windowUid);
    if (known) return known;
    const { generation } = this;
    const row = await this.repository().findOneBy({ windowUid });
    return row ? this.remember(row, generation) : undefined;
  }

  /** Windows by their numbers, those that are not remembered by one query; of those that are gone there is none. */
  async byUids(windowUids: ReadonlySet<number>): Promise<Map<number, WindowOfBoard>> {
    const found = new Map<number, WindowOfBoard>();
    const unknown: number[] = [];
    for (const uid of windowUids) {
      const known = this.byNumber.get(uid);
      if (known) found.set(uid, known);
      else unknown.push(uid);
    }
    for (const window of await this.refresh(unknown)) found.set(window.uid, window);
    return found;
  }

  /** Every stored window of a board. */
  async ofBoard(boardUid: number): Promise<WindowOfBoard[]> {
    const rows = await this.repository().find({ where: { boardUid }, order: { windowUid: 'ASC' } });
    return rows.map((row) => this.remember(row));
  }

  /**
   * Reads the remembered windows of changed boards anew, and forgets those that it does not read. Until that is done,
   * and if it fails, they stay as they were.
   */
  private async follow(boards: readonly ChangedBoard[]): Promise<void> {
    const remembered = boards.filter(({ uid }) => this.unsettled.has(uid));
    const rows = remembered.length === 0 ? [] : await this.readUnsettled(remembered);
    this.generation += 1;
    const changed = new Set(boards.map(({ uid }) => uid));
    for (const uid of changed) this.unsettled.delete(uid);
    const ofChanged = [...this.byNumber.values()].filter(({ boardUid }) => changed.has(boardUid));
    for (const { uid } of ofChanged) this.byNumber.delete(uid);
    this.rememberUnsettled(remembered, rows);
  }

  /** Looks again at windows that were not settled when they were read. */
  async refresh(windowUids: readonly number[]): Promise<WindowOfBoard[]> {
    if (windowUids.length === 0) return [];
    const { generation } = this;
    const rows = await this.repository().findBy({ windowUid: In([...windowUids]) });
    return rows.map((row) => this.remember(row, generation));
  }

  private async unsettledOf(board: Board): Promise<WindowOfBoard[]> {
    const known = this.unsettled.get(board.uid);
    if (known?.revision === board.revision) return known.windows;
    return (await this.loadUnsettled([board])).get(board.uid)!;
  }

  private async loadUnsettled(boards: readonly Board[]): Promise<Map<number, WindowOfBoard[]>> {
    return this.rememberUnsettled(boards, await this.readUnsettled(boards));
  }

  private readUnsettled(boards: readonly ChangedBoard[]): Promise<WindowEntity[]> {
    const boardUid = In(boards.map(({ uid }) => uid));
    return this.repository().find({
      // Settled seasons too: otherwise each run until the season's stated end would look up that it is over.
      where: [
        { boardUid, state: Not('settled') },
        { boardUid, kind: 'season' },
      ],
      order: { windowUid: 'ASC' },
    });
  }

  private rememberUnsettled(
    boards: readonly ChangedBoard[],
    rows: readonly WindowEntity[],
  ): Map<number, WindowOfBoard[]> {
    const byBoard = new Map<number, WindowOfBoard[]>(boards.map(({ uid }) => [uid, []]));
    for (const row of rows) byBoard.get(row.boardUid)!.push(this.remember(row));
    for (const { uid, revision } of boards) {
      // The board has changed since this was read.
      if ((this.unsettled.get(uid)?.revision ?? 0) > revision) continue;
      this.unsettled.set(uid, { revision, windows: byBoard.get(uid)! });
    }
    return byBoard;
  }

  /** The window of the instant by the spec alone; null also before the first window of a spec that was added later. */
  private calculated(board: Board, spec: WindowSpec, atMs: number): WindowBounds | null {
    const bounds = windowAt(spec, board.definition.timeZone, atMs);
    const since = board.windowsSinceMs[nameOfSpec(spec)];
    return bounds && since !== undefined && bounds.startsAtMs !== null && bounds.startsAtMs < since ? null : bounds;
  }

  private async make(board: Board, spec: WindowSpec, atMs: number, nowMs: number): Promise<StoredWindow | null> {
    const calculated = this.calculated(board, spec, atMs);
    if (calculated === null) return null;
    const over = this.overAt(board, calculated, atMs, nowMs);
    if (over) return over;
    const { holding, bounds } = await this.besidesStored(board, spec, calculated, atMs);
    if (holding?.state === 'settled') return this.rememberOver(board, calculated, holding, nowMs);
    if (holding) return this.remembered(board, holding);
    if (bounds === null) return null;
    if (!isWindowOpen({ ...bounds, state: 'open' }, board.definition.graceSeconds, nowMs)) {
      return this.rememberOver(board, calculated, { ...bounds, uid: 0, state: 'settled' }, nowMs);
    }
    return this.insert(board, bounds);
  }

  /** The stored window that holds the instant, or the bounds of one that may be made; neither where another has its time. */
  private async besidesStored(
    board: Board,
    spec: WindowSpec,
    calculated: WindowBounds,
    atMs: number,
  ): Promise<{ holding?: WindowOfBoard; bounds: WindowBounds | null }> {
    const overlapping = await this.overlapping(board.uid, calculated);
    const holding = overlapping.find((window) => holds(window, atMs));
    if (holding) return { holding, bounds: null };
    return { bounds: besides(overlapping, calculated, atMs, (endsAtMs) => this.calculated(board, spec, endsAtMs)) };
  }

  private async insert(board: Board, bounds: WindowBounds): Promise<StoredWindow> {
    // Only by the present definition: a window made by a process that is behind would stay. The board's row is locked
    // for this one statement, and nobody who holds the lanes waits for it.
    await this.database.query(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at, freeze_at)
       SELECT $1, $2, $3, to_timestamp($4::float8 / 1000), to_timestamp($5::float8 / 1000),
         to_timestamp($6::float8 / 1000)
       FROM (SELECT FROM boards WHERE board_uid = $1 AND revision = $7 AND board_id IS NOT NULL FOR SHARE) AS b
       ON CONFLICT (board_uid, window_id) DO NOTHING`,
      [board.uid, bounds.id, bounds.kind, bounds.startsAtMs, bounds.endsAtMs, bounds.freezeAtMs, board.revision],
    );
    const made = await this.find(board.uid, bounds.id);
    if (!made) throw new StaleBoardError(board.uid);
    return this.remembered(board, made);
  }

  /** Also by the time of who asks: whoever had it remembered may have had a clock that was set wrong for a moment. */
  private overAt(board: Board, calculated: WindowBounds, atMs: number, nowMs: number): StoredWindow | undefined {
    const over = this.over.get(overKey(board, calculated));
    return over && holds(over, atMs) && isLongOver(board, over, nowMs) ? over : undefined;
  }

  private rememberOver(board: Board, calculated: WindowBounds, window: StoredWindow, nowMs: number): StoredWindow {
    const isKept = window.kind !== 'season' && isLongOver(board, window, nowMs);
    if (isKept) this.over.set(overKey(board, calculated), window);
    return window;
  }

  private remembered(board: Board, window: WindowOfBoard): WindowOfBoard {
    const live = this.unsettled.get(board.uid);
    if (window.state === 'settled' || live?.revision !== board.revision) return window;
    if (!live.windows.some(({ uid }) => uid === window.uid)) live.windows.push(window);
    return window;
  }

  /** Stored windows of the same kind that share time with these bounds, or have their id. */
  private async overlapping(boardUid: number, bounds: WindowBounds): Promise<WindowOfBoard[]> {
    const rows = await this.repository()
      .createQueryBuilder('w')
      .where('w.boardUid = :boardUid', { boardUid })
      .andWhere(
        `(w.windowId = :id OR (:recurs AND w.kind = :kind
           AND w.startsAt < to_timestamp(:endsAtMs::float8 / 1000) AND w.endsAt > to_timestamp(:startsAtMs::float8 / 1000)))`,
        { ...bounds, recurs: bounds.endsAtMs !== null && bounds.kind !== 'season' },
      )
      .getMany();
    return rows.map((row) => this.remember(row));
  }

  /** @throws LEDGER_UNAVAILABLE at once while PostgreSQL is away */
  private repository() {
    this.database.reach.assertThere();
    return this.database.dataSource.getRepository(WindowEntity);
  }

  private remember(row: WindowEntity, generation = this.generation): WindowOfBoard {
    const window: WindowOfBoard = {
      uid: row.windowUid,
      boardUid: row.boardUid,
      id: row.windowId,
      kind: row.kind,
      startsAtMs: row.startsAt?.getTime() ?? null,
      endsAtMs: row.endsAt?.getTime() ?? null,
      freezeAtMs: row.freezeAt?.getTime() ?? null,
      state: row.state,
    };
    if (generation === this.generation) this.byNumber.set(window.uid, window);
    if (window.state === 'settled') this.settled.set(`${window.boardUid}/${window.id}`, window);
    return window;
  }
}

const isLongOver = ({ definition }: Board, window: WindowBounds, nowMs: number): boolean =>
  nowMs - dueAtMs(window, definition.graceSeconds) >= OVER_AFTER_MS;

const overKey = (board: Board, calculated: WindowBounds): string => `${board.uid}/${board.revision}/${calculated.id}`;
