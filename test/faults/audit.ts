import { setTimeout as sleep } from 'node:timers/promises';
import { naiveEntries, naiveRank, type NaiveBoard, type NaiveRun } from '../e2e/naive-board.js';
import { call } from './call.js';
import type { FaultInstallation } from './installation.js';
import { idOf, type Answered } from './load.js';
import { openPostgres, type PostgresSession } from './postgres-session.js';
import { contradictions, windowWatched, type Spectator } from './spectators.js';

export interface AuditResult {
  answered: number;
  /** Answered submissions that PostgreSQL has not, or has otherwise. */
  lost: string[];
  /** Entries that are not what their submissions make, each counted once. */
  doubled: string[];
  /** How many lists (board and window) were compared, from PostgreSQL over every api process. */
  boards: number;
  spectators: number;
  wholeAfterSeconds: number;
  /** What was not whole in time, or shown wrongly on the way; empty when all is well. */
  faults: string[];
}

export interface AuditOptions {
  /** How long the boards and spectators may take to be whole. */
  withinMs?: number;
  /** Boards whose entries do not follow from the submissions alone: an operator has removed or set some. */
  overridden?: readonly string[];
}

interface Window {
  boardUid: number;
  boardId: string;
  windowUid: number;
  windowId: string;
  startsAtMs: number;
  endsAtMs: number;
  board: NaiveBoard & { dense?: boolean };
}

/** How ranks are counted. */
type Style = 'ordinal' | 'dense';

/** A row of a list as everything is compared: place, player and what decides the place. */
type Row = string;

const WHOLE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;
const PAGE = 500;

/**
 * Compares what was answered with PostgreSQL, PostgreSQL's entries with its submissions by the naive oracle, every api's
 * lists with the entries, and what every spectator holds with the lists. The load must be over.
 */
export async function audit(
  installation: FaultInstallation,
  answered: readonly Answered[],
  spectators: readonly Spectator[],
  { withinMs = WHOLE_WITHIN_MS, overridden = [] }: AuditOptions = {},
): Promise<AuditResult> {
  const startedMs = Date.now();
  const database = await openPostgres(installation.databaseUrl);
  try {
    const windows = await windowsOf(database);
    const lost = await lostOf(database, answered);
    const lists = new Map<Window, Row[]>();
    const denseLists = new Map<Window, Row[]>();
    const doubled: string[] = [];
    for (const window of windows) {
      const entries = await entriesOf(database, window, 'ordinal');
      lists.set(window, entries);
      if (window.board.dense) denseLists.set(window, await entriesOf(database, window, 'dense'));
      if (!overridden.includes(window.boardId)) doubled.push(...(await miscounted(database, window, entries)));
    }
    let faults: string[];
    do {
      faults = [
        ...(await differences(installation, lists, 'ordinal')),
        ...(await differences(installation, denseLists, 'dense')),
        ...notHeld(spectators, lists),
      ];
      if (faults.length > 0) await sleep(LOOK_EVERY_MS);
    } while (faults.length > 0 && Date.now() - startedMs < withinMs);
    const wholeAfterSeconds = (Date.now() - startedMs) / 1000;
    faults.push(...spectators.flatMap(({ wrong, refused }) => [...wrong, ...refused]), ...contradictions(spectators));
    return {
      answered: answered.length,
      lost,
      doubled,
      boards: windows.length,
      spectators: spectators.length,
      wholeAfterSeconds,
      faults,
    };
  } finally {
    await database.end();
  }
}

async function windowsOf(database: PostgresSession): Promise<Window[]> {
  const rows = await database.query<{
    board_uid: number;
    board_id: string;
    window_uid: number;
    window_id: string;
    starts: number | null;
    ends: number | null;
    definition: Window['board'];
  }>(`SELECT board_uid, board_id, window_uid, window_id, definition,
        extract(epoch FROM starts_at)::float8 * 1000 AS starts, extract(epoch FROM ends_at)::float8 * 1000 AS ends
      FROM windows JOIN boards USING (board_uid) WHERE board_id IS NOT NULL ORDER BY board_id, window_uid`);
  return rows.map((row) => ({
    boardUid: row.board_uid,
    boardId: row.board_id,
    windowUid: row.window_uid,
    windowId: row.window_id,
    startsAtMs: row.starts ?? -Infinity,
    endsAtMs: row.ends ?? Infinity,
    board: row.definition,
  }));
}

