import { GLOBAL_SCOPE, type Board } from '@laddercast/domain';
import { rankListOf } from '../ranks/rank-projection.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { entriesKey } from '../redis/redis-keys.js';
import type { WindowLists } from '../ranks/window-lists.js';

/** How many entries a shard holds. */
export interface ShardCount {
  boardUid: number;
  boardId: string;
  windowUid: number;
  /** 0-based. */
  shard: number;
  entries: number;
}

/** Boards that one turn looks at. */
const BOARDS_PER_TURN = 50;
/** Shards that one turn counts; what is left waits for the next one. */
const SHARDS_PER_TURN = 2000;

/** Counts the entries of shards, some boards at a turn, so that any number of boards costs the same. */
export class ShardCensus {
  private readonly counts = new Map<number, ShardCount[]>();
  private lastUid = -Infinity;

  constructor(
    private readonly boards: { all(): Board[] },
    private readonly windowLists: WindowLists,
    private readonly redis: RedisConnection,
  ) {}

  /**
   * Looks at the boards whose turn it is.
   * @throws PROJECTION_UNAVAILABLE, or a database error
   */
  async turn(): Promise<void> {
    const boards = this.boards.all().sort((a, b) => a.uid - b.uid);
    const alive = new Set(boards.map(({ uid }) => uid));
    for (const uid of this.counts.keys()) if (!alive.has(uid)) this.counts.delete(uid);
    const at = boards.findIndex(({ uid }) => uid > this.lastUid);
    const inTurn = [...boards.slice(Math.max(0, at)), ...boards.slice(0, Math.max(0, at))].slice(0, BOARDS_PER_TURN);
    let shards = 0;
    for (const board of inTurn) {
      if (shards >= SHARDS_PER_TURN) return;
      const counts = await this.count(board);
      this.counts.set(board.uid, counts);
      this.lastUid = board.uid;
      shards += counts.length;
    }
  }

  /** The shards with the most entries, as they were last counted. */
  largest(count: number): ShardCount[] {
    const all = [...this.counts.values()].flat();
    return all.sort((a, b) => b.entries - a.entries).slice(0, count);
  }

  private async count(board: Board): Promise<ShardCount[]> {
    const windows = (await this.windowLists.windowsOf(board)).slice(-SHARDS_PER_TURN);
    const places = windows.flatMap(({ uid: windowUid }) => {
      const list = rankListOf(board, windowUid, GLOBAL_SCOPE);
      return Array.from({ length: list.shards }, (_, shard) => ({ list, windowUid, shard }));
    });
    // The newest windows are the last: those that grow.
    return Promise.all(
      places.slice(-SHARDS_PER_TURN).map(async ({ list, windowUid, shard }) => {
        const entries = Number(await this.redis.command('zcard', entriesKey(list, shard)));
        return { boardUid: board.uid, boardId: board.id, windowUid, shard, entries };
      }),
    );
  }
}
