import {
  applyChanges,
  compareSortKeys,
  decodeSortKey,
  LadderError,
  markStepOf,
  ranksFromTop,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import {
  assertStyleKept,
  Announcements,
  DELTAS_KEPT_MAX,
  nameOfRef,
  RankProjection,
  SnapshotStore,
  type Announcement,
  type ListRef,
  type MarksReading,
  type PageReading,
  type PlayerReading,
  type ProjectedChange,
  type ProjectedEntry,
  type RankDelta,
  type RankList,
  type RankSnapshot,
  type Reading,
  type SortKeysReading,
} from '@laddercast/projections';

const keyOf = (list: RankList): string => `${nameOfRef(list)}/${list.edition ?? ''}`;

interface MemoryList {
  counter: number;
  entries: Map<string, { key: SortKey | null; version: number }>;
}

/**
 * Ranks in a plain sorted array: what the Redis adapter must agree with, and quick enough for unit tests.
 * Lists with an edition are those of standings; {@link keepEdition} writes them.
 */
export class MemoryRankProjection extends RankProjection {
  readonly lists = new Map<string, MemoryList>();
  /** Set: every call fails with it, as when Redis is away. */
  failure: LadderError | null = null;
  /** Awaited before each page is answered. */
  beforePage: (list: RankList) => Promise<void> = () => Promise.resolve();
  pages = 0;
  /** The ids of each look-up. */
  readonly lookups: string[][] = [];

  override async apply(list: RankList, _shard: number, changes: ProjectedChange[]): Promise<number> {
    const { entries } = this.listOf(list);
    let newer = 0;
    for (const { playerId, version, key } of changes) {
      if ((entries.get(playerId)?.version ?? -1) >= version) continue;
      entries.set(playerId, { key, version });
      newer += 1;
      this.listOf(list).counter += 1;
    }
    return newer;
  }

  override async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    this.pages += 1;
    await this.beforePage(list);
    const rows = this.rows(list, style);
    return { ...this.reading(list), entries: rows.slice(offset, offset + limit) };
  }

  override async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    const rows = this.rows(list, style);
    const index = rows.findIndex((row) => row.playerId === playerId);
    if (index < 0) return { ...this.reading(list), entry: null, neighbours: [] };
    const { version } = this.listOf(list).entries.get(playerId)!;
    const neighbours = rows.slice(Math.max(0, index - above), index + below + 1);
    return { ...this.reading(list), entry: { ...rows[index]!, version }, neighbours };
  }

  override async lookup(list: RankList, playerIds: readonly string[], style: RankStyle) {
    this.lookups.push([...playerIds]);
    const rows = new Map(this.rows(list, style).map((row) => [row.playerId, row]));
    return { ...this.reading(list), entries: playerIds.map((id) => rows.get(id) ?? null) };
  }

  /** Keeps the list as it is now under the number of an edition. */
  keepEdition(list: RankList, edition: number): void {
    const { counter, entries } = this.listOf(list);
    this.lists.set(keyOf({ ...list, edition }), { counter: counter + 1_000_000, entries: new Map(entries) });
  }

  /** In the ordinal style alone. */
  override async rankOfKey(list: RankList, key: SortKey): Promise<Reading & { rank: number }> {
    const before = this.sortedKeys(list).filter((one) => compareSortKeys(one, key) < 0);
    return { ...this.reading(list), rank: before.length + 1 };
  }

  override async total(list: RankList): Promise<Reading> {
    return this.reading(list);
  }

  override async drop(list: RankList): Promise<void> {
    this.lists.delete(keyOf(list));
  }

  override async readMarks(list: RankList, marksMax: number): Promise<MarksReading> {
    const keys = this.sortedKeys(list);
    const step = markStepOf(keys.length, marksMax);
    const marks = keys.filter((_, index) => index % step === 0 || index === keys.length - 1);
    return { ...this.reading(list), shards: [{ total: keys.length, step, keys: marks }] };
  }

  override async sortKeys(list: RankList, playerIds: readonly string[]): Promise<SortKeysReading> {
    const { entries } = this.listOf(list);
    const keys = playerIds.map((playerId) => entries.get(playerId)?.key ?? null);
    return { keys, listVersion: this.reading(list).listVersion };
  }

  override placement = unused;
  override lookupStates = unused;
  override entryVersion = unused;
  override session = unused;
  override openMark = unused;
  override advanceMark = unused;
  override dropMark = unused;
  override readMark = unused;
  override keep = unused;
  override retire = unused;
  override hasOpenCheckpoints = unused;

  private listOf(list: RankList): MemoryList {
    if (this.failure) throw this.failure;
    const known = this.lists.get(keyOf(list)) ?? { counter: 0, entries: new Map() };
    this.lists.set(keyOf(list), known);
    return known;
  }

  private rows(list: RankList, style: RankStyle): ProjectedEntry[] {
    if (list.edition === undefined) assertStyleKept(list, style);
    const entries = this.sortedKeys(list).map((key) => decodeSortKey(list.ordering, key));
    const ranks = ranksFromTop(entries, style);
    return entries.map((entry, index) => ({ rank: ranks[index]!, ...entry }));
  }

  private sortedKeys(list: RankList): SortKey[] {
    return [...this.listOf(list).entries.values()].flatMap(({ key }) => (key ? [key] : [])).sort(compareSortKeys);
  }

  private reading(list: RankList): Reading {
    const { counter, entries } = this.listOf(list);
    return { total: [...entries.values()].filter(({ key }) => key !== null).length, listVersion: counter };
  }
}

