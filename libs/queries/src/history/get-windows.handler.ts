import {
  LadderError,
  nameOfSpec,
  specOf,
  validationFailed,
  windowOfId,
  type Board,
  type StoredWindow,
} from '@laddercast/domain';
import { endedWindows, PostgresDatabase, WindowCatalog, type LedgerClock } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { describeWindow, ListReader } from '../rows/list-reader.js';
import { ListResolver } from '../lists/list-resolver.js';
import { GetWindowsQuery, type ListedWindow, type ListedWindowState, type WindowsPage } from '../queries.js';
import { cutPage } from '../shared/cut-page.js';

/** Where a window stands in the list: running ones, upcoming ones, ended ones; within each by two numbers. */
interface Place {
  group: Group;
  first: number;
  second: number;
}

type Group = 'running' | 'upcoming' | 'ended';
const GROUPS: readonly Group[] = ['running', 'upcoming', 'ended'];
/** After every end there can be: 9999-12-31, microseconds. */
const LATEST_US = 253_402_300_799_999_000;
const UID_MAX = 2_147_483_647;
const CURSOR = /^(running|upcoming|ended):(-?\d{1,18})\.(-?\d{1,10})$/;

type PlacedWindow = Place & { window: ListedWindow };

/** The windows of a board: running ones in the order of its definition, seasons to come, then ended ones, newest first. */
@QueryHandler(GetWindowsQuery)
export class GetWindowsHandler implements IQueryHandler<GetWindowsQuery> {
  constructor(
    private readonly resolver: ListResolver,
    private readonly windows: WindowCatalog,
    private readonly database: PostgresDatabase,
    private readonly reader: ListReader,
  ) {}

  async execute({ boardId, limit, cursor, state, readerId }: GetWindowsQuery): Promise<WindowsPage> {
    const board = await this.resolver.board(boardId);
    const after = cursor === undefined ? null : placeOf(cursor);
    const now = this.resolver.clock.nowMs();
    const wants = (one: ListedWindowState): boolean => state === undefined || state === one;
    const found: PlacedWindow[] = [];
    if (wants('running')) found.push(...(await this.running(board, now)));
    if (wants('upcoming')) found.push(...(await this.upcoming(board, now)));
    const placed = found.filter((one) => after === null || comparePlaces(one, after) > 0).sort(comparePlaces);
    if ((wants('ended') || wants('settled')) && placed.length <= limit) {
      // First those that nobody used: to look for one makes it where its grace is not over yet.
      const unused = state === 'ended' ? [] : await this.unused(board, now);
      const ended = await this.ended(board, now, limit + 1 - placed.length, state, after);
      const behind = unused.filter((one) => after === null || comparePlaces(one, after) > 0);
      placed.push(...[...behind, ...ended].sort(comparePlaces));
    }
    const { page, next } = cutPage(placed, limit, cursorOf);
    const windows = page.map(({ window }) => window);
    const isShadowed = readerId !== undefined && (await this.reader.isShadowed(readerId, board.id));
    return { board: board.id, windows: isShadowed ? await this.asCountedBy(readerId, board, windows) : windows, next };
  }

  /** A shadowed player counts itself in the standings of windows that ended. */
  private async asCountedBy(readerId: string, board: Board, windows: readonly ListedWindow[]): Promise<ListedWindow[]> {
    const counted: ListedWindow[] = [];
    for (const window of windows) {
      // What is not written yet has no number, and what nobody played has no entry of its own.
      const isWritten = window.version !== null;
      counted.push(isWritten ? { ...window, entries: await this.entriesFor(readerId, board, window) } : window);
    }
    return counted;
  }

  private async entriesFor(readerId: string, board: Board, { id, entries }: ListedWindow): Promise<number | null> {
    try {
      const { resolved } = await this.reader.open({ boardId: board.id, window: id, readerId });
      return (await resolved.ranks.total(resolved.list)).total;
    } catch (error) {
      // Standings that went are listed, with how many they were.
      if (error instanceof LadderError && error.code === 'SNAPSHOT_GONE') return entries;
      throw error;
    }
  }

