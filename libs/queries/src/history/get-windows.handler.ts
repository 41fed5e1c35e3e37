import { nameOfSpec, specOf, validationFailed, windowOfId, type Board, type StoredWindow } from '@laddercast/domain';
import { PostgresDatabase, WindowCatalog, type LedgerClock } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { describeWindow } from '../rows/list-reader.js';
import { ListResolver } from '../lists/list-resolver.js';
import { GetWindowsQuery, type ListedWindow, type ListedWindowState, type WindowsPage } from '../queries.js';

/** Windows that ended, the last to end first, after the one at `$4` and `$5`. Ends are microseconds. */
const ENDED_SQL = `
  SELECT w.window_uid, w.window_id, w.kind, w.state, (extract(epoch FROM w.ends_at) * 1000000)::bigint AS ends_at_us,
    floor(extract(epoch FROM w.starts_at) * 1000)::bigint AS starts_at_ms,
    floor(extract(epoch FROM w.freeze_at) * 1000)::bigint AS freeze_at_ms, final.version, final.entries
  FROM windows w
  LEFT JOIN LATERAL (
    SELECT e.version, coalesce(t.total, 0) AS entries
    FROM editions e LEFT JOIN edition_scopes t ON t.edition_uid = e.edition_uid AND t.scope_uid = 0
    WHERE e.window_uid = w.window_uid AND e.kind = 'final' ORDER BY e.as_of DESC LIMIT 1) AS final ON true
  WHERE w.board_uid = $1 AND (w.ends_at <= to_timestamp($2::float8 / 1000) OR w.state <> 'open')
    AND ($3::text IS NULL OR (w.state = 'settled') = ($3 = 'settled'))
    AND (w.ends_at, w.window_uid) < ('epoch'::timestamptz + $4::float8 * interval '1 microsecond', $5::int)
  ORDER BY w.ends_at DESC, w.window_uid DESC LIMIT $6`;

interface EndedRow {
  window_uid: number;
  window_id: string;
  kind: StoredWindow['kind'];
  state: StoredWindow['state'];
  starts_at_ms: number | null;
  ends_at_us: number;
  freeze_at_ms: number | null;
  version: number | null;
  entries: number | null;
}

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
  ) {}

  async execute({ boardId, limit, cursor, state }: GetWindowsQuery): Promise<WindowsPage> {
    const board = this.resolver.board(boardId);
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
    const page = placed.slice(0, limit);
    return {
      board: board.id,
      windows: page.map(({ window }) => window),
      next: placed.length > limit ? cursorOf(page.at(-1)!) : null,
    };
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
    const rows = await this.database.query<EndedRow>(ENDED_SQL, [board.uid, now, state ?? null, first, second, limit]);
    return rows.map((row) => {
      const window: StoredWindow = {
        uid: row.window_uid,
        id: row.window_id,
        kind: row.kind,
        state: row.state,
        startsAtMs: row.starts_at_ms,
        endsAtMs: Math.floor(row.ends_at_us / 1000),
        freezeAtMs: row.freeze_at_ms,
      };
      const { version, entries } = row;
      const shown = listed(window, row.state === 'settled' ? 'settled' : 'ended', this.resolver.clock, {
        version,
        entries,
      });
      return { group: 'ended', first: row.ends_at_us, second: row.window_uid, window: shown };
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
  const freezeAt = window.freezeAtMs === null ? null : toTimestamp(window.freezeAtMs);
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
