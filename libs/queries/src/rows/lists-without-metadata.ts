import { BoardsWithMetadata, type SqlRunner } from '@laddercast/ledger';
import { monotonicMs, CoalescedCall, growingCache } from '@laddercast/platform';
import type { RankList } from '@laddercast/projections';
import { GATHERED, answered } from '../shared/time-out.js';

/** The most lists of which a process remembers that they were bare. */
const LISTS_MAX = 10_000;
/** The most boards of which it remembers that they are not. */
const BOARDS_MAX = 100_000;

/** When rows were read: `listVersion` as the reading said, null where it did not; `beganAtMs` by this process's monotonic clock. */
export interface WhenRead {
  listVersion: number | null;
  beganAtMs: number;
}

interface Found {
  listVersion: number;
  /** Readings that began later have no shard in an earlier state than the one that led to this. */
  atMs: number;
}

/**
 * Knows which lists are bare: no run has brought metadata to their board. A finding holds for one version of a list; a
 * later version may hold the board's first run with metadata.
 */
export class ListsWithoutMetadata {
  private readonly boards: BoardsWithMetadata;
  private readonly decorated = growingCache<number, true>(BOARDS_MAX);
  /** Boards that the next look asks for. */
  private wanted = new Set<number>();
  private readonly bare = growingCache<string, Found>(LISTS_MAX);
  private readonly look = new CoalescedCall(() => this.read(), GATHERED);

  constructor(database: SqlRunner) {
    this.boards = new BoardsWithMetadata(database);
  }

  /**
   * @param read when the rows were that are meant
   * @returns null when the database does not say it in time
   */
  async isBare(list: RankList, { listVersion, beganAtMs }: WhenRead): Promise<boolean | null> {
    const { boardUid, windowUid, scope, generation } = list;
    if (this.decorated.get(boardUid)) return false;
    const key = `${boardUid}/${windowUid}/${scope}/${generation}`;
    const known = listVersion === null ? undefined : this.bare.get(key);
    if (known && listVersion! <= known.listVersion && beganAtMs >= known.atMs) return true;
    const atMs = monotonicMs();
    this.wanted.add(boardUid);
    if ((await answered(this.look.ask())) === null) return null;
    if (this.decorated.has(boardUid)) return false;
    if (listVersion === null) return true;
    this.bare.set(key, { listVersion, atMs });
    return true;
  }

  private async read(): Promise<true> {
    const asked = [...this.wanted];
    this.wanted = new Set();
    const found = await this.boards.read(asked);
    for (const uid of found) this.decorated.set(uid, true);
    return true;
  }
}