  /** Those that nobody has used yet too. */
  private async running(board: Board, now: number): Promise<PlacedWindow[]> {
    const specs = board.definition.windows;
    const windows = await this.windows.at(board, now, now);
    return windows
      .filter(({ uid, state }) => uid !== 0 && state === 'open')
      .map((window) => {
        const spec = specOf(specs, window.id);
        // Those of an earlier definition come last.
        const first = spec ? specs.indexOf(spec) : specs.length;
        return { group: 'running', first, second: window.uid, window: listed(window, 'running', this.resolver.clock) };
      });
  }

  private async upcoming(board: Board, now: number): Promise<PlacedWindow[]> {
    const { windows, timeZone } = board.definition;
    const found: PlacedWindow[] = [];
    for (const [second, spec] of windows.entries()) {
      if (typeof spec === 'string' || !('season' in spec)) continue;
      const id = nameOfSpec(spec);
      const known = (await this.windows.ofId(board, id)) ?? windowOfId(windows, timeZone, id);
      if (!known || known.startsAtMs === null || known.startsAtMs <= now) continue;
      const window = listed({ uid: 0, state: 'open', ...known }, 'upcoming', this.resolver.clock);
      found.push({ group: 'upcoming', first: known.startsAtMs, second, window });
    }
    return found;
  }

  /** Seasons that were over before anybody used them. */
  private async unused(board: Board, now: number): Promise<PlacedWindow[]> {
    const found: PlacedWindow[] = [];
    for (const [at, spec] of board.definition.windows.entries()) {
      if (typeof spec === 'string' || !('season' in spec) || Date.parse(spec.endsAt) > now) continue;
      const window = await this.windows.ofSpec(board, spec, Date.parse(spec.startsAt), now);
      if (window?.uid !== 0) continue;
      const shown = listed(window, 'settled', this.resolver.clock, { version: null, entries: 0 });
      // Stored windows have numbers from 1 on.
      found.push({ group: 'ended', first: window.endsAtMs! * 1000, second: -at, window: shown });
    }
    return found;
  }

  private async ended(
    board: Board,
    now: number,
    limit: number,
    state: ListedWindowState | undefined,
    after: Place | null,
  ): Promise<PlacedWindow[]> {
    const [first, second] = after?.group === 'ended' ? [after.first, after.second] : [LATEST_US, UID_MAX];
    const before = { endsAtUs: first, uid: second };
    const ended = await endedWindows(this.database, board.uid, { nowMs: now, state, before, limit });
    return ended.map(({ window, endsAtUs, version, entries }) => {
      const shownState = window.state === 'settled' ? 'settled' : 'ended';
      const shown = listed(window, shownState, this.resolver.clock, { version, entries });
      return { group: 'ended', first: endsAtUs, second: window.uid, window: shown };
    });
  }
}

function listed(
  window: StoredWindow,
  state: ListedWindowState,
  clock: LedgerClock,
  final: Pick<ListedWindow, 'version' | 'entries'> = { version: null, entries: null },
): ListedWindow {
  const { id, ...times } = describeWindow(window, clock.nowMs());
  const { freezeAtMs, endsAtMs } = window;
  // A season that was ended before its freeze has none.
  const hasFreeze = freezeAtMs !== null && (endsAtMs === null || freezeAtMs < endsAtMs);
  const freezeAt = hasFreeze ? toTimestamp(freezeAtMs) : null;
  return { id, kind: window.kind, state, ...times, freezeAt, isFrozen: clock.isFrozen(window), ...final };
}

/** Ended ones come newest first, all others in the order of their numbers. */
function comparePlaces(a: Place, b: Place): number {
  if (a.group !== b.group) return GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group);
  const order = a.first - b.first || a.second - b.second;
  return a.group === 'ended' ? -order : order;
}

const cursorOf = ({ group, first, second }: Place): string => `${group}:${first}.${second}`;

/** @throws VALIDATION_FAILED */
function placeOf(cursor: string): Place {
  const [, group, first, second] = CURSOR.exec(cursor) ?? [];
  const place = { group: group as Group, first: Number(first), second: Number(second) };
  if (group === undefined || Math.abs(place.first) > LATEST_US || Math.abs(place.second) > UID_MAX) {
    throw validationFailed([{ pointer: '?cursor', message: 'is not a cursor of this list' }]);
  }
  return place;
}
