import { newcomer, periodAt, type PeriodRules, type PlayerRating } from '@laddercast/domain';
import { Injectable, Logger } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { KEPT_AFTER_END_MS } from '../entries/entry-rows.js';
import { recordPoolEvent } from '../lanes/lane-events.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { RunAgain } from '../leases/leased-task.js';
import type { FoldedEvent, PoolEvent, PoolEventFold, PoolInTurn } from '../pools/pool-events.js';
import { RatingAlgorithms } from '../pools/rating-algorithms.js';
import { RATING_JSON } from '../pools/rating-rows.js';
import { DUE_AT, IS_OVER } from '../windows/window-closing-sql.js';

/** The type of the pool event behind which lies all that windows hold whose end and grace are over. */
const LAST_FEED = 'last-feed';

/** The most windows of one look. */
const WINDOWS_AT_ONCE = 100;
/** An event may be lost with its log: who waits for so long is looked at again. */
const LOOK_AGAIN_SECONDS = 60;

interface EndedWindow {
  windowUid: number;
  endsAtMs: number;
  /** Until when its lists are kept, Unix ms. */
  keptUntilMs: number;
  poolUid: number;
  poolId: string;
  /** Of the event by which the last feed was asked for; null: it was not. */
  position: number | null;
  isDone: boolean;
}

/** One that was asked for before the window's end was moved does not count. */
const ENDED_WINDOWS = `
  SELECT w.window_uid AS "windowUid", (extract(epoch FROM w.ends_at) * 1000)::float8 AS "endsAtMs",
    (extract(epoch FROM w.ends_at) * 1000)::float8 + ${KEPT_AFTER_END_MS} AS "keptUntilMs", p.pool_uid AS "poolUid", p.pool_id AS "poolId",
    CASE WHEN l.asked_at >= ${DUE_AT} THEN l.position END AS position,
    l.asked_at >= ${DUE_AT} AND l.done_position IS NOT NULL IS TRUE AS "isDone"
  FROM windows w JOIN boards b USING (board_uid)
  JOIN pools p ON p.pool_uid = (b.feed ->> 'poolUid')::int AND p.pool_id IS NOT NULL
  LEFT JOIN last_feeds l USING (window_uid)
  WHERE b.feed IS NOT NULL AND ${IS_OVER}
    AND (l.window_uid IS NULL OR l.asked_at < ${DUE_AT} OR l.ask_at <= (SELECT ladder_now()))
  ORDER BY w.ends_at, w.window_uid LIMIT ${WINDOWS_AT_ONCE}`;

interface AskedPool {
  periods: PeriodRules | null;
  /** When the first period that has games closes, Unix ms; null: there is none. */
  closesAtMs: number | null;
  ratedPosition: number;
}

const POOL = `
  SELECT definition -> 'periods' AS periods, closes_at_ms AS "closesAtMs", rated_position AS "ratedPosition"
  FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL`;

const FORGET_EARLIER = `
  DELETE FROM last_feeds l USING windows w JOIN boards b USING (board_uid)
  WHERE l.window_uid = ANY($1::int[]) AND w.window_uid = l.window_uid AND l.asked_at < ${DUE_AT}`;

const NOTE_ASKED = `
  INSERT INTO last_feeds AS l (window_uid, position, asked_at, ask_at)
  SELECT w.window_uid, $2::bigint, ladder_now(), ladder_now() + ${LOOK_AGAIN_SECONDS} * interval '1 second'
  FROM windows w WHERE w.window_uid = ANY($1::int[])
  ON CONFLICT (window_uid) DO UPDATE SET ask_at = excluded.ask_at,
    position = coalesce(l.position, excluded.position), asked_at = coalesce(l.asked_at, excluded.asked_at)`;

const NOTE_LATER = `
  INSERT INTO last_feeds (window_uid, ask_at)
  SELECT w.window_uid, greatest(to_timestamp($2::float8 / 1000), ladder_now() + interval '1 second')
  FROM windows w WHERE w.window_uid = ANY($1::int[])
  ON CONFLICT (window_uid) DO UPDATE SET ask_at = excluded.ask_at`;

const LOOK_AGAIN = `
  UPDATE last_feeds SET ask_at = ladder_now() + ${LOOK_AGAIN_SECONDS} * interval '1 second' WHERE window_uid = ANY($1::int[])`;

const NOTE_DONE = `
  UPDATE last_feeds SET done_position = nextval('ladder_position')
  WHERE window_uid = ANY($1::int[]) AND position <= $2::bigint AND done_position IS NULL`;

/** All of a pool up to a position is on its boards, also in these windows, or noted to be filled: they may close. */
export async function noteLastFeed(sql: SqlRunner, windowUids: readonly number[], position: number): Promise<void> {
  await sql.query(NOTE_DONE, [windowUids, position]);
}

