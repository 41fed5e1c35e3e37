import { LadderError, withBoardDefaults, type Board, type PatchFamily } from '@laddercast/domain';
import { monotonicMs, CoalescedCall, sleep } from '@laddercast/platform';
import { Injectable, Optional } from '@nestjs/common';
import type { BoardEntity } from '../entities/board.entity.js';
import { LedgerClock } from '../database/ledger-clock.js';
import { HISTORY } from '../lanes/installation.js';
import { Lanes, readLaneMaps } from '../lanes/lanes.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { patchFamilies } from '../patches/patch-families.js';

/** How often a process looks for changed boards: every process sees a change within a second. */
const REFRESH_EVERY_MS = 250;
/** A look for a board that is not known is made at once, and of a flood of made-up ids ten looks a second. */
const UNKNOWN_GATHERED = { eachMs: 10, mostMs: 100 };

/** Answers one row even if no board has changed: with the history and the number of lanes' map alone. */
const CHANGES_SQL = prepared(`
  SELECT history, map, "nowMs", board_uid AS "boardUid", board_id AS "boardId", definition, revision,
    definition_revision AS "definitionRevision", windows_since AS "windowsSinceMs", layouts, feed,
    template ->> 'id' AS template, runs_from AS "runsFrom", family_uid AS "familyUid"
  FROM (SELECT (SELECT value FROM installation WHERE name = '${HISTORY}') AS history,
      (SELECT max(number) FROM lane_maps) AS map,
      floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS "nowMs") AS ledger
    LEFT JOIN boards ON revision > $1
  ORDER BY revision`);

/** Something that changes with every way of restoring a database, and when a stand-by takes over. */
const SERVER_SQL = `
  SELECT concat_ws('/', pg_postmaster_start_time(), 'boards'::regclass::oid, oid) AS server
  FROM pg_database WHERE datname = current_database()`;

const NO_FAMILIES: ReadonlyMap<number, PatchFamily> = new Map();

/** `template`: the id of the board's template, null where it is of none. */
type BoardRow = BoardEntity & { template: string | null };
type ChangedRow = { history: string | null; map: number | null; nowMs: number } & (BoardRow | { boardUid: null });

export type BoardListener = (board: Board, gone: boolean) => void;

/** A board that is about to be known. */
export type ChangedBoard = Pick<Board, 'uid' | 'revision'>;

/**
 * All live boards, in memory, kept up to date from PostgreSQL. While PostgreSQL is away it answers what it knew.
 * Revisions are drawn under all lanes' locks, so they become visible in order and none is missed.
 *
 * A ledger that was restored to an earlier state has boards and revisions that this memory would miss, as would other
 * memories. Once that is noticed (RestoredLedgerCheck), another history begins. In a process that ran before it, each
 * look fails from then on, so that nothing is marked as done by knowledge that is gone; and the listener ends the
 * process.
 */
@Injectable()
export class BoardCatalog {
  /** Every look also brings the ledger's time. */
  readonly clock = new LedgerClock();
  private readonly boardsById = new Map<string, Board>();
  private readonly boardsByUid = new Map<number, Board>();
  private readonly listeners = new Set<BoardListener>();
  private readonly preparations = new Set<(boards: readonly ChangedBoard[]) => Promise<void>>();
  private readonly historyListeners = new Set<() => void>();
  private revisionSeen = 0;
  /** As of the first look; a history is null where the ledger never went back. */
  private known: { server: string; history: string | null } | null = null;
  private readonly look = new CoalescedCall(() => this.readChanges());
  private readonly lookForUnknown = new CoalescedCall(() => this.refresh(), UNKNOWN_GATHERED);
  private readonly stopped = new AbortController();

  /** @param lanes are kept up to date as well, where they are given */
  constructor(
    private readonly database: PostgresDatabase,
    @Optional() private readonly lanes?: Lanes,
  ) {}

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

  /**
   * The live board with this id, also one that another process made a moment ago.
   * @throws LEDGER_UNAVAILABLE, or a database error, where it is not known and cannot be looked up
   */
  async find(id: string): Promise<Board | undefined> {
    if (!this.boardsById.has(id)) await this.lookForUnknown.ask();
    return this.boardsById.get(id);
  }

  /** The live board with this uid; undefined also when it was deleted or reset. */
  async byUid(uid: number): Promise<Board | undefined> {
    // The catalogue may be behind an event, but a board is never visible before its event is committed.
    if (!this.boardsByUid.has(uid)) await this.refresh();
    return this.boardsByUid.get(uid);
  }

  /** The boards that a pool feeds, ordered by id. */
  fedBy(poolUid: number): Board[] {
    return this.those(({ feed }) => feed?.poolUid === poolUid);
  }

  /** The boards of a template, ordered by id. */
  ofTemplate(id: string): Board[] {
    return this.those(({ template }) => template === id);
  }

