import {
  dueAtMs,
  firstRollingHour,
  HOUR_MS,
  isWindowOpen,
  LadderError,
  rollingHours,
  windowOfId,
  type Board,
  type StoredWindow,
} from '@laddercast/domain';
import { inParts } from '@laddercast/platform';
import type { WindowCatalog } from '../catalogs/window-catalog.js';
import { StaleBoardError, type LedgerWrite, type SubmitWrite } from '../entries/ledger-writes.js';

/** A run or a game may lie this far ahead of the database's clock; it then becomes now. */
export const FUTURE_TOLERANCE_MS = 60_000;

/** Boards whose windows are made while their lane is held. */
const MADE_UNDER_LANE_MAX = 8;
/** Boards whose windows are made side by side. */
const BOARDS_AT_ONCE = 4;

/** The look-ups of a board's windows, which are made when needed. */
export type PlacementWindows = Pick<WindowCatalog, 'cachedAt' | 'at' | 'ofId'>;

/** A write with its time settled and the windows it goes to; the first of them is the one that is answered. */
export interface PlacedWrite<Write extends LedgerWrite = LedgerWrite> {
  write: Write;
  /** When it happened, and when it is counted: Unix ms by the database's clock. */
  atMs: number;
  nowMs: number;
  windows: StoredWindow[];
}

/** The windows of a write, as far as reading needs them. */
export type ExpectedPlace = Pick<PlacedWrite, 'write' | 'atMs' | 'windows'>;

/** The windows that a write will probably go to, by this process's memory and the expected time. */
export function expectedPlace(
  write: LedgerWrite,
  nowMs: number,
  catalog: Pick<WindowCatalog, 'madeAt'>,
): ExpectedPlace {
  if (write.kind === 'feed') return { write, atMs: nowMs, windows: write.entries.map(({ window }) => window) };
  const atMs = write.kind === 'override' ? nowMs : Math.min(write.achievedAtMs ?? nowMs, nowMs);
  return { write, atMs, windows: catalog.madeAt(write.board, atMs) ?? [] };
}

/**
 * Makes the windows of now of many boards, where this process does not remember them: a lane is not to be held for all those of
 * the start of a day. For a few it may be, by a time that is known for sure.
 */
export async function makeWindowsOfMany(
  writes: readonly LedgerWrite[],
  nowMs: number,
  catalog: Pick<WindowCatalog, 'cachedAt' | 'at'>,
): Promise<void> {
  const boards = new Map(writes.flatMap((write) => (write.kind === 'feed' ? [] : [[write.board.uid, write.board]])));
  const missing = [...boards.values()].filter((board) => catalog.cachedAt(board, nowMs, nowMs) === undefined);
  if (missing.length <= MADE_UNDER_LANE_MAX) return;
  await inParts(missing, BOARDS_AT_ONCE, (board) => catalog.at(board, nowMs, nowMs).catch(leaveToCommit));
}

/** The commit finds it again, for the write that it is of. */
function leaveToCommit(error: unknown): void {
  if (!(error instanceof LadderError || error instanceof StaleBoardError)) throw error;
}

/**
 * Finds the windows that a write goes to, by its time and their stored bounds.
 * @throws the write's own refusal, ACHIEVED_AT_IN_FUTURE, WINDOW_CLOSED, WINDOW_MISMATCH
 */
export async function placeWrite(write: LedgerWrite, nowMs: number, catalog: PlacementWindows): Promise<PlacedWrite> {
  const { board } = write;
  const { graceSeconds } = board.definition;
  if (write.kind === 'feed') {
    // Which games were recorded in time says the feed: a window whose end is over closes when all of them are in.
    const windows = write.entries.map(({ window }) => window);
    return { write, atMs: nowMs, nowMs, windows: windows.filter(({ state }) => state === 'open') };
  }
  const atMs = write.kind === 'override' ? nowMs : timeOfRun(write, nowMs);
  const holding = await windowsHolding(board, atMs, nowMs, catalog);
  const open = holding.filter((window) => isWindowOpen(window, graceSeconds, nowMs));
  if (write.kind === 'override') return { write, atMs, nowMs, windows: open };
  if (write.windowId === null) {
    if (open.length === 0) throw windowClosed(holding.map((window) => window.id));
    return { write, atMs, nowMs, windows: open };
  }
  const named = open.find((window) => window.id === write.windowId);
  if (!named) throw await refusalOfNamed(write.windowId, write, { atMs, nowMs, open, catalog });
  return { write, atMs, nowMs, windows: [named, ...open.filter((window) => window !== named)] };
}

/**
 * Places a submission by memory alone, by a time that has passed a moment ago.
 * @param untilMs until then, from `fromMs` on, the write would go the same way
 * @returns null where it would not, where something is to be looked up, and where the write is refused
 */
