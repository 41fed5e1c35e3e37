import { isDeepStrictEqual } from 'node:util';
import type { BoardHistory, EntryState } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { arrayLiteral } from '../entries/entry-rows.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { shadowedEntries } from '../sanctions/unranked-entry.js';

const MINUTE_MS = 60_000;
/** The longest stretch that a board may have. */
const STRETCH_MS_MAX = 1440 * MINUTE_MS;

/** Where an entry stood when its state was recorded. */
export interface RecordedRank {
  /** 1-based, ordinal. */
  rank: number;
  total: number;
  /** Whether it is the rank of the recorded state, and not of one before or after it. */
  isExact: boolean;
  rankedAtMs: number;
}

/** A player's entry at the end of one stretch of time. */
export interface HistoryPoint {
  windowUid: number;
  playerId: string;
  /** The beginning of the stretch, Unix ms: see {@link stretchOf}. */
  stretchMs: number;
  /** When the ledger changed the entry, Unix ms. */
  atMs: number;
  version: number;
  /** null: the entry was removed. */
  score: number | null;
  columns: number[];
  /** null: the rank could not be read in time. */
  ranked: RecordedRank | null;
}

/** A state with when its entry was achieved, Unix ms; null: there is none. */
type AchievedState = Omit<HistoryPoint, 'atMs' | 'version' | 'ranked'> & { achievedAtMs: number | null };

/** The beginning of the board's stretch that holds an instant; both Unix ms. All stretches count from 1970. */
export function stretchOf({ everyMinutes }: BoardHistory, atMs: number): number {
  const lengthMs = everyMinutes * MINUTE_MS;
  return Math.floor(atMs / lengthMs) * lengthMs;
}

/** Nothing is written for boards that are gone, so purged points do not come back. */
const RECORD = `
  INSERT INTO entry_history AS h (window_uid, player_id, stretch_ms, at_ms, version, score, columns, rank, is_exact,
    total, ranked_at_ms)
  SELECT p.window_uid, p.player_id, p.stretch_ms, p.at_ms, p.version, p.score, p.columns::float8[], p.rank, p.is_exact,
    p.total, p.ranked_at_ms
  FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::text[], $8::int[],
    $9::boolean[], $10::int[], $11::bigint[])
    AS p (window_uid, player_id, stretch_ms, at_ms, version, score, columns, rank, is_exact, total, ranked_at_ms)
  CROSS JOIN LATERAL (SELECT board_uid FROM windows WHERE window_uid = p.window_uid LIMIT 1) AS w
  CROSS JOIN LATERAL (
    SELECT FROM boards WHERE board_uid = w.board_uid AND board_id IS NOT NULL LIMIT 1) AS b
  ON CONFLICT (window_uid, player_id, stretch_ms) DO UPDATE SET at_ms = excluded.at_ms, version = excluded.version,
    score = excluded.score, columns = excluded.columns, rank = excluded.rank, is_exact = excluded.is_exact,
    total = excluded.total, ranked_at_ms = excluded.ranked_at_ms
  WHERE h.version < excluded.version`;

const READ = `
  SELECT stretch_ms, at_ms, version, score, columns, rank, is_exact, total, ranked_at_ms FROM entry_history
  WHERE window_uid = $1 AND player_id = $2 AND stretch_ms < $3 AND stretch_ms > $4 AND at_ms >= $5 AND at_ms < $6
  ORDER BY stretch_ms DESC LIMIT $7`;

/** A player's newest point up to a stretch, by one probe for each. */
const NEWEST = `
  SELECT k.at::int - 1 AS at, p.score, p.columns, p.at_ms FROM unnest($1::int[], $2::text[], $3::bigint[])
    WITH ORDINALITY AS k (window_uid, player_id, stretch_ms, at)
  CROSS JOIN LATERAL (
    SELECT score, columns, at_ms FROM entry_history
    WHERE window_uid = k.window_uid AND player_id = k.player_id AND stretch_ms <= k.stretch_ms
    ORDER BY stretch_ms DESC LIMIT 1) AS p`;

type NewestRow = Pick<PointRow, 'score' | 'columns' | 'at_ms'> & { at: number };