  /** Boards ordered by id. */
  all(): Board[] {
    return this.those(() => true);
  }

  /** The boards that fit, ordered by id; of 2,000 the others cost 20 µs, and would 1.6 ms if they were sorted, too. */
  those(fits: (board: Board) => boolean): Board[] {
    return [...this.boardsById.values()].filter(fits).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Calls the listener for every board that appears, changes or goes; call the result to end that. */
  onChange(listener: BoardListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Has work done before changes of boards, or their end, become known. Until it is done, and if it fails, boards stay
   * as they were, so reads go on while the database is away.
   */
  beforeChange(prepare: (boards: readonly ChangedBoard[]) => Promise<void>): void {
    this.preparations.add(prepare);
  }

  /** Calls the listener when the ledger was restored to an earlier state while this process ran. */
  onOtherHistory(listener: () => void): void {
    this.historyListeners.add(listener);
  }

  /**
   * Reads what changed since the last look; calls made meanwhile wait for a look that began after them.
   * @throws LEDGER_UNAVAILABLE for ever once the ledger has gone back, or a database error
   */
  refresh(): Promise<void> {
    return this.look.ask();
  }

  private async follow(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await sleep(REFRESH_EVERY_MS, this.stopped.signal);
      // While the database is away the catalogue stays as it is; readiness reports the outage.
      if (!this.stopped.signal.aborted) await this.refresh().catch(() => undefined);
    }
  }

  private async readChanges(): Promise<void> {
    const server = this.known?.server ?? (await this.server());
    const askedAtMs = monotonicMs();
    const rows = await this.database.query<ChangedRow>(CHANGES_SQL, [this.revisionSeen]);
    const { history, map, nowMs } = rows[0]!;
    this.clock.learn(nowMs, askedAtMs, monotonicMs());
    if (this.known && history !== this.known.history) await this.assertBeganAfter(server);
    this.known = { server, history };
    if (this.lanes && (map ?? 0) !== this.lanes.number) await this.followLanes(this.lanes);
    const changed = rows.filter((row) => row.boardUid !== null);
    if (changed.length === 0) return;
    const boards = changed.map(({ boardUid: uid, revision }) => ({ uid, revision }));
    // Read after the boards, and so never older than what their layouts name.
    const families = changed.flatMap(({ familyUid }) => familyUid ?? []);
    const patches = families.length > 0 ? await patchFamilies(this.database, families) : NO_FAMILIES;
    for (const prepare of this.preparations) await prepare(boards);
    for (const row of changed) {
      this.revisionSeen = row.revision;
      this.accept(row, row.familyUid === null ? undefined : patches.get(row.familyUid));
    }
  }

  /** A server that lacks a raise has taken over: this process would write by lanes that are not there. */
  private async followLanes(lanes: Lanes): Promise<void> {
    const { number } = lanes;
    const maps = await readLaneMaps(this.database);
    if (maps.length > 0 && maps.at(-1)!.number < number) this.endHistory();
    lanes.adopt(maps);
  }

  /** If the tables are still those of the first look, the ledger was restored before it: what is known here holds. */
  private async assertBeganAfter(server: string): Promise<void> {
    if ((await this.server()) === server) return;
    this.endHistory();
  }

  private endHistory(): never {
    for (const listener of this.historyListeners) listener();
    throw new LadderError(
      'LEDGER_UNAVAILABLE',
      'The ledger went back to an earlier state: this process knows another.',
    );
  }

  private async server(): Promise<string> {
    const [row] = await this.database.query<{ server: string }>(SERVER_SQL);
    return row!.server;
  }

  private accept(row: BoardRow, patches: PatchFamily | undefined): void {
    const known = this.boardsByUid.get(row.boardUid);
    if (row.boardId === null) {
      if (!known) return;
      this.boardsByUid.delete(row.boardUid);
      if (this.boardsById.get(known.id) === known) this.boardsById.delete(known.id);
      this.tell(known, true);
      return;
    }
    const { boardUid: uid, boardId: id, revision, definitionRevision, windowsSinceMs, layouts, feed, runsFrom } = row;
    const { template } = row;
    // What was stored by an earlier release lacks the options that came later.
    const definition = withBoardDefaults(row.definition);
    const made = { uid, id, revision, definitionRevision, windowsSinceMs, definition, layouts };
    const fedBy = feed !== null && { feed };
    const board: Board = { ...made, ...fedBy, ...(runsFrom !== null && { runsFrom }), ...(patches && { patches }) };
    if (template !== null) board.template = template;
    this.boardsByUid.set(board.uid, board);
    this.boardsById.set(board.id, board);
    this.tell(board, false);
  }

  private tell(board: Board, gone: boolean): void {
    for (const listener of this.listeners) listener(board, gone);
  }
}
