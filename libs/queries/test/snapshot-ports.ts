import {
  diffRows,
  GLOBAL_SCOPE,
  withBoardDefaults,
  type Board,
  type RankedEntry,
  type StoredWindow,
  firstLayouts,
} from '@laddercast/domain';
import {
  rankListOf,
  RankProjection,
  SnapshotStore,
  type ListRef,
  type RankDelta,
  type RankSnapshot,
  type Reading,
} from '@laddercast/projections';
import type { ResolvedList } from '../src/lists/list-resolver.js';

const definition = withBoardDefaults({ order: 'desc', operator: 'best', push: { intervalMs: 1000, top: 100 } });

export const EMPTY_BOARD: Board = {
  uid: 1,
  id: 'blitz',
  revision: 1,
  definitionRevision: 1,
  windowsSinceMs: {},
  definition,
  layouts: firstLayouts(definition),
};

const unused = (): never => {
  throw new Error('This part of the port is not used here.');
};

/** One list as the projection shows it: rows by score, and a version that grows with each change. */
export class MemoryList extends RankProjection {
  private readonly scores = new Map<string, number>();
  private version = 0;
  failure: Error | null = null;

  constructor(private readonly board: Board) {
    super();
  }

  get resolved(): ResolvedList {
    return this.like(1);
  }

  /** The same board's list in another window. */
  like(windowUid: number): ResolvedList {
    const { board } = this;
    const window: StoredWindow = {
      uid: windowUid,
      kind: 'alltime',
      id: 'alltime',
      startsAtMs: null,
      endsAtMs: null,
      freezeAtMs: null,
      state: 'open',
    };
    const list = rankListOf(board, windowUid, GLOBAL_SCOPE);
    return { board, window, scope: 'global', list, ranks: this, edition: null, atMs: Date.now() };
  }

  set(scores: Record<string, number>): void {
    for (const [playerId, score] of Object.entries(scores)) this.scores.set(playerId, score);
    this.version += 1;
  }

  rows(): RankedEntry[] {
    return [...this.scores]
      .sort(([, a], [, b]) => b - a)
      .map(([playerId, score], index) => ({
        rank: index + 1,
        playerId,
        displayName: null,
        score,
        columns: {},
        achievedAt: '2026-11-20T18:00:00.000Z',
        metadata: null,
      }));
  }

  reading(): Reading {
    return { total: this.scores.size, listVersion: this.version };
  }

  override async total(): Promise<Reading> {
    if (this.failure) throw this.failure;
    return this.reading();
  }

  override apply = unused;
  override page = unused;
  override player = unused;
  override lookup = unused;
  override rankOfKey = unused;
  override placement = unused;
  override lookupStates = unused;
  override entryVersion = unused;
  override session = unused;
  override openMark = unused;
  override advanceMark = unused;
  override dropMark = unused;
  override readMark = unused;
  override readMarks = unused;
  override sortKeys = unused;
  override keep = unused;
  override retire = unused;
  override hasOpenCheckpoints = unused;
  override drop = unused;
}

/** Snapshots of one list, and what was asked of them. */
export class MemoryStore extends SnapshotStore {
  stored: { snapshot: RankSnapshot; deltas: RankDelta[] } | null = null;
  failure: Error | null = null;
  isDeaf = false;
  reads = 0;
  deltaReads = 0;
  marks = 0;
  inUseUntilMs = 0;
  private readonly listeners = new Set<(list: ListRef, seq: number) => void>();

  /** Publishes the list as it is. */
  async publishNow(list: MemoryList): Promise<void> {
    const last = this.stored?.snapshot ?? null;
    const seq = (last?.seq ?? 0) + 7;
    const head = { seq, asOfMs: Date.now(), ...list.reading(), depth: list.reading().total };
    const changes = diffRows(last?.entries ?? [], list.rows());
    const delta = last && { ...head, previousSeq: last.seq, changes };
    this.stored = {
      snapshot: { ...head, entries: list.rows() },
      deltas: [...(this.stored?.deltas ?? []), ...(delta ? [delta] : [])],
    };
    if (!this.isDeaf) for (const listener of this.listeners) listener({ boardUid: 1, windowUid: 1, scope: 0 }, seq);
  }

  override async markInUse(_lists: readonly ListRef[], untilMs: number): Promise<void> {
    this.assertReachable();
    this.marks += 1;
    this.inUseUntilMs = untilMs;
  }

  override async read(list: ListRef): Promise<RankSnapshot | null> {
    this.assertReachable();
    this.reads += 1;
    return list.windowUid === 1 ? (this.stored?.snapshot ?? null) : null;
  }

  override async deltasSince(_list: ListRef, seq: number): Promise<RankDelta[] | null> {
    this.assertReachable();
    this.deltaReads += 1;
    const deltas = this.stored?.deltas.filter((delta) => delta.seq > seq) ?? [];
    const follows = deltas.length === 0 ? this.stored?.snapshot.seq === seq : deltas[0]!.previousSeq === seq;
    return follows ? deltas : null;
  }

  override onPublished(listener: (list: ListRef, seq: number) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  override listsInUse = unused;
  override publish = unused;
  override takeNumber = unused;

  private assertReachable(): void {
    if (this.failure) throw this.failure;
  }
}
