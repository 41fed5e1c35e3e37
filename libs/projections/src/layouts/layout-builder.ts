import { randomUUID } from 'node:crypto';
import { isPatchScope, shardCountOf, versionsAfter, type Board, type Layout } from '@laddercast/domain';
import { isRetriable } from '@laddercast/event-log';
import { BoardCatalog, BoardLayouts, keptAfterEndMs, PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { monotonicMs, nowMs, retryWhile, sleep } from '@laddercast/platform';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ChangesByShard, type EntryInLists } from '../ranks/changes-by-shard.js';
import { CommittedPositions } from '../recovery/committed-positions.js';
import { entryOfRow, LedgerScan, workOnPages, type ScannedPage, type WindowKept } from '../recovery/ledger-scan.js';
import { RankProjection } from '../ranks/rank-projection.js';
import { ScanProgress } from '../recovery/scan-progress.js';
import { WindowLists } from '../ranks/window-lists.js';
import { chunksOf } from '../redis/chunks.js';
import { FillTurns } from './fill-turns.js';

/** What is told of a generation, a step at a time. */
export interface LayoutNews {
  board: string;
  generation: number;
  step: 'filling' | 'proving' | 'serving' | 'again' | 'given up';
  rowsScanned: number;
}

export interface LayoutBuilderOptions {
  onNews?: (news: LayoutNews) => void;
  /** Told of failures; the board is looked at again. */
  onFailure?: (error: unknown) => void;
  /** How often it is noted how far a generation is, ms. */
  noteEveryMs?: number;
  /** How often it is looked whether the log's consumers have passed a barrier, ms. */
  lookEveryMs?: number;
}

/** How fast generations are filled. */
export interface LayoutPace {
  /** Boards that are filled side by side; as many more as wait for the log's consumers do not count. */
  boardsAtOnce: number;
  /** Rows of re-taxes, all boards of this process together; 0: no limit. */
  rowsPerSecond: number;
  /** Boards whose lists somebody watches. */
  inUse: ReadonlySet<number>;
}

const PACE: LayoutPace = { boardsAtOnce: 2, rowsPerSecond: 0, inUse: new Set() };
/** Boards that are filled, or wait for the log's consumers to be proven: each is held twice. */
const UNDER_WAY_MAX = 50;
/** Rows of a page that are sorted by their shards before the calls under way get their next turn: a millisecond. */
const ROWS_SORTED_AT_ONCE = 250;
const LOOK_EVERY_MS = 100;
const NOTE_EVERY_MS = 1000;
const AFTER_FAILURE_MS = 1000;
const RETRY = { firstMs: 100, maxMs: 5000 };
/** Processes that stopped hearing of boards read the generation before for no longer than this, by clocks so far apart. */
const READ_LATER_MS = 600_000;

/**
 * Brings generations that were opened to where they serve: fills each with the entries of the ledger, proves that it
 * holds what the one that serves does, and has it served. Any process may begin anew where another ended.
 *
 * Why what serves then is whole: since the opening every entry that changes is written to it as well (ScoreSaga). What
 * was there before is in the ledger's tables, and the scan begins after the opening was committed. By the barrier that
 * follows the scan no list holds anything from beyond what the log's consumers have passed, so that no state is shown that
 * the board never had. That all of it reached the store is proven as for a lane: the mark of the barrier came through the
 * connection of the scan, after it, or through another to the same server. So a store that has the mark has the scan.
 */