export function placeAhead(
  write: SubmitWrite,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
  catalog: Pick<PlacementWindows, 'cachedAt'>,
): PlacedWrite<SubmitWrite> | null {
  const { board, achievedAtMs, refusal, windowId } = write;
  // A time ahead of the ledger's becomes that, which is not known.
  if (refusal !== null || (achievedAtMs !== null && achievedAtMs > fromMs)) return null;
  const atMs = achievedAtMs ?? fromMs;
  const holding = catalog.cachedAt(board, atMs, fromMs);
  if (!holding || holding.some((window) => window.kind === 'rolling' || passesBound(window, board, fromMs, untilMs)))
    return null;
  if (achievedAtMs === null && !areSame(holding, catalog.cachedAt(board, untilMs, fromMs))) return null;
  const open = holding.filter((window) => isWindowOpen(window, board.definition.graceSeconds, fromMs));
  const first = windowId === null ? open[0] : open.find((window) => window.id === windowId);
  if (!first) return null;
  return { write, atMs, nowMs: fromMs, windows: [first, ...open.filter((window) => window !== first)] };
}

/** Whether the window freezes, ends, or stops taking runs in between. */
function passesBound(
  { freezeAtMs, endsAtMs }: StoredWindow,
  { definition }: Board,
  fromMs: number,
  untilMs: number,
): boolean {
  const isBetween = (atMs: number): boolean => fromMs < atMs && atMs <= untilMs;
  if (freezeAtMs !== null && isBetween(freezeAtMs)) return true;
  return endsAtMs !== null && (isBetween(endsAtMs) || isBetween(dueAtMs({ endsAtMs }, definition.graceSeconds)));
}

const areSame = (windows: readonly StoredWindow[], others: readonly StoredWindow[] | undefined): boolean =>
  windows.length === others?.length && windows.every(({ uid }, index) => uid === others[index]!.uid);

async function windowsHolding(
  board: Board,
  atMs: number,
  nowMs: number,
  catalog: Pick<PlacementWindows, 'cachedAt' | 'at'>,
): Promise<StoredWindow[]> {
  const windows = catalog.cachedAt(board, atMs, nowMs) ?? (await catalog.at(board, atMs, nowMs));
  return windows.filter((window) => reaches(window, atMs, nowMs));
}

/** The windows of a board that hold an instant and take entries now, in the order of its definition. */
export async function openWindowsAt(
  board: Board,
  atMs: number,
  nowMs: number,
  catalog: Pick<PlacementWindows, 'cachedAt' | 'at'>,
): Promise<StoredWindow[]> {
  const holding = await windowsHolding(board, atMs, nowMs, catalog);
  return holding.filter((window) => isWindowOpen(window, board.definition.graceSeconds, nowMs));
}

function timeOfRun(
  { refusal, achievedAtMs }: { refusal: LadderError | null; achievedAtMs: number | null },
  nowMs: number,
): number {
  if (refusal) throw refusal;
  const given = achievedAtMs ?? nowMs;
  if (given <= nowMs + FUTURE_TOLERANCE_MS) return Math.min(given, nowMs);
  throw new LadderError(
    'ACHIEVED_AT_IN_FUTURE',
    `achievedAt lies ${Math.ceil((given - nowMs) / 1000)} s ahead of the server; at most ${FUTURE_TOLERANCE_MS / 1000} s are tolerated.`,
  );
}

/** Rolling windows hold the hours that have not left them. */
const reaches = (window: StoredWindow, atMs: number, nowMs: number): boolean =>
  window.kind !== 'rolling' || Math.floor(atMs / HOUR_MS) >= firstRollingHour(rollingHours(window.id), nowMs);

async function refusalOfNamed(
  windowId: string,
  { board, achievedAtMs }: SubmitWrite,
  { atMs, nowMs, open, catalog }: { atMs: number; nowMs: number; open: StoredWindow[]; catalog: PlacementWindows },
): Promise<LadderError> {
  const { windows, timeZone, graceSeconds } = board.definition;
  const calculated = windowOfId(windows, timeZone, windowId);
  const asked = (await catalog.ofId(board, windowId)) ?? (calculated && { ...calculated, state: 'open' as const });
  if (asked && !isWindowOpen(asked, graceSeconds, nowMs)) return windowClosed([windowId]);
  const time = new Date(atMs).toISOString();
  if (!asked) {
    const goesTo = `a run ${achievedAtMs === null ? 'now' : `of ${time}`} goes to ${open.map(({ id }) => id).join(', ') || 'none'}`;
    return new LadderError(
      'WINDOW_MISMATCH',
      `Board "${board.id}" has no window with the id "${windowId}"; ${goesTo}.`,
    );
  }
  const detail =
    achievedAtMs !== null
      ? `does not hold ${time}; send the achievedAt of a run that was played in it, or another window.`
      : `does not hold now, ${time}, which is the time of a run without achievedAt; send when it was played.`;
  return new LadderError('WINDOW_MISMATCH', `The window "${windowId}" ${detail}`);
}

function windowClosed(ids: string[]): LadderError {
  const detail =
    ids.length === 0
      ? 'No window of the board holds that time.'
      : `${ids.join(', ')} no longer takes runs: the grace after the end is over, or it was closed.`;
  return new LadderError('WINDOW_CLOSED', detail);
}
