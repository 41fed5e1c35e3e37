import { EventEmitter } from 'node:events';
import {
  encodeSortKey,
  shardOf,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type StoredWindow,
  type WindowBounds,
} from '@laddercast/domain';
import type { BoardCatalog, BoardListener, SqlRunner, WindowCatalog } from '@laddercast/ledger';
import type { ProjectedChange, RankList, RankProjection } from '@laddercast/projections';
import { EntryDetails, listOf, ListResolver, type ResolvedList } from '@laddercast/queries';

/** The boards and windows of a test, in memory, with the changes that operators make. */
export class TestBoards {
  private readonly boards = new Map<string, Board>();
  private readonly windows: (StoredWindow & { boardUid: number })[] = [];
  private readonly changes = new EventEmitter();
  private uid = Math.floor(Math.random() * 1_000_000_000);
  private windowUid = 1000;
  readonly resolver = new ListResolver(this.catalog(), this.windowCatalog());

  catalog(): BoardCatalog {
    return {
      byId: (id: string) => this.boards.get(id),
      byUid: async (uid: number) => [...this.boards.values()].find((board) => board.uid === uid),
      onChange: (listener: BoardListener) => {
        this.changes.on('change', listener);
        return () => this.changes.off('change', listener);
      },
    } as unknown as BoardCatalog;
  }

  create(id: string, definition: Parameters<typeof withBoardDefaults>[0]): Board {
    return this.put({ uid: (this.uid += 1), id, revision: 1, definition: withBoardDefaults(definition) });
  }

  redefine(id: string, change: Partial<BoardDefinition>): Board {
    const board = this.boards.get(id)!;
    return this.put({ ...board, revision: board.revision + 1, definition: { ...board.definition, ...change } });
  }

  delete(id: string): void {
    const board = this.boards.get(id)!;
    this.boards.delete(id);
    this.changes.emit('change', board, true);
  }

  /** As the catalogue tells it: the old uid is gone, and then the new one is there. */
  reset(id: string): Board {
    const board = this.boards.get(id)!;
    this.delete(id);
    return this.put({ ...board, uid: (this.uid += 1), revision: board.revision + 1 });
  }

  private put(board: Board): Board {
    this.boards.set(board.id, board);
    this.changes.emit('change', board, false);
    return board;
  }

  private windowCatalog(): WindowCatalog {
    const find = async (boardUid: number, id: string) =>
      this.windows.find((window) => window.boardUid === boardUid && window.id === id);
    return {
      find,
      ensure: async (boardUid: number, bounds: WindowBounds) => {
        const known = await find(boardUid, bounds.id);
        if (known) return known;
        const window = { ...bounds, boardUid, uid: (this.windowUid += 1) };
        this.windows.push(window);
        return window;
      },
      byUid: async (uid: number) => this.windows.find((window) => window.uid === uid),
    } as unknown as WindowCatalog;
  }
}

/** Details without a database: rows carry what the projection knows. */
export const plainDetails = (): EntryDetails => {
  const nothing: SqlRunner = { query: async () => [] };
  return new EntryDetails(nothing, () => null);
};

/** Writes into one list as the sagas do, with versions that grow. */
export class ListWriter {
  private version = 0;

  constructor(
    private readonly projection: RankProjection,
    private readonly list: RankList,
  ) {}

  static of(projection: RankProjection, { board, window }: ResolvedList): ListWriter {
    return new ListWriter(projection, listOf(board, window.uid));
  }

  /** Sets scores (null: removes the entry); `achievedAtMs` grows with each write. */
  async write(scores: Record<string, number | null>): Promise<void> {
    const shards = new Map<number, ProjectedChange[]>();
    for (const [playerId, score] of Object.entries(scores)) {
      this.version += 1;
      const values = { score: score ?? 0, columns: [], achievedAtMs: 1_700_000_000_000 + this.version };
      const key = score === null ? null : encodeSortKey(this.list.ordering, values, playerId);
      const shard = shardOf(playerId, this.list.shards);
      shards.set(shard, [...(shards.get(shard) ?? []), { playerId, version: this.version, key }]);
    }
    for (const [shard, changes] of shards) await this.projection.apply(this.list, shard, changes, null);
  }
}

/** A repeatable source of chance (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Some random scores and now and then a removal, over `players` players. */
export function randomScores(random: () => number, players: number, count: number): Record<string, number | null> {
  return Object.fromEntries(
    Array.from({ length: count }, () => [
      `p${Math.floor(random() * players)}`,
      random() < 0.15 ? null : Math.floor(random() * 50),
    ]),
  );
}

/** Waits until a condition holds. @throws with what was waited for, after `withinMs` */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 5000,
): Promise<void> {
  const endsAtMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > endsAtMs) throw new Error(`Waited ${withinMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
