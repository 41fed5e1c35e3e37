import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { tryEach } from '../database/try-each.js';
import { recordPoolEvent } from '../lanes/lane-events.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { HISTORY_PRUNED } from './history-pruned-fold.js';
import { historyNeededFromMs } from './needed-history.js';

const DAY_MS = 86_400_000;
/** The most pools of one look. */
const POOLS_AT_ONCE = 1000;
/** The most changes and the most players of one transaction. */
const CHANGES_AT_ONCE = 5000;
const PLAYERS_AT_ONCE = 200;

interface PrunedPool {
  uid: number;
  id: string;
  keepDays: number | null;
  fromMs: number;
  isAsked: boolean;
}

/** `$1`: behind which pool. */
const POOLS = prepared(`
  SELECT pool_uid AS uid, pool_id AS id, (definition #>> '{history,keepDays}')::int AS "keepDays",
    coalesce(history_from_ms, 0) AS "fromMs",
    EXISTS (SELECT FROM pool_events AS e WHERE e.pool_uid = p.pool_uid AND e.position > p.rated_position
      AND e.type = '${HISTORY_PRUNED}') AS "isAsked"
  FROM pools AS p
  WHERE pool_uid > $1 AND pool_id IS NOT NULL AND games_recorded > 0
    AND (definition #>> '{history,keepDays}' IS NOT NULL OR pruned_position < history_position)
  ORDER BY pool_uid LIMIT ${POOLS_AT_ONCE}`);

/**
 * Folds old changes of some players into their bases: `$2` up to which position, `$3` after which player. What is folded
 * is what the DELETE found, so nothing is counted twice.
 */
const PRUNE_CHANGES = prepared(`
  WITH named AS MATERIALIZED (
    SELECT player_id FROM ratings WHERE pool_uid = $1 AND player_id > $3 ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE}
  ), old AS MATERIALIZED (
    SELECT c.player_id, c.position FROM named CROSS JOIN LATERAL (
      SELECT player_id, position FROM rating_changes
      WHERE pool_uid = $1 AND player_id = named.player_id AND position <= $2
      ORDER BY position LIMIT ${CHANGES_AT_ONCE}) AS c
    ORDER BY c.player_id, c.position LIMIT ${CHANGES_AT_ONCE}
  ), gone AS (
    DELETE FROM rating_changes AS c USING old
    WHERE c.pool_uid = $1 AND c.player_id = old.player_id AND c.position = old.position RETURNING c.*
  ), counted AS (
    SELECT c.*, g.game_id, g.played_at_ms,
      coalesce(b.games, 0) + count(*) FILTER (WHERE c.refund IS NULL)
        OVER (PARTITION BY c.player_id ORDER BY c.position) AS games_so_far,
      c.refund IS NULL AND (c.game_position IS NULL OR NOT EXISTS (SELECT FROM rating_changes AS n
        WHERE n.pool_uid = $1 AND n.player_id = c.player_id AND n.position = c.position + 1)) AS is_settled
    FROM gone AS c
    CROSS JOIN LATERAL (SELECT game_id, played_at_ms FROM games
      WHERE pool_uid = $1 AND position = coalesce(c.game_position, c.position) LIMIT 1) AS g
    LEFT JOIN rating_bases AS b ON b.pool_uid = $1 AND b.player_id = c.player_id
  ), summed AS (
    SELECT player_id, max(position) AS position, (array_agg(before_rating ORDER BY position))[1] AS first_rating,
      (array_agg(after_rating ORDER BY position DESC))[1] AS rating,
      (array_agg(after_deviation ORDER BY position DESC))[1] AS deviation,
      (array_agg(after_volatility ORDER BY position DESC))[1] AS volatility,
      (array_agg(after_memory ORDER BY position DESC))[1] AS memory,
      count(*) FILTER (WHERE refund IS NULL) AS games, count(*) FILTER (WHERE outcome = 'win') AS wins,
      count(*) FILTER (WHERE outcome = 'draw') AS draws, count(*) FILTER (WHERE outcome = 'loss') AS losses,
      (array_agg(json_build_object('rating', after_rating, 'atMs', played_at_ms, 'gameId', game_id)
        ORDER BY after_rating DESC, position) FILTER (WHERE is_settled))[1] AS peak,
      (array_agg(json_build_object('rating', after_rating, 'atMs', played_at_ms) ORDER BY after_rating DESC, position) FILTER (WHERE is_settled
        AND games_so_far >= coalesce((pools.definition #>> '{provisional,games}')::float8, 0)
        AND coalesce(after_deviation, 0)
          <= coalesce((pools.definition #>> '{provisional,deviationAbove}')::float8, 'Infinity')))[1] AS counted_peak,
      max(played_at_ms) FILTER (WHERE refund IS NULL) AS last_played_at_ms
    FROM counted JOIN pools USING (pool_uid) GROUP BY player_id
  ), folded AS (
    INSERT INTO rating_bases AS b (pool_uid, player_id, position, first_rating, rating, deviation, volatility, memory,
      games, wins, draws, losses, peak_rating, peak_at_ms, peak_game_id, counted_peak_rating, counted_peak_at_ms,
      last_played_at_ms)
    SELECT $1::int, player_id, position, first_rating, rating, deviation, volatility, memory, games, wins, draws, losses,
      (peak ->> 'rating')::float8, (peak ->> 'atMs')::bigint, peak ->> 'gameId',
      (counted_peak ->> 'rating')::float8, (counted_peak ->> 'atMs')::bigint, last_played_at_ms
    FROM summed
    ON CONFLICT (pool_uid, player_id) DO UPDATE SET position = excluded.position, rating = excluded.rating,
      deviation = excluded.deviation, volatility = excluded.volatility, memory = excluded.memory,
      games = b.games + excluded.games, wins = b.wins + excluded.wins, draws = b.draws + excluded.draws,
      losses = b.losses + excluded.losses,
      peak_rating = greatest(b.peak_rating, excluded.peak_rating),
      peak_at_ms = CASE WHEN excluded.peak_rating > coalesce(b.peak_rating, '-Infinity')
        THEN excluded.peak_at_ms ELSE b.peak_at_ms END,
      peak_game_id = CASE WHEN excluded.peak_rating > coalesce(b.peak_rating, '-Infinity')
        THEN excluded.peak_game_id ELSE b.peak_game_id END,
      counted_peak_rating = greatest(b.counted_peak_rating, excluded.counted_peak_rating),
      counted_peak_at_ms = CASE WHEN excluded.counted_peak_rating > coalesce(b.counted_peak_rating, '-Infinity')
        THEN excluded.counted_peak_at_ms ELSE b.counted_peak_at_ms END,
      last_played_at_ms = greatest(b.last_played_at_ms, excluded.last_played_at_ms)
  )
  SELECT (SELECT count(*) FROM old) AS changes, (SELECT count(*) FROM named) AS players,
    (SELECT max(player_id) FROM named) AS "lastPlayer"`);