async function lostOf(database: PostgresSession, answered: readonly Answered[]): Promise<string[]> {
  const rows = await database.query<{ board_id: string; submission_id: string; player_id: string; score: number }>(
    'SELECT board_id, submission_id, player_id, score FROM submissions JOIN boards USING (board_uid)',
  );
  const kept = new Map(rows.map((row) => [`${row.board_id}/${row.submission_id}`, row]));
  return answered
    .filter((run) => {
      const row = kept.get(idOf(run));
      return row === undefined || row.player_id !== run.playerId || row.score !== run.score;
    })
    .map(idOf);
}

async function entriesOf(database: PostgresSession, { windowUid, board }: Window, style: Style): Promise<Row[]> {
  const rows = await database.query<RunRow>(
    `SELECT player_id, score, columns, achieved_at_ms::float8 AS at_ms FROM entries
     WHERE window_uid = $1 AND NOT removed`,
    [windowUid],
  );
  return rowsOf(
    board,
    rows.map((row) => runOf(board, row)),
    style,
  );
}

/** The entries that differ from those that the submissions make. */
async function miscounted(database: PostgresSession, window: Window, entries: readonly Row[]): Promise<string[]> {
  const { boardUid, boardId, windowId, startsAtMs, endsAtMs, board } = window;
  const rows = await database.query<RunRow>(
    `SELECT player_id, score, columns, achieved_at_ms::float8 AS at_ms FROM submissions
     WHERE board_uid = $1 ORDER BY accepted_at, submission_id`,
    [boardUid],
  );
  const runs = rows.filter(({ at_ms: atMs }) => atMs >= startsAtMs && atMs < endsAtMs);
  const expected = new Set(
    rowsOf(
      board,
      runs.map((row) => runOf(board, row)),
    ),
  );
  const present = new Set(entries);
  return [
    ...entries.filter((row) => !expected.has(row)).map((row) => `${boardId} ${windowId} has ${row}`),
    ...[...expected].filter((row) => !present.has(row)).map((row) => `${boardId} ${windowId} has not ${row}`),
  ];
}

interface RunRow {
  player_id: string;
  score: number;
  columns: number[];
  at_ms: number;
}

const runOf = (
  { columns: names }: NaiveBoard,
  { player_id: playerId, score, columns, at_ms: atMs }: RunRow,
): NaiveRun => ({
  playerId,
  score,
  columns: Object.fromEntries(names.map(({ name }, index) => [name, columns[index]!])),
  atMs,
});

function rowsOf(board: NaiveBoard, runs: readonly NaiveRun[], style: Style = 'ordinal'): Row[] {
  const entries = naiveEntries(board, runs);
  return entries.map(({ playerId, score, columns, atMs }, index) =>
    rowText({ rank: naiveRank(board, entries, index, style), playerId, score, columns, atMs }),
  );
}

function rowText(row: { rank: number; playerId: string; score: number; columns: object; atMs: number }): Row {
  return `${row.rank} ${row.playerId} ${row.score} ${JSON.stringify(row.columns)} ${row.atMs}`;
}

interface ShownEntry {
  rank: number;
  playerId: string;
  score: number;
  columns?: object;
  achievedAt: string;
}

const shownText = ({ rank, playerId, score, columns = {}, achievedAt }: ShownEntry): Row =>
  rowText({ rank, playerId, score, columns, atMs: Date.parse(achievedAt) });

