import { boardNotFound, boardNow } from '@laddercast/commands';
import {
  GLOBAL_SCOPE,
  faultOfScope,
  GUILDS_SCOPE,
  isCleanText,
  isPatchScope,
  isPerRun,
  LadderError,
  nameOfSpec,
  NEVER_USED_SCOPE,
  patchIdOf,
  patchOrderOf,
  patchOfScope,
  patchScopeOf,
  publishedPatch,
  scopeKindsOf,
  specOf,
  windowOfId,
  type Board,
  type StoredWindow,
} from '@laddercast/domain';
import {
  BoardCatalog,
  EditionCatalog,
  ScopeCatalog,
  StaleBoardError,
  WindowCatalog,
  type Edition,
  type LedgerClock,
} from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import {
  listOfWindow,
  RankProjection,
  StandingsRanks,
  type ListRef,
  type RankList,
  type RankReadings,
} from '@laddercast/projections';
import { Inject, Injectable } from '@nestjs/common';
import { RanksOfRuns } from './ranks-of-runs.js';
import { RunEntryKeys } from './run-entry-keys.js';
import type { OwnEntry } from './ranks-with-entries.js';
import { EditionFinder, notWrittenYet, type FoundEdition, type NewestFinal } from './edition-finder.js';

/** Which list is meant, in the words of the contract. */
export interface ListNames {
  boardId: string;
  /** `daily` (the running one), `daily:2026-11-20` (that one), or undefined: `alltime`, else the board's first. */
  window?: string | undefined;
  /** `region:EU`; undefined: everybody. */
  scope?: string | undefined;
  /** The list whose entries are guilds, instead of players. */
  ofGuilds?: boolean | undefined;
  /** As the board stood then, Unix ms. */
  asOfMs?: number | undefined;
  /** The final standings of that number. */
  edition?: number | undefined;
  /** Whether the reader sees banned and shadowed players by their ids, and so final standings before the last. */
  moderates?: boolean | undefined;
  /** Whether the reader sees a frozen window as it runs on. */
  isAdmin?: boolean | undefined;
}

/** A list that can be read: its board, its window, and where and from what it is read. */
export interface ResolvedList {
  board: Board;
  window: StoredWindow;
  /** `global`, `region:EU`; `guilds` for the list whose entries are guilds. */
  scope: string;
  list: RankList;
  ranks: RankReadings;
  /** The standings that it is read from; null: it is read from the projection, and can change. */
  edition: Edition | null;
  /** Of a window that has ended, once its final standings are written: which of them are the newest. */
  final?: NewestFinal;
  /** Only admins see it so: to everyone else the window is frozen. */
  isWithheld?: boolean;
  /** Where each run is an entry: how many players it has, once that was asked for; null: not known. */
  players?: number | null;
  /** Whether its rows show the faces of their players. */
  withPlayers?: true;
  /** The player whose entry is in it for this reader alone. */
  ownWorldOf?: string;
  /** Its entries, where it has some that everybody's list may lack; of boards where each run is one, by their keys. */
  ownEntries?: readonly OwnEntry[];
  /** The ranks that everybody sees, where those of this reader have its own entries. */
  everybodys?: RankReadings;
  /** The ledger's time when it was asked for, Unix ms. */
  atMs: number;
  /** What the projection says, where that is still what everybody reads; undefined: what is read says it. */
  boardVersion?: number;
}

/** How a list is looked for. */
export interface ResolveOptions {
  /** An ended window is read from its final standings as soon as they are written, and not from the projection. */
  prefersStandings?: boolean;
  /** Who read an edition, or an ended window in the projection, goes on in it, also where another was made meanwhile. */
  goesOn?: { edition: number } | 'projection';
  /** Who reads on in an earlier generation of a board with decay does so under its tax; absent: that of the one that serves. */
  taxOrder?: number | undefined;
}

/** What a list is read from: while it can change, and as it was written. */
interface ReadSources {
  projection: RankReadings;
  standings: RankReadings;
}

/** Finds the list that a board id, a window and a scope mean. */
@Injectable()
export class ListResolver {
  private readonly editions: EditionFinder;
  private readonly ofPlayers: ReadSources;
  /** Of boards where each run is an entry. */
  private readonly ofRuns: ReadSources;

  constructor(
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly scopes: ScopeCatalog,
    editions: EditionCatalog,
    @Inject(RankProjection) projection: RankReadings,
    @Inject(StandingsRanks) standings: RankReadings,
    keys: RunEntryKeys,
  ) {
    this.ofPlayers = { projection, standings };
    this.ofRuns = { projection: new RanksOfRuns(projection, keys), standings: new RanksOfRuns(standings, keys) };
    this.editions = new EditionFinder(boards, windows, editions);
  }

  /** Decides what is running, frozen and over. */
  get clock(): LedgerClock {
    return this.boards.clock;
  }