interface PointRow {
  stretch_ms: number;
  at_ms: number;
  version: number;
  score: number | null;
  columns: number[];
  rank: number | null;
  is_exact: boolean | null;
  total: number | null;
  ranked_at_ms: number | null;
}

/** Which points are read: from `fromMs` to before `toMs`, and of stretches that begin before `beforeStretchMs`. */
export interface HistorySpan {
  fromMs: number;
  toMs: number;
  beforeStretchMs: number;
  limit: number;
}

/** Players' scores and ranks over time: one row for each player, window and stretch. */
@Injectable()
export class EntryHistory {
  constructor(private readonly database: PostgresDatabase) {}

  /** The clock that points are dated by. */
  nowMs(): Promise<number> {
    return ledgerNowMs(this.database);
  }

  /**
   * The states of shadowed players' entries, of which the log says that there are none: to themselves they are ranked.
   * @param states without a score
   * @returns in the order given; `changed since`: the log is yet to bring a later one; undefined: it has none of the kind
   */
  async ofShadowed(
    states: readonly Pick<HistoryPoint, 'windowUid' | 'playerId' | 'version'>[],
  ): Promise<(EntryState | 'changed since' | undefined)[]> {
    const entries = await shadowedEntries(this.database, states);
    return entries.map((entry, at) => (entry && entry.version > states[at]!.version ? 'changed since' : entry));
  }

  /** Those of the states that the player's newest point has already. */
  async told<State extends AchievedState>(states: readonly State[]): Promise<ReadonlySet<State>> {
    if (states.length === 0) return new Set();
    const rows = await this.database.query<NewestRow>(NEWEST, [
      states.map(({ windowUid }) => windowUid),
      states.map(({ playerId }) => playerId),
      states.map(({ stretchMs }) => stretchMs),
    ]);
    return new Set(rows.filter((row) => isOf(row, states[row.at]!)).map((row) => states[row.at]!));
  }

  /**
   * Records the points. The highest version of a stretch stays, in whatever order and however often points come.
   * @param given each player, window and stretch at most once
   */
  async record(given: readonly HistoryPoint[]): Promise<void> {
    if (given.length === 0) return;
    // In one order, so that two processes that record the same wait for each other and do not deadlock.
    const points = [...given].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    await this.database.query(RECORD, [
      points.map(({ windowUid }) => windowUid),
      points.map(({ playerId }) => playerId),
      points.map(({ stretchMs }) => stretchMs),
      points.map(({ atMs }) => atMs),
      points.map(({ version }) => version),
      points.map(({ score }) => score),
      points.map(({ columns }) => arrayLiteral(columns)),
      points.map(({ ranked }) => ranked?.rank ?? null),
      points.map(({ ranked }) => ranked?.isExact ?? null),
      points.map(({ ranked }) => ranked?.total ?? null),
      points.map(({ ranked }) => ranked?.rankedAtMs ?? null),
    ]);
  }

  /** A player's points in a window, the newest stretch first. */
  async read(windowUid: number, playerId: string, span: HistorySpan): Promise<HistoryPoint[]> {
    const { fromMs, toMs, beforeStretchMs, limit } = span;
    const rows = await this.database.query<PointRow>(READ, [
      windowUid,
      playerId,
      Math.min(beforeStretchMs, toMs),
      fromMs - STRETCH_MS_MAX,
      fromMs,
      toMs,
      limit,
    ]);
    return rows.map((row) => ({
      windowUid,
      playerId,
      stretchMs: row.stretch_ms,
      atMs: row.at_ms,
      version: row.version,
      score: row.score,
      columns: row.columns,
      ranked: rankOf(row),
    }));
  }
}

/** What was achieved later is another state, of whatever score. */
const isOf = (point: NewestRow, { score, columns, achievedAtMs }: AchievedState): boolean =>
  achievedAtMs !== null &&
  achievedAtMs <= point.at_ms &&
  point.score === score &&
  isDeepStrictEqual(point.columns, columns);

const keyOf = ({ windowUid, stretchMs, playerId }: HistoryPoint): string => `${windowUid}/${stretchMs}/${playerId}`;

function rankOf({ rank, is_exact, total, ranked_at_ms }: PointRow): RecordedRank | null {
  if (rank === null) return null;
  return { rank, total: total!, isExact: is_exact!, rankedAtMs: ranked_at_ms! };
}