const NOTE_PRUNED = prepared('UPDATE pools SET pruned_position = $2 WHERE pool_uid = $1');

/**
 * Deletes changes of ratings that a pool keeps no longer (`history.keepDays`), a chunk at a time. What they came to stays,
 * one row a player, so that counts, peaks and first ratings are as if they were there.
 */
@Injectable()
export class RatingHistoryPruner {
  /** Behind which pool the next look goes on: a pool with `keepDays` never leaves those that are looked at. */
  private behind = 0;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const pools = await this.database.query<PrunedPool>(POOLS, [this.behind]);
    this.behind = pools.length < POOLS_AT_ONCE ? 0 : pools.at(-1)!.uid;
    await tryEach(pools, signal, async (pool) => {
      await this.ask(pool);
      await this.prune(pool.uid, signal);
    });
  }

  /** Asks, once a day, for older changes to be given up: the pool does in its turn. */
  private async ask({ uid, id, keepDays, fromMs, isAsked }: PrunedPool): Promise<void> {
    if (keepDays === null || isAsked) return;
    if ((await historyNeededFromMs(this.database, uid, keepDays)) - fromMs < DAY_MS) return;
    await this.work.holding(id, (transaction, lane) =>
      recordPoolEvent(transaction, { poolUid: uid, lane }, { type: HISTORY_PRUNED, payload: {} }),
    );
  }

  /** Deletes what was given up. */
  private async prune(poolUid: number, signal: AbortSignal): Promise<void> {
    const [pool] = await this.database.query<{ position: number }>(
      'SELECT history_position AS position FROM pools WHERE pool_uid = $1 AND pruned_position < history_position',
      [poolUid],
    );
    if (!pool) return;
    for (let after = ''; !signal.aborted;) {
      const done = await this.pruneChunk(poolUid, pool.position, after);
      // Another process is at it.
      if (done === null) return;
      if (done.changes === CHANGES_AT_ONCE) continue;
      if (done.players < PLAYERS_AT_ONCE) {
        await this.database.query(NOTE_PRUNED, [poolUid, pool.position]);
        return;
      }
      after = done.lastPlayer;
    }
  }

  private pruneChunk(
    poolUid: number,
    position: number,
    after: string,
  ): Promise<{ changes: number; players: number; lastPlayer: string } | null> {
    return this.database.transaction(async (transaction) => {
      const [lock] = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
        ADVISORY_LOCKS.ratingHistory,
        poolUid,
      ]);
      if (!lock!.taken) return null;
      const [done] = await transaction.query<{ changes: number; players: number; lastPlayer: string }>(PRUNE_CHANGES, [
        ...[poolUid, position, after],
      ]);
      return done!;
    });
  }
}