  /**
   * The window may have frozen during the reading: then nobody may see what was read.
   * @throws PROJECTION_BEHIND
   */
  assertShown({ window, edition, isWithheld = false }: ResolvedList): void {
    if (edition === null && !isWithheld && this.clock.isFrozen(window)) notWrittenYet(window, 'frozen');
  }

  /**
   * The board, also one that another process made a moment ago.
   * @throws BOARD_NOT_FOUND, LEDGER_UNAVAILABLE
   */
  board(boardId: string): Promise<Board> {
    return boardNow(this.boards, boardId);
  }

  /**
   * The board as this process knows it now.
   * @throws BOARD_NOT_FOUND
   */
  knownBoard(boardId: string): Board {
    const board = this.boards.byId(boardId);
    if (!board) throw boardNotFound(boardId);
    return board;
  }

  /** @throws BOARD_NOT_FOUND, WINDOW_NOT_FOUND, SCOPE_NOT_FOUND, SNAPSHOT_GONE, PROJECTION_BEHIND, LEDGER_UNAVAILABLE */
  async resolve(names: ListNames, options: ResolveOptions = {}): Promise<ResolvedList> {
    try {
      return await this.resolveNow(names, options);
    } catch (error) {
      if (!(error instanceof StaleBoardError)) throw error;
      // A window is to be made for a definition that was replaced a moment ago.
      await this.boards.refresh();
      return this.resolveNow(names, options);
    }
  }

  private async resolveNow(names: ListNames, options: ResolveOptions): Promise<ResolvedList> {
    const atMs = this.clock.nowMs();
    // At once where it is known: its board may change while a list is opened.
    const board = this.boards.byId(names.boardId) ?? (await this.board(names.boardId));
    const window = await this.window(board, names.window);
    const scope = await this.scope(board, names);
    const isAsItStood = names.asOfMs !== undefined || names.edition !== undefined;
    if (isAsItStood && isPatchScope(scope.uid)) throw noStandingsOfPatches(window);
    if (isUnused(window)) return this.neverUsed(board, window, scope.name, atMs);
    const found = await this.editions.find(board, window, names, options);
    if (found.edition !== null && isPatchScope(scope.uid)) throw noStandingsOfPatches(window);
    const resolved = this.resolved(board, window, scope, found, atMs, options.taxOrder);
    const isWithheld = found.edition === null && this.clock.isFrozen(window);
    return isWithheld ? { ...resolved, isWithheld } : resolved;
  }

  /** Those of the scopes, of whatever board, in which something was ranked. */
  usedScopes(scopes: readonly string[]): Promise<string[]> {
    return this.scopes.used(scopes);
  }

  /**
   * Everybody's list of a window, as everyone sees it.
   * @throws SNAPSHOT_GONE, PROJECTION_BEHIND
   */
  async ofWindow(board: Board, window: StoredWindow): Promise<ResolvedList> {
    const atMs = this.clock.nowMs();
    const found = await this.editions.find(board, window);
    return this.resolved(board, window, { uid: GLOBAL_SCOPE, name: 'global' }, found, atMs);
  }

  /** The list behind a reference as everyone sees it, undefined when its board or window is gone. */
  async byRef(ref: ListRef): Promise<ResolvedList | undefined> {
    const atMs = this.clock.nowMs();
    const board = await this.boards.byUid(ref.boardUid);
    const window = board && (await this.windows.byUid(ref.windowUid));
    if (!board || !window) return undefined;
    const name = isPatchScope(ref.scope) ? nameOfPatch(board, patchOfScope(ref.scope)) : await this.nameOf(ref.scope);
    return this.resolved(board, window, { uid: ref.scope, name }, await this.editions.find(board, window), atMs);
  }

  /**
   * The board's window of that name.
   * @throws WINDOW_NOT_FOUND
   */
  async window(board: Board, name: string | undefined): Promise<StoredWindow> {
    const { windows } = this;
    const { windows: specs, timeZone } = board.definition;
    const now = this.clock.nowMs();
    const asked = name ?? nameOfSpec(specs.find((one) => one === 'alltime') ?? specs[0]!);
    const spec = specOf(specs, asked);
    if (spec && asked === nameOfSpec(spec)) {
      const running = await windows.ofSpec(board, spec, now, now);
      if (running && running.uid !== 0) return running;
    }
    const last = spec ? undefined : await windows.lastOfKind(board, asked, now);
    if (last) return last;
    if (!isCleanText(asked)) throw windowNotFound(board, asked, now);
    const known = await windows.ofId(board, asked);
    if (known) return known;
    const calculated = windowOfId(specs, timeZone, asked);
    if (!calculated || !spec) throw windowNotFound(board, asked, now);
    const { kind, startsAtMs, endsAtMs } = calculated;
    const runs = (startsAtMs ?? 0) <= now && now < (endsAtMs ?? Infinity);
    // A season that ended exists, even when nobody played in it.
    const isOver = kind === 'season' && endsAtMs! <= now;
    const made = runs || isOver ? await windows.ofSpec(board, spec, isOver ? startsAtMs! : now, now) : null;
    if (made?.id !== asked) throw windowNotFound(board, asked, now, startsAtMs);
    return made;
  }

