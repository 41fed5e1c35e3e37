import { EventEmitter } from 'node:events';
import {
  encodeSortKey,
  NO_FACE,
  nameOfSpec,
  shardOf,
  windowAt,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type Layout,
  type PlayerFace,
  type SanctionInForce,
  type StoredWindow,
  firstLayouts,
} from '@laddercast/domain';
import { FriendGraph, NO_EXTENSIONS, type EntryEnricher } from '@laddercast/extension';
import type {
  BoardCatalog,
  BoardListener,
  Edition,
  EditionCatalog,
  ScopeCatalog,
  SqlRunner,
  WindowCatalog,
} from '@laddercast/ledger';
import { clockOfThisProcess } from '@laddercast/testing';
import type { Announcements, ProjectedChange, RankList, RankProjection, RankReadings } from '@laddercast/projections';
import { CircleMembers, EntryDetails, ListResolver, type RunEntryKeys, type ResolvedList } from '@laddercast/queries';

type WindowOfBoard = StoredWindow & { boardUid: number };

/** No board of these tests has an entry for each run. */
const NO_RUNS = {} as RunEntryKeys;

/** The boards, windows, scopes and editions of a test, in memory, with the changes that operators and time make. */
export class TestBoards {
  private readonly boards = new Map<string, Board>();
  private readonly windows = new Map<number, WindowOfBoard>();
  /** As a process remembers them: right for the board's revision, except that a closed one may be settled by now. */
  private readonly remembered = new Map<number, WindowOfBoard>();
  private readonly scopes = new Map<string, number>();
  private readonly editions: Edition[] = [];
  private readonly changes = new EventEmitter();
  private uid = Math.floor(Math.random() * 1_000_000_000);
  private windowUid = 1000;
  /** Boards that another process made a moment ago: known once somebody looks. */
  readonly unheard = new Set<string>();
  readonly clock = clockOfThisProcess();
  readonly resolver: ListResolver;

  /** @param ranks where the lists of {@link resolver} are read, standings too */
  constructor(ranks: RankReadings) {
    this.resolver = this.resolverOver(ranks);
  }

  /** The resolver of a process that reads ranks over its own connection. */
  resolverOver(ranks: RankReadings): ListResolver {
    const [boards, windows] = [this.catalog(), this.windowCatalog()];
    return new ListResolver(boards, windows, this.scopeCatalog(), this.editionCatalog(), ranks, ranks, NO_RUNS);
  }

  catalog(): BoardCatalog {
    return {
      clock: this.clock,
      byId: (id: string) => (this.unheard.has(id) ? undefined : this.boards.get(id)),
      find: async (id: string) => {
        this.unheard.clear();
        return this.boards.get(id);
      },
      byUid: async (uid: number) => [...this.boards.values()].find((board) => board.uid === uid),
      onChange: (listener: BoardListener) => {
        this.changes.on('change', listener);
        return () => this.changes.off('change', listener);
      },
    } as unknown as BoardCatalog;
  }

  windowCatalog(): WindowCatalog {
    const live = (boardUid: number) => [...this.remembered.values()].filter((window) => window.boardUid === boardUid);
    const ofId = async ({ uid }: Board, id: string) => live(uid).find((window) => window.id === id);
    return {
      ofId,
      ofSpec: async (board: Board, spec: BoardDefinition['windows'][number], atMs: number, nowMs: number) => {
        const bounds = windowAt(spec, board.definition.timeZone, atMs);
        const known = bounds ? await ofId(board, bounds.id) : await ofId(board, nameOfSpec(spec));
        const holds = (window: StoredWindow) => atMs < (window.endsAtMs ?? Infinity);
        if (known) return holds(known) ? known : null;
        const isUnused = bounds && (bounds.endsAtMs ?? Infinity) + board.definition.graceSeconds * 1000 < nowMs;
        if (isUnused) return { ...bounds, uid: 0, state: 'settled' };
        return bounds && this.addWindow(board.uid, { ...bounds, state: 'open' });
      },
      lastOfKind: async ({ uid }: Board, kind: string, atMs: number) =>
        live(uid).find((window) => window.kind === kind && kind !== 'season' && atMs < (window.endsAtMs ?? Infinity)),
      byUid: async (uid: number) => this.remembered.get(uid),
      refresh: async (uids: readonly number[]) => uids.flatMap((uid) => this.windows.get(uid) ?? []),
    } as unknown as WindowCatalog;
  }