@Injectable()
export class LayoutBuilder {
  private readonly log = new Logger('layouts');
  private readonly building = new Map<number, Promise<void>>();
  private readonly turns: FillTurns;
  /** Of those, which read the ledger. */
  private readonly filling = new Set<number>();
  private pace = PACE;

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly boards: BoardCatalog,
    private readonly layouts: BoardLayouts,
    private readonly projection: RankProjection,
    private readonly committed: CommittedPositions,
    private readonly windowLists: WindowLists,
    @Optional() private readonly options: LayoutBuilderOptions = {},
  ) {
    this.turns = new FillTurns(projection);
  }

  /** Whether more generations wait than could begin now. */
  hasChoice(): boolean {
    return this.waiting().length > Math.max(0, this.pace.boardsAtOnce - this.filling.size);
  }

  /**
   * Begins with generations that nobody works on here, as many as there is room for: those in use first, then those of the
   * largest boards. It does not wait for them.
   */
  look(signal: AbortSignal, pace: LayoutPace = PACE): void {
    this.pace = pace;
    const waiting = this.waiting().sort((a, b) => turnOf(b, pace) - turnOf(a, pace));
    for (const { uid } of waiting) {
      if (this.filling.size >= pace.boardsAtOnce || this.building.size >= UNDER_WAY_MAX) return;
      this.filling.add(uid);
      // The next board begins while the log's consumers come to the end of this one.
      const onFilled = (): void => {
        this.filling.delete(uid);
        if (!signal.aborted) this.look(signal, this.pace);
      };
      const work = this.build(uid, signal, onFilled)
        .catch(async (error: unknown) => {
          if (!signal.aborted) this.failed(error);
          await sleep(AFTER_FAILURE_MS, signal);
        })
        .finally(() => {
          this.building.delete(uid);
          this.filling.delete(uid);
        });
      this.building.set(uid, work);
    }
  }

  private waiting(): Board[] {
    return this.boards.all().filter(({ uid, layouts }) => layouts.opening !== null && !this.building.has(uid));
  }

  /** Resolves once nothing is under way; to be called after the signal of the looks aborted. */
  async settled(): Promise<void> {
    await Promise.all(this.building.values());
  }

  /**
   * Fills, proves and serves what is opened of a board, or leaves it where it was given up meanwhile.
   * @param onFilled each time that it is filled, before it is proven
   * @throws what cannot be tried again, or the signal's reason
   */
  async build(boardUid: number, signal: AbortSignal, onFilled?: () => void): Promise<void> {
    const { boards, projection } = this;
    await boards.refresh();
    const board = await boards.byUid(boardUid);
    if (!board?.layouts.opening) return;
    const filling = new Filling(board, board.layouts.opening, (news) => this.tell(news));
    for (let isServing = false; !isServing;) {
      signal.throwIfAborted();
      const session = projection.session();
      if (!(await this.fill(filling, session, signal))) return filling.tell('given up');
      onFilled?.();
      isServing = await this.prove(filling, session, signal);
      if (isServing) break;
      filling.tell('again');
      await sleep(AFTER_FAILURE_MS, signal);
    }
    filling.tell('serving');
  }

  private tell(news: LayoutNews): void {
    this.log.log({ msg: `board ${news.board}, generation ${news.generation}: ${news.step}`, ...news });
    this.options.onNews?.(news);
  }

  private failed(error: unknown): void {
    this.log.warn(`A board's lists wait: ${(error as Error).message}`);
    this.options.onFailure?.(error);
  }

  /** Writes what the ledger holds into the generation; false when it was given up. */
  private async fill(filling: Filling, session: number, signal: AbortSignal): Promise<boolean> {
    const { database, projection } = this;
    const again = <T>(work: () => Promise<T>): Promise<T> => retryWhile(work, isRetriable, { backoff: RETRY, signal });
    const scan = new LedgerScan({ query: (sql, parameters) => again(() => database.query(sql, parameters)) });
    const windows = new PresentWindows(this.windowLists);
    let board: Board | null = filling.board;
    // Also where there is no window, and so no page that would ask.
    if ((await again(() => this.wantedBoard(filling))) === null) return false;
    await again(() => this.begin(filling));
    await again(() => this.note(filling, 'filling', session));
    if (filling.isRetax) await again(() => this.layouts.noteRowsToScan(filling.board.uid, filling.layout.generation));
    for (const windowUid of await again(() => windows.uidsOf(filling.board))) {
      const after = filling.reach.after(windowUid);
      if (after === 'done') continue;
      const pages = whilst(() => board !== null && projection.session() === session, scan.ofWindow(windowUid, after));
      await workOnPages(pages, async (page) => {
        signal.throwIfAborted();
        if (filling.isRetax) await this.turns.untilDue(page.rows.length, this.pace.rowsPerSecond, signal);
        const turn = filling.reach.begin();
        await again(async () => {
          board = await this.wantedBoard(filling);
          if (board !== null) await this.applyPage(filling, page, await windows.kept(board, windowUid));
        });
        if (board === null) return;
        filling.rowsScanned += page.rows.length;
        filling.reach.end(turn, windowUid, page);
        const isDue = monotonicMs() - filling.notedAtMs >= (this.options.noteEveryMs ?? NOTE_EVERY_MS);
        // One note at a time, as each vouches for the one before.
        if (!isDue || filling.isNoting) return;
        filling.isNoting = true;
        await again(() => this.note(filling, 'filling', session)).finally(() => (filling.isNoting = false));
      });
      if (board === null) return false;
    }
    if (projection.session() === session) {
      filling.reach.finish();
      await again(() => this.note(filling, 'proving', session));
    }
    return true;
  }

  /** Goes on where an earlier scan is proven to have been, here or in a process that ended; else at the start. */
  private async begin(filling: Filling): Promise<void> {
    const { layouts, projection } = this;
    const known = await layouts.progressOf(filling.board.uid);
    const reached = known?.generation === filling.layout.generation ? known.reached : null;
    const found = (await projection.findProof(filling.name))?.split(' ') ?? [];
    const isThere = reached !== null && found.includes(reached.proof);
    filling.reach = new ScanProgress(isThere ? reached : null);
    filling.proof = isThere ? reached.proof : null;
    filling.rowsScanned = isThere ? known!.rowsScanned : 0;
    filling.scans = isThere ? known!.scans : filling.scans + 1;
  }

  /** The board as it is now; null when the generation is not wanted any more. */
  private async wantedBoard({ board: { uid }, layout }: Filling): Promise<Board | null> {
    await this.boards.refresh();
    const board = await this.boards.byUid(uid);
    return board?.layouts.opening?.generation === layout.generation ? board : null;
  }

  private async note(filling: Filling, step: 'filling' | 'proving', session: number): Promise<void> {
    filling.notedAtMs = monotonicMs();
    filling.tell(step);
    const { layouts, projection } = this;
    // What is noted is reached before the proof is left, or the proof would stand for what comes after it.
    const { place } = filling.reach;
    const proof = randomUUID();
    // The proof noted before is left as well: a process that ends before the next line has noted no other.
    const proofs = filling.proof === null ? proof : `${filling.proof} ${proof}`;
    const isProven = place !== null && (await projection.leaveProof(filling.name, proofs, session));
    const reached = isProven ? { ...place, proof } : null;
    await layouts.noteProgress(filling.board.uid, { ...filling.progress(), step, reached });
    filling.proof = reached?.proof ?? null;
  }

  private async applyPage({ board, layout }: Filling, { isGuild, rows }: ScannedPage, kept: WindowKept): Promise<void> {
    const { keepUntilMs } = kept;
    if (keepUntilMs !== null && keepUntilMs <= this.boards.clock.earliestMs()) return;
    const changes = new ChangesByShard();
    const filled = { ...board, layouts: { serving: layout, opening: null, retiring: null } };
    for (const part of chunksOf(rows, ROWS_SORTED_AT_ONCE)) {
      for (const row of part) changes.add(filled, withoutListsThatAre(layout, entryOfRow(row, isGuild, kept)));
      await nextTurn();
    }
    await changes.apply((ofShard) => this.turns.write(ofShard, keepUntilMs));
  }

  /** Waits until every lane has passed the end of the scan, and has the generation served; false: it is filled again. */
  private async prove(filling: Filling, session: number, signal: AbortSignal): Promise<boolean> {
    const { boards, layouts, projection } = this;
    const { uid } = filling.board;
    const isSameStore = (): boolean => projection.session() === session;
    if (!isSameStore()) return false;
    const proven = await retryWhile(() => layouts.filled(uid, filling.layout.generation), isRetriable, {
      backoff: RETRY,
      signal,
    });
    // Given up: the next turn finds it so.
    if (proven === null) return false;
    while (isSameStore()) {
      signal.throwIfAborted();
      const board = await boards.byUid(uid);
      if (board?.layouts.opening?.generation !== proven.generation) return false;
      // Looked at in this order: when all marks are there, the connection that they were read by must still be that of
      // the scan.
      const isDone = board.layouts.retiring === null && (await this.haveAllPassed(proven).catch(notYet));
      if (isDone && isSameStore()) {
        const serving = layouts.serve(uid, proven, (before) => versionsOf(before, proven, board));
        const isServed = await serving.catch((error: unknown) => notYet(error) || null);
        if (isServed !== null) return isServed;
      }
      await sleep(this.options.lookEveryMs ?? LOOK_EVERY_MS, signal);
    }
    return false;
  }

  /**
   * Whether every lane was marked at the barrier or beyond, and is recorded to be: so that a store which later lacks the
   * mark, and what was filled before it, is seen to.
   */
  private async haveAllPassed({ filledAt = [] }: Layout): Promise<boolean> {
    const { committed, projection } = this;
    const recorded = await committed.ofAll([...filledAt.keys()]);
    for (const [lane, position] of filledAt.entries()) {
      if (recorded[lane]! < position) return false;
      if (((await projection.readMark(lane)) ?? -1) < position) return false;
    }
    return true;
  }
}