  private async nameOf(scope: number): Promise<string> {
    const names = await this.scopes.namesOf([scope]);
    return names.get(scope) ?? (scope === GUILDS_SCOPE ? 'guilds' : 'global');
  }

  /** Of a hotfix the list of the patch as which its runs count, under that one's name. */
  private async scope(board: Board, names: ListNames): Promise<{ uid: number; name: string }> {
    if (board.patches && !names.ofGuilds && names.scope?.startsWith('patch:')) {
      const { countsAs } = publishedPatch(board.patches, names.scope.slice('patch:'.length), 404);
      return { uid: patchScopeOf(countsAs), name: nameOfPatch(board, countsAs) };
    }
    return { uid: await this.scopeUid(board, names), name: scopeName(names) };
  }

  private async scopeUid(board: Board, { scope, ofGuilds }: ListNames): Promise<number> {
    const kinds = scopeKindsOf(board.definition.scopes);
    if (ofGuilds) {
      if (kinds.includes('guild')) return GUILDS_SCOPE;
      throw new LadderError(
        'SCOPE_NOT_FOUND',
        `Board "${board.id}" does not rank guilds; put "guild" into its scopes.`,
      );
    }
    if (scope === undefined || scope === 'global') return GLOBAL_SCOPE;
    if (!isScopeOf(kinds, scope)) {
      const known = kinds.map((kind) => (kind === 'global' ? kind : `${kind}:…`)).join(', ');
      throw new LadderError('SCOPE_NOT_FOUND', `Board "${board.id}" has no scope "${scope}"; it has ${known}.`);
    }
    return (await this.scopes.find(scope)) ?? NEVER_USED_SCOPE;
  }

  /** An empty list, which is the same in every style. */
  private neverUsed(board: Board, window: StoredWindow, scope: string, atMs: number): ResolvedList {
    const found = this.resolved(board, window, { uid: NEVER_USED_SCOPE, name: scope }, { edition: null }, atMs);
    return { ...found, list: { ...found.list, dense: true } };
  }

  private resolved(
    board: Board,
    window: StoredWindow,
    scope: { uid: number; name: string },
    { edition, final }: FoundEdition,
    atMs: number,
    taxOrder?: number,
  ): ResolvedList {
    const { serving } = board.layouts;
    const list = listOfWindow(board, window, scope.uid, taxOrder === undefined ? serving : { ...serving, taxOrder });
    const { projection, standings } = isPerRun(board.definition) ? this.ofRuns : this.ofPlayers;
    return {
      board,
      window,
      scope: scope.name,
      list: edition === null ? list : listOfEdition(board, window, list, edition),
      ranks: edition === null ? projection : standings,
      edition,
      atMs,
      ...(final && { final }),
    };
  }
}

/**
 * Standings keep the tax that they were written under.
 * @throws PROJECTION_BEHIND where the board has not been told of it yet
 */
function listOfEdition({ patches }: Board, { id }: StoredWindow, list: RankList, edition: Edition): RankList {
  if (!patches) return { ...list, edition: edition.uid };
  const tax = patchOrderOf(patches, edition.taxOrder ?? 0);
  if (tax) return { ...list, tax, edition: edition.uid };
  const detail = `The standings of "${id}" are under a tax that is being told to the board; try again shortly.`;
  throw new LadderError('PROJECTION_BEHIND', detail, { retryAfterSeconds: 1 });
}

/** Whether a window was over before anybody used it: it was never made. */
export const isUnused = ({ uid }: StoredWindow): boolean => uid === 0;

/** `patch:1.29` */
const nameOfPatch = ({ patches }: Board, patch: number): string => `patch:${patchIdOf(patches!, patch)}`;

/** Standings keep the taxed board. */
const noStandingsOfPatches = ({ id }: StoredWindow): LadderError =>
  new LadderError(
    'NOT_SUPPORTED',
    `The standings of ${id} are kept of the taxed board alone: leave the scope out, or read a running window.`,
    { option: 'scope' },
  );

const scopeName = ({ scope, ofGuilds }: ListNames): string => (ofGuilds ? 'guilds' : (scope ?? 'global'));

const isScopeOf = (kinds: readonly string[], scope: string): boolean =>
  faultOfScope(scope) === null && kinds.includes(scope.slice(0, scope.indexOf(':')));

function windowNotFound(board: Board, name: string, now: number, startsAtMs: number | null = null): LadderError {
  const begins = startsAtMs !== null && startsAtMs > now ? ` before ${toTimestamp(startsAtMs)}` : '';
  const known = board.definition.windows.map(nameOfSpec).join(', ');
  return new LadderError('WINDOW_NOT_FOUND', `Board "${board.id}" has no window "${name}"${begins}; it has ${known}.`);
}