  addWindow(boardUid: number, window: Omit<StoredWindow, 'uid'>): WindowOfBoard {
    const stored = { ...window, boardUid, uid: (this.windowUid += 1) };
    this.windows.set(stored.uid, stored);
    this.remembered.set(stored.uid, stored);
    return stored;
  }

  /** Changes a window's bounds or state; as in the ledger all but the last step to `settled` changes the board's revision. */
  changeWindow(uid: number, change: Partial<StoredWindow>): void {
    const window = { ...this.windows.get(uid)!, ...change };
    this.windows.set(uid, window);
    if (change.state === 'settled') return;
    this.remembered.set(uid, window);
    const board = [...this.boards.values()].find((one) => one.uid === window.boardUid)!;
    this.put({ ...board, revision: board.revision + 1 });
  }

  /** Standings that were written of a window. */
  addEdition(edition: Edition): void {
    this.editions.push(edition);
  }

  create(id: string, definition: Parameters<typeof withBoardDefaults>[0]): Board {
    const [revision, uid] = [1, (this.uid += 1)];
    const whole = withBoardDefaults(definition);
    const board = { uid, id, revision, definitionRevision: revision, windowsSinceMs: {} };
    return this.put({ ...board, definition: whole, layouts: firstLayouts(whole) });
  }

  redefine(id: string, change: Partial<BoardDefinition>): Board {
    const board = this.boards.get(id)!;
    return this.put({ ...board, revision: board.revision + 1, definition: { ...board.definition, ...change } });
  }

  /** Serves the lists from another generation, which shares what the projection of the test holds. */
  switchLayout(id: string, change: Pick<Layout, 'dense'>): Board {
    const board = this.boards.get(id)!;
    const serving = { ...board.layouts.serving, ...change };
    return this.put({ ...board, revision: board.revision + 1, layouts: { ...board.layouts, serving } });
  }

  delete(id: string): void {
    const board = this.boards.get(id)!;
    this.boards.delete(id);
    this.changes.emit('change', board, true);
  }

  /** As the catalogue tells it: the old uid is gone, and then the new one is there. @param change to its definition */
  reset(id: string, change: Partial<BoardDefinition> = {}): Board {
    const board = this.boards.get(id)!;
    this.delete(id);
    const definition = { ...board.definition, ...change };
    return this.put({ ...board, definition, uid: (this.uid += 1), revision: board.revision + 1 });
  }

  private put(board: Board): Board {
    this.boards.set(board.id, board);
    this.changes.emit('change', board, false);
    return board;
  }

  /** Gives a scope its number, as the first score in it does. */
  useScope(name: string): void {
    if (name !== 'global' && !this.scopes.has(name)) this.scopes.set(name, this.scopes.size + 100);
  }

  /** The scopes that have a number. */
  get usedScopes(): string[] {
    return [...this.scopes.keys()];
  }

  private scopeCatalog(): ScopeCatalog {
    return {
      find: async (name: string) => this.scopes.get(name),
      used: async (names: readonly string[]) => names.filter((name) => this.scopes.has(name)),
      namesOf: async (uids: readonly number[]) =>
        new Map([...this.scopes].flatMap(([name, uid]) => (uids.includes(uid) ? [[uid, name]] : []))),
    } as unknown as ScopeCatalog;
  }

  private editionCatalog(): EditionCatalog {
    const newest = (windowUid: number, kind: Edition['kind']) =>
      this.editions.findLast((edition) => edition.windowUid === windowUid && edition.kind === kind);
    return {
      final: async (windowUid: number) => newest(windowUid, 'final'),
      frozen: async (windowUid: number) => newest(windowUid, 'frozen'),
      present: async (windowUid: number, kind: Edition['kind']) => ({
        edition: newest(windowUid, kind),
        isRevising: false,
      }),
      byUid: async (uid: number) => this.editions.find((edition) => edition.uid === uid),
      keptAt: async () => undefined,
    } as unknown as EditionCatalog;
  }
}