/** One generation that is being filled. */
class Filling {
  scans = 0;
  rowsScanned = 0;
  notedAtMs = 0;
  isNoting = false;
  /** Of what was noted last. */
  proof: string | null = null;
  reach = new ScanProgress(null);

  constructor(
    readonly board: Board,
    readonly layout: Layout,
    private readonly told: (news: LayoutNews) => void,
  ) {}

  /** Whether it is filled because the order of patches changed. */
  get isRetax(): boolean {
    return this.layout.taxOrder !== this.board.layouts.serving.taxOrder;
  }

  /** What its proofs are called. */
  get name(): string {
    return `${this.board.uid}.${this.layout.generation}`;
  }

  tell(step: LayoutNews['step']): void {
    const { board, layout, rowsScanned } = this;
    this.told({ board: board.id, generation: layout.generation, step, rowsScanned });
  }

  progress(): { generation: number; rowsScanned: number; scans: number } {
    return { generation: this.layout.generation, rowsScanned: this.rowsScanned, scans: this.scans };
  }
}

/** Higher: earlier. Boards are as large as the indexes of their lists. */
const turnOf = ({ uid, layouts: { serving } }: Board, { inUse }: LayoutPace): number =>
  serving.indexBuckets * shardCountOf(serving.sharding) + (inUse.has(uid) ? Number.MAX_SAFE_INTEGER / 2 : 0);

