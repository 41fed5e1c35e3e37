import {
  ratedSides,
  type PoolGame,
  type RatedGame,
  type RatedHistory,
  type RatingChange,
  type RatingState,
  type Refund,
  type UnratedReason,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { BASE_STATE, stateJson } from './state-json.js';
import { StoredRefunds } from './stored-refunds.js';

/** The most games that are read at once: those asked for next are mostly among them. */
const AHEAD_MAX = 256;

interface StoredGame extends PoolGame {
  engine: string | null;
  unrated: UnratedReason | null;
  changes: RatingChange[];
  /** The next game of each player that may be reached from this one. */
  next: Record<string, number | null>;
}

/** Whether a game `g` can be reached: with other states one whose numbers were not finite may be rated. */
const MAY_BE_REACHED = `(unrated IS NULL OR unrated = 'NUMERIC')`;

/** The game at a position, and some of those that come after it. */
const GAMES_FROM = prepared(`
  SELECT g.game_id AS "gameId", g.position, g.played_at_ms AS "playedAtMs", g.weight, g.players, g.results, g.unrated,
    of_game.engine, coalesce(of_game.changes, '[]') AS changes, of_game.next
  FROM (
    SELECT * FROM games WHERE pool_uid = $1 AND position >= $2 AND position <= $3
      AND (position = $2 OR ${MAY_BE_REACHED}) ORDER BY position LIMIT $4) AS g
  CROSS JOIN LATERAL (
    SELECT max(c.engine) AS engine,
      json_agg(json_build_object('playerId', c.player_id, 'before', ${stateJson('before')}, 'after', ${stateJson('after')},
        'expected', c.expected, 'k', c.k, 'outcome', c.outcome)) FILTER (WHERE c.player_id IS NOT NULL) AS changes,
      json_object_agg(named.player_id, (
        SELECT p.position FROM game_players AS p
        CROSS JOIN LATERAL (SELECT unrated FROM games WHERE pool_uid = $1 AND position = p.position LIMIT 1) AS later
        WHERE p.pool_uid = $1 AND p.player_id = named.player_id AND p.position > g.position AND p.position <= $3
          AND ${MAY_BE_REACHED}
        ORDER BY p.position LIMIT 1)) AS next
    FROM (SELECT player ->> 'playerId' AS player_id FROM jsonb_array_elements(g.players) AS player) AS named
    LEFT JOIN LATERAL (
      SELECT * FROM rating_changes
      WHERE pool_uid = $1 AND player_id = named.player_id AND position = g.position LIMIT 1) AS c ON true) AS of_game
  ORDER BY g.position`);

const NEXT_POSITION = prepared(`
  SELECT p.position FROM game_players AS p
  CROSS JOIN LATERAL (SELECT unrated FROM games WHERE pool_uid = $1 AND position = p.position LIMIT 1) AS later
  WHERE p.pool_uid = $1 AND p.player_id = $2 AND p.position > $3 AND p.position <= $4 AND ${MAY_BE_REACHED}
  ORDER BY p.position LIMIT 1`);

const STATE_BEFORE = prepared(`
  SELECT coalesce((
      SELECT ${stateJson('after')} FROM rating_changes AS c
      WHERE pool_uid = $1 AND player_id = $2 AND position < $3 ORDER BY position DESC LIMIT 1),
    (SELECT ${BASE_STATE} FROM rating_bases AS b WHERE pool_uid = $1 AND player_id = $2)) AS state`);

/**
 * What is stored of a pool up to the position that it is rated to. Games are read in stretches, longer ones where many of a
 * stretch were asked for: a recompute that reaches nearly everything reads nearly everything once.
 */
export class RatedRows implements RatedHistory {
  private stretch = new Map<number, StoredGame>();
  private asked = 0;
  private ahead = 1;
  private last: StoredGame | null = null;
  private readonly refunds: StoredRefunds;

  constructor(
    private readonly sql: SqlRunner,
    private readonly poolUid: number,
    private readonly ratedPosition: number,
    private readonly newcomer: RatingState,
  ) {
    this.refunds = new StoredRefunds(sql, poolUid, (position) => position);
  }

  async gameAt(position: number): Promise<RatedGame> {
    const game = this.stretch.get(position) ?? (await this.readFrom(position));
    this.asked += 1;
    this.last = game;
    const { engine, unrated, changes, gameId, playedAtMs, weight, players, results } = game;
    return {
      game: { gameId, position, playedAtMs, weight, players, results },
      ...{ engine: engine ?? '', unrated, changes: inOrderOfSides(game, changes) },
    };
  }

  async nextPosition(playerId: string, position: number): Promise<number | null> {
    // A player may be called like a property that every object has.
    const isKnown = this.last?.position === position && Object.hasOwn(this.last.next, playerId);
    if (isKnown) return this.last!.next[playerId]!;
    const [row] = await this.sql.query<{ position: number }>(NEXT_POSITION, [
      ...[this.poolUid, playerId, position, this.ratedPosition],
    ]);
    return row?.position ?? null;
  }

  async stateBefore(playerId: string, position: number): Promise<RatingState> {
    const [row] = await this.sql.query<{ state: RatingState | null }>(STATE_BEFORE, [this.poolUid, playerId, position]);
    return row?.state ?? this.newcomer;
  }

  refundsOf(playerId: string): Promise<readonly Refund[]> {
    return this.refunds.of(playerId);
  }

  private async readFrom(position: number): Promise<StoredGame> {
    const isDense = this.asked * 4 >= this.stretch.size;
    this.ahead = isDense ? Math.min(2 * this.ahead, AHEAD_MAX) : Math.max(1, Math.floor(this.ahead / 2));
    const games = await this.sql.query<StoredGame>(GAMES_FROM, [
      ...[this.poolUid, position, this.ratedPosition, this.ahead],
    ]);
    this.stretch = new Map(games.map((game) => [game.position, game]));
    this.asked = 0;
    return this.stretch.get(position)!;
  }
}

/** As a fold has them: by side, and in a side by id. */
function inOrderOfSides(game: PoolGame, changes: readonly RatingChange[]): RatingChange[] {
  const byPlayer = new Map(changes.map((change) => [change.playerId, change]));
  const members = ratedSides(game)?.flatMap((side) => side.members) ?? [];
  return members.flatMap((playerId) => byPlayer.get(playerId) ?? []);
}