/** Names and listings in a table of the test's own; nothing is stored of runs. */
export class TestProfiles implements SqlRunner {
  private readonly profiles = new Map<string, PlayerFace & { displayName: string | null; listed: boolean }>();
  /** How often faces were looked up. */
  faceReads = 0;
  /** Set: faces cannot be looked up. */
  hasNoFaces = false;
  /** What moderators put on players. A test announces it, or not. */
  readonly sanctions = new Map<string, SanctionInForce>();
  /** Awaited before names and sanctions are answered. */
  beforeNames: () => Promise<void> = () => Promise.resolve();

  constructor(private readonly announcements: Announcements) {}

  async query<Row>(sql: string, [ids]: readonly unknown[] = []): Promise<Row[]> {
    if (sql.includes('hasProfiles')) return [{ hasProfiles: this.profiles.size + this.sanctions.size > 0 } as Row];
    if (!sql.includes('FROM players')) return [];
    if (sql.includes('avatar_url')) return this.faces(ids as string[]) as Row[];
    await this.beforeNames();
    return (ids as string[]).flatMap((id) => {
      const sanction = this.sanctions.get(id) ?? null;
      const profile = this.profiles.get(id) ?? (sanction && { displayName: null, listed: true });
      if (!profile) return [];
      const { displayName, listed } = profile;
      return [{ id, displayName, listed, sanction } as Row];
    });
  }

  private faces(ids: readonly string[]): object[] {
    this.faceReads += 1;
    if (this.hasNoFaces) throw new Error('Faces are away.');
    return ids.flatMap((id) => {
      const profile = this.profiles.get(id);
      return profile ? [{ id, ...faceOf(profile) }] : [];
    });
  }

  /** Stores a profile, and announces it as the sagas do. */
  async set(id: string, profile: Partial<PlayerFace> & { displayName?: string; listed?: boolean }): Promise<void> {
    this.profiles.set(id, { displayName: null, listed: true, ...NO_FACE, ...this.profiles.get(id), ...profile });
    await this.announcements.announce({ kind: 'players', ids: [id], isGuild: false });
  }

  /** The details of one process. */
  details(enricher: EntryEnricher | null = null): EntryDetails {
    return new EntryDetails(this, { ...NO_EXTENSIONS, enricher });
  }
}

const faceOf = ({ avatarUrl, region, attributes }: PlayerFace): PlayerFace => ({ avatarUrl, region, attributes });

/** Details without a database: rows carry what the projection knows. */
export const plainDetails = (): EntryDetails => {
  const nothing: SqlRunner = { query: async () => [] };
  return new EntryDetails(nothing, NO_EXTENSIONS);
};

/** Friendships in memory. */
export class TestFriends extends FriendGraph {
  private readonly friends = new Map<string, Set<string>>();

  override async friendsOf(playerId: string): Promise<string[]> {
    return [...(this.friends.get(playerId) ?? [])];
  }

  override async followedBy(): Promise<string[]> {
    return [];
  }

  set(playerId: string, friends: readonly string[]): void {
    this.friends.set(playerId, new Set(friends));
  }

  /** The members as one process remembers them. */
  members(): CircleMembers {
    return new CircleMembers({ graph: this }, { membersOf: async () => [] });
  }
}

/** Writes into one list as the sagas do, with versions that grow. */
export class ListWriter {
  private version = 0;

  constructor(
    private readonly projection: RankProjection,
    private readonly list: RankList,
  ) {}

  static of(projection: RankProjection, { list }: ResolvedList): ListWriter {
    return new ListWriter(projection, list);
  }

  /** Writes one entry (null: a tombstone) under a version of the caller's own. */
  static async put(
    projection: RankProjection,
    list: RankList,
    playerId: string,
    entry: { score: number; achievedAtMs: number } | null,
    version: number,
  ): Promise<void> {
    const key = entry && encodeSortKey(list.ordering, { ...entry, columns: [] }, playerId);
    await projection.apply(list, shardOf(playerId, list.shards), [{ playerId, version, key }], null);
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
  withinMs = 30_000,
): Promise<void> {
  const endsAtMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > endsAtMs) throw new Error(`Waited ${withinMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