const unused = (): never => {
  throw new Error('This part of the port is not used here.');
};

interface Stored {
  snapshot: RankSnapshot;
  deltas: RankDelta[];
}

/** Snapshots in memory, with every published one kept so that tests can ask what stood at a `seq`. */
export class MemorySnapshotStore extends SnapshotStore {
  readonly stored = new Map<string, Stored>();
  readonly history = new Map<string, RankSnapshot[]>();
  readonly inUse = new Map<string, { list: ListRef; untilMs: number }>();
  readonly listeners = new Set<(list: ListRef, seq: number) => void>();
  /** Set: hints are lost. */
  isDeaf = false;
  reads = 0;
  deltaReads = 0;
  markCalls = 0;
  private held: Promise<void> | null = null;
  private readonly taken = new Map<string, number>();

  /** Has readings of snapshots wait until the function is called that it returns. */
  holdReads(): () => void {
    let open = (): void => undefined;
    this.held = new Promise((resolve) => (open = resolve));
    return open;
  }

  override async markInUse(lists: readonly ListRef[], untilMs: number): Promise<void> {
    this.markCalls += 1;
    for (const list of lists) this.inUse.set(nameOfRef(list), { list, untilMs });
  }

  override async listsInUse(nowMs: number, limit: number): Promise<ListRef[]> {
    return [...this.inUse.values()]
      .filter(({ untilMs }) => untilMs > nowMs)
      .slice(0, limit)
      .map(({ list }) => list);
  }

  override async read(list: ListRef): Promise<RankSnapshot | null> {
    this.reads += 1;
    await this.held;
    return structuredClone(this.stored.get(nameOfRef(list))?.snapshot ?? null);
  }

  override async publish(
    list: ListRef,
    expectedSeq: number | null,
    snapshot: RankSnapshot,
    delta: RankDelta | null,
  ): Promise<boolean> {
    const key = nameOfRef(list);
    const known = this.stored.get(key);
    if ((known?.snapshot.seq ?? null) !== expectedSeq) return false;
    if (known && delta) assertLeadsTo(known.snapshot, delta, snapshot);
    const deltas = delta ? [...(known?.deltas ?? []), delta].slice(-DELTAS_KEPT_MAX) : [];
    this.stored.set(key, structuredClone({ snapshot, deltas }));
    this.history.set(key, [...(this.history.get(key) ?? []), structuredClone(snapshot)]);
    if (!this.isDeaf) for (const listener of this.listeners) setImmediate(() => listener(list, snapshot.seq));
    return true;
  }

  override async takeNumber(list: ListRef, least: number): Promise<number> {
    const number = Math.max((this.taken.get(nameOfRef(list)) ?? 0) + 1, least);
    this.taken.set(nameOfRef(list), number);
    return number;
  }

  override async deltasSince(list: ListRef, seq: number): Promise<RankDelta[] | null> {
    this.deltaReads += 1;
    const stored = this.stored.get(nameOfRef(list));
    if (!stored) return null;
    if (stored.snapshot.seq === seq) return [];
    const first = stored.deltas.findIndex((delta) => delta.previousSeq === seq);
    return first < 0 ? null : structuredClone(stored.deltas.slice(first));
  }

  override onPublished(listener: (list: ListRef, seq: number) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Forgets everything, as an emptied Redis does. */
  lose(): void {
    this.stored.clear();
    this.taken.clear();
    this.inUse.clear();
  }
}

function assertLeadsTo(before: RankSnapshot, delta: RankDelta, after: RankSnapshot): void {
  if (delta.previousSeq !== before.seq || delta.seq !== after.seq || after.seq <= before.seq) {
    throw new Error(
      `A delta from ${delta.previousSeq} to ${delta.seq} does not lead from ${before.seq} to ${after.seq}.`,
    );
  }
  const reached = JSON.stringify(applyChanges(before.entries, delta.changes));
  if (reached !== JSON.stringify(after.entries)) throw new Error('The changes of a delta do not lead to its snapshot.');
}

/** Announcements within one process. */
export class MemoryAnnouncements extends Announcements {
  readonly listeners = new Set<(announcement: Announcement | null) => void>();

  override async announce(announcement: Announcement): Promise<void> {
    this.tell(announcement);
  }

  /** null: as after a reconnect. */
  tell(announcement: Announcement | null): void {
    for (const listener of this.listeners) setImmediate(() => listener(announcement));
  }

  override onAnnounced(listener: (announcement: Announcement | null) => void): () => void {
    this.listeners.add(listener);
    setImmediate(() => this.listeners.has(listener) && listener(null));
    return () => void this.listeners.delete(listener);
  }
}