/** Where an api process shows another list than PostgreSQL has. */
async function differences(
  installation: FaultInstallation,
  lists: Map<Window, Row[]>,
  style: Style,
): Promise<string[]> {
  const found: string[] = [];
  for (const [{ boardId, windowId }, expected] of lists) {
    for (const { url } of installation.apis) {
      const list = `${url}/v1/boards/${boardId}`;
      const name = `${boardId} ${windowId} at ${url}, ${style}`;
      const read = { name, windowId, style, key: installation.adminKey };
      for (let offset = 0; offset === 0 || offset < expected.length; offset += PAGE) {
        const path = `${list}/entries?window=${windowId}&limit=${PAGE}&offset=${offset}&rankStyle=${style}`;
        const answer = await call(path, { key: installation.adminKey });
        if (answer.status !== 200) {
          found.push(`${name}: ${answer.status} ${answer.failure ?? JSON.stringify(answer.body)}`);
          break;
        }
        const { entries, total } = answer.body as { entries: ShownEntry[]; total: number };
        if (total !== expected.length) found.push(`${name}: total ${total} instead of ${expected.length}`);
        found.push(...unequal(name, expected.slice(offset, offset + PAGE), entries.map(shownText)));
      }
      found.push(...(await misplaced(list, read, expected)));
    }
  }
  return found;
}

/** Where the ranks of players, counted over the shards and not read from a snapshot, are others. */
async function misplaced(
  list: string,
  { name, windowId, style, key }: { name: string; windowId: string; style: Style; key: string },
  expected: readonly Row[],
): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < expected.length; at += PAGE) {
    const part = expected.slice(at, at + PAGE);
    const playerIds = part.map((row) => row.split(' ')[1]!);
    const body = { playerIds };
    const answer = await call(`${list}/lookups?window=${windowId}&rankStyle=${style}`, { method: 'POST', key, body });
    if (answer.status !== 200) {
      found.push(`${name}: lookups answered ${answer.status} ${JSON.stringify(answer.body)}`);
      continue;
    }
    const { entries, accuracy } = answer.body as { entries: (ShownEntry | null)[]; accuracy?: string };
    if (accuracy !== undefined && accuracy !== 'exact') found.push(`${name}: the ranks looked up are ${accuracy}`);
    found.push(
      ...unequal(
        `${name}, looked up`,
        part,
        entries.map((entry) => (entry ? shownText(entry) : 'none')),
      ),
    );
  }
  return found;
}

const unequal = (name: string, expected: readonly Row[], shown: readonly Row[]): string[] =>
  expected.join('\n') === shown.join('\n')
    ? []
    : [
        `${name}: missing [${expected
          .filter((row) => !shown.includes(row))
          .slice(0, 3)
          .join('; ')}], ` +
          `too many [${shown
            .filter((row) => !expected.includes(row))
            .slice(0, 3)
            .join('; ')}]`,
      ];

/** Where a spectator holds another list than PostgreSQL has. */
function notHeld(spectators: readonly Spectator[], lists: Map<Window, Row[]>): string[] {
  return spectators.flatMap((spectator) => {
    const { watched, held } = spectator;
    const windowId = windowWatched(watched);
    const window = [...lists.keys()].find((one) => one.boardId === watched.board && one.windowId === windowId);
    if (window === undefined) return [`${watched.board} has no window ${windowId}`];
    const name = `spectator ${JSON.stringify(watched)} at seq ${held.seq}`;
    if (!spectator.isLive) return [`${name} is not connected`];
    const shown = [...held.rows.values()].map((row) => shownText(row as unknown as ShownEntry)).sort(byRank);
    return unequal(name, partOf(lists.get(window)!, watched), shown);
  });
}

const byRank = (a: Row, b: Row): number => Number.parseInt(a, 10) - Number.parseInt(b, 10);

function partOf(list: readonly Row[], watched: Spectator['watched']): Row[] {
  if (watched.channel === 'top') return list.slice(0, watched.limit);
  if (watched.channel === 'range') return list.slice(watched.offset, watched.offset + watched.limit);
  const at = list.findIndex((row) => row.split(' ')[1] === watched.playerId);
  return at < 0 ? [] : list.slice(Math.max(0, at - watched.around), at + watched.around + 1);
}