/** The windows of a board that are kept; read anew when they may have changed, so that no list goes before those that serve. */
class PresentWindows {
  private revision = 0;
  private windows = new Map<number, WindowKept>();

  constructor(private readonly windowLists: WindowLists) {}

  async uidsOf(board: Board): Promise<number[]> {
    await this.bringUpTo(board);
    return [...this.windows.keys()];
  }

  /** When the window ends, and until when its keys are kept: until long ago when they are not. */
  async kept(board: Board, windowUid: number): Promise<WindowKept> {
    await this.bringUpTo(board);
    return this.windows.get(windowUid) ?? { startsAtMs: null, endsAtMs: 0, keepUntilMs: 0 };
  }

  private async bringUpTo(board: Board): Promise<void> {
    if (this.revision === board.revision) return;
    const windows = await this.windowLists.windowsOf(board);
    this.windows = new Map(windows.map((window) => [window.uid, window]));
    this.revision = board.revision;
  }
}

/** An entry without the lists that the generation goes on with: those are filled. */
function withoutListsThatAre({ patchLists }: Layout, entry: EntryInLists): EntryInLists {
  if (patchLists === undefined) return entry;
  const [scopes, leftScopes] = [entry.scopes, entry.leftScopes].map((all) =>
    all.filter((scope) => !isPatchScope(scope)),
  );
  return { ...entry, scopes: scopes!, leftScopes: leftScopes! };
}

async function* whilst<Item>(holds: () => boolean, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  for await (const item of items) {
    if (!holds()) return;
    yield item;
  }
}

const versionsOf = ({ sharding, versions }: Layout, next: Layout, { definition }: Board) => {
  const shards = shardCountOf(sharding);
  // Revised standings say as much as the projection can until it forgets their window, which fewer shards would not reach.
  const aheadMs = shardCountOf(next.sharding) < shards ? keptAfterEndMs(definition) : 0;
  // Counters begin by the clocks of processes; the ledger's may be ahead of them.
  const openedAtMs = Math.min(next.openedAtMs ?? 0, nowMs()) - READ_LATER_MS;
  return versionsAfter({ shards, versions }, openedAtMs, nowMs() + Math.max(READ_LATER_MS, aheadMs));
};

/** The store or the database is away: it is asked again. */
const notYet = (error: unknown): false => {
  if (!isRetriable(error)) throw error;
  return false;
};