/**
 * Windows of boards that a pool feeds close once all games that were recorded until then are rated, and on the board. An
 * event of the pool says where that is: it is folded after those games, and its own event follows theirs in the log. Where a
 * pool rates by periods it is recorded after the one in which the window ends is closed, should that not be too late.
 */
@Injectable()
export class LastFeeds {
  /** Where {@link run} may find something, for a `SharedLook`. */
  readonly due = ENDED_WINDOWS;
  private readonly log = new Logger('windows');

  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
  ) {}

  /** Asks for the last feed of windows whose end and grace are over, and once more where it does not come. */
  async run(signal: AbortSignal): Promise<RunAgain | undefined> {
    const ended = await this.database.query<EndedWindow>(ENDED_WINDOWS);
    const pools = new Map<number, EndedWindow[]>();
    for (const window of ended) pools.set(window.poolUid, [...(pools.get(window.poolUid) ?? []), window]);
    await tryEach([...pools.values()], signal, (windows) => this.ask(windows));
    return ended.length === WINDOWS_AT_ONCE ? new RunAgain(0) : undefined;
  }

  private async ask(windows: readonly EndedWindow[]): Promise<void> {
    const { poolUid, poolId } = windows[0]!;
    const waiting = windows.filter(({ position }) => position !== null).length;
    if (waiting > 0) {
      this.log.warn(
        `Windows that ended stay open (${waiting} of them): pool "${poolId}", which feeds their boards, is not rated up ` +
          'to their end, or what it says is not on the boards yet.',
      );
    }
    await this.work.holding(poolId, async (transaction, lane) => {
      const [pool] = await transaction.query<AskedPool>(POOL, [poolUid]);
      if (!pool) return;
      await transaction.query(FORGET_EARLIER, [windows.map(({ windowUid }) => windowUid)]);
      const asked: number[] = [];
      const again: number[] = [];
      for (const window of windows) {
        const { windowUid, position, isDone } = window;
        const laterMs = position === null ? ratedLaterMs(window, pool) : null;
        // Before it is folded it cannot be lost.
        if (isDone || (position !== null && position > pool.ratedPosition)) again.push(windowUid);
        else if (laterMs !== null) await transaction.query(NOTE_LATER, [[windowUid], laterMs]);
        else asked.push(windowUid);
      }
      if (again.length > 0) await transaction.query(LOOK_AGAIN, [again]);
      if (asked.length === 0) return;
      const event = { type: LAST_FEED, payload: { windowUids: asked } };
      await transaction.query(NOTE_ASKED, [asked, await recordPoolEvent(transaction, { poolUid, lane }, event)]);
    });
  }
}

/**
 * When games that the window may hold are rated, as their period closes, Unix ms; null: no period is waited for. One that
 * closes when the window's lists are not kept any more is not: nobody could read the window until then.
 */
function ratedLaterMs(
  { endsAtMs, keptUntilMs }: EndedWindow,
  { periods, closesAtMs }: Pick<AskedPool, 'periods' | 'closesAtMs'>,
): number | null {
  if (periods === null || closesAtMs === null) return null;
  const last = periodAt(periods, endsAtMs - 1).closesAtMs;
  return closesAtMs <= last && last <= keptUntilMs ? closesAtMs : null;
}

/** Somebody of pool `$1`, or who was fed in one of the windows `$2` and has no rating any more. */
const SOMEBODY = `
  (SELECT player_id AS "playerId", ${RATING_JSON} AS rating FROM ratings AS r WHERE pool_uid = $1 ORDER BY player_id LIMIT 1)
  UNION ALL
  (SELECT player_id, NULL FROM entry_feeds WHERE window_uid = ANY($2::int[]) LIMIT 1)
  LIMIT 1`;

/** Changes no rating: it tells one once more, so that who feeds the boards hears of it after all that was told before. */
@Injectable()
export class LastFeedFold implements PoolEventFold {
  readonly type = LAST_FEED;
  readonly isQuick = true;

  constructor(private readonly algorithms: RatingAlgorithms) {}

  async fold(
    transaction: SqlRunner,
    { uid, definition }: PoolInTurn,
    { position, payload }: PoolEvent,
  ): Promise<FoldedEvent> {
    const { windowUids } = payload as { windowUids: number[] };
    const [found] = await transaction.query<{ playerId: string; rating: PlayerRating | null }>(SOMEBODY, [
      uid,
      windowUids,
    ]);
    if (!found) {
      // There is nothing to feed.
      const store = (sql: SqlRunner): Promise<void> => noteLastFeed(sql, windowUids, position);
      return { outcome: {}, newcomers: 0, changed: [], store };
    }
    const rating = found.rating ?? newcomer(this.algorithms.poolOf(definition));
    const told = { playerId: found.playerId, rating, playedAtMs: [], lastFeedOf: windowUids };
    return { outcome: {}, newcomers: 0, changed: [told] };
  }
}
