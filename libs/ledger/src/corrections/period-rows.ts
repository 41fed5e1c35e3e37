import {
  newcomer,
  periodNumbered,
  ratedSides,
  type Outcome,
  type PeriodChange,
  type PeriodHistory,
  type PoolGame,
  type RatedPeriodGame,
  type RatingPool,
  type RatingState,
  type Refund,
} from '@laddercast/domain';
import { textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { PERIOD_CLOSED } from '../periods/period-closer.js';
import { CLOCKS_APART_MS } from '../pools/recorded-games.js';
import { BASE_STATE, stateJson } from './state-json.js';
import { StoredRefunds } from './stored-refunds.js';

/** A closed period: a player's changes in it have positions from the first one on, up to the event that closed it. */
interface ClosedPeriod {
  readonly period: number;
  readonly firstPosition: number;
  readonly position: number;
}

interface StoredChange {
  gamePosition: number;
  engine: string;
  before: RatingState;
  after: RatingState;
  expected: number;
  k: number | null;
  outcome: Outcome;
}

/** What is stored of a player around a period. */
interface PlayerOfPeriod {
  playerId: string;
  /** null: it was a newcomer. */
  start: RatingState | null;
  changes: StoredChange[];
  /** The next rated one with a game of the player that counts, or would, were its numbers finite. */
  nextPeriod: number | null;
}

const CLOSED_PERIODS = prepared(`
  SELECT position, (payload ->> 'period')::int AS period, (payload ->> 'firstPosition')::bigint AS "firstPosition"
  FROM pool_events WHERE pool_uid = $1 AND type = '${PERIOD_CLOSED}' AND position <= $2 ORDER BY position`);

const GAMES_OF_PERIOD = prepared(`
  SELECT DISTINCT ON (g.position) g.game_id AS "gameId", g.position, g.played_at_ms AS "playedAtMs", g.weight, g.players,
    g.results
  FROM unnest($3::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT position FROM game_players WHERE pool_uid = $1 AND player_id = k.player_id AND position >= (
      SELECT position FROM games WHERE pool_uid = $1 AND period = $2 ORDER BY position LIMIT 1)) AS p
  CROSS JOIN LATERAL (
    SELECT * FROM games WHERE pool_uid = $1 AND position = p.position AND period = $2
      AND (unrated IS NULL OR unrated = 'NUMERIC') LIMIT 1) AS g
  ORDER BY g.position`);

/**
 * `$3` and `$4`: from the first position of a period to its event, `$5`: its number, `$6` and `$7`: the last period that is
 * rated, and its event. A player's next period has no change of it where its numbers were not finite; games of periods
 * after this one were recorded when it was over (`$8`, Unix ms) or later, and before the close of theirs.
 */
const PLAYERS_OF_PERIOD = prepared(`
  SELECT k.player_id AS "playerId",
    coalesce((SELECT ${stateJson('after')} FROM rating_changes AS c
        WHERE pool_uid = $1 AND player_id = k.player_id AND position < $3 ORDER BY position DESC LIMIT 1),
      (SELECT ${BASE_STATE} FROM rating_bases AS b WHERE pool_uid = $1 AND player_id = k.player_id)) AS start,
    coalesce((SELECT json_agg(json_build_object('gamePosition', c.game_position, 'engine', c.engine,
        'before', ${stateJson('before')}, 'after', ${stateJson('after')}, 'expected', c.expected, 'k', c.k,
        'outcome', c.outcome) ORDER BY c.position)
      FROM rating_changes AS c
      WHERE pool_uid = $1 AND player_id = k.player_id AND position >= $3 AND position < $4), '[]') AS changes,
    (SELECT min(g.period) FROM game_players AS p
      CROSS JOIN LATERAL (SELECT period, unrated FROM games WHERE pool_uid = $1 AND position = p.position LIMIT 1) AS g
      WHERE p.pool_uid = $1 AND p.player_id = k.player_id AND p.position >= (
          SELECT position FROM games
          WHERE pool_uid = $1 AND recorded_at >= to_timestamp(($8::bigint - ${CLOCKS_APART_MS})::float8 / 1000)
          ORDER BY recorded_at, position LIMIT 1)
        AND p.position < coalesce((
          SELECT position FROM rating_changes
          WHERE pool_uid = $1 AND player_id = k.player_id AND position > $4 AND refund IS NULL
          ORDER BY position LIMIT 1), $7)
        AND g.period > $5 AND g.period <= $6 AND (g.unrated IS NULL OR g.unrated = 'NUMERIC')) AS "nextPeriod"
  FROM unnest($2::text[]) AS k (player_id)`);

/** The periods of a pool that are rated, in their order. */
export const closedPeriods = (sql: SqlRunner, poolUid: number, ratedPosition: number): Promise<ClosedPeriod[]> =>
  sql.query<ClosedPeriod>(CLOSED_PERIODS, [poolUid, ratedPosition]);

/** What is stored of the rated periods of a pool. With the games of a period all is read of who played them. */
export class PeriodRows implements PeriodHistory {
  private games = new Map<number, PoolGame>();
  private players = new Map<string, PlayerOfPeriod>();
  private period: number | null = null;
  private readonly closed: ReadonlyMap<number, ClosedPeriod>;
  private readonly refunds: StoredRefunds;

  constructor(
    private readonly sql: SqlRunner,
    private readonly poolUid: number,
    private readonly pool: RatingPool,
    private readonly inOrder: readonly ClosedPeriod[],
  ) {
    this.closed = new Map(inOrder.map((one) => [one.period, one]));
    this.refunds = new StoredRefunds(
      sql,
      poolUid,
      (position) =>
        // Some period closed before: points are given back for games that were rated.
        inOrder.findLast((one) => one.position < position)!.period,
    );
  }

  /** Of which position on a player's changes in the period are. */
  firstPositionOf(period: number): number {
    return this.closed.get(period)!.firstPosition;
  }

  async gamesOf(period: number, playerIds: ReadonlySet<string>): Promise<readonly PoolGame[]> {
    if (playerIds.size === 0) return [];
    const games = await this.sql.query<PoolGame>(GAMES_OF_PERIOD, [this.poolUid, period, textArray([...playerIds])]);
    this.turnTo(period);
    for (const game of games) this.games.set(game.position, game);
    await this.readPlayers(
      new Set([...playerIds, ...games.flatMap(({ players }) => players.map(({ playerId }) => playerId))]),
    );
    return games;
  }

  async changeOf(playerId: string, period: number): Promise<PeriodChange | null> {
    const { changes } = await this.player(playerId, period);
    if (changes.length === 0) return null;
    return {
      playerId,
      engine: changes[0]!.engine,
      before: changes[0]!.before,
      after: changes.at(-1)!.after,
      unrated: null,
      games: changes.map(({ gamePosition, outcome, expected, k }): RatedPeriodGame => {
        const game = this.games.get(gamePosition)!;
        const other = ratedSides(game)!.find(({ members }) => !members.includes(playerId))!;
        return { game, opponentId: other.members[0]!, outcome, expected, k };
      }),
    };
  }

  async nextPeriod(playerId: string, period: number): Promise<number | null> {
    return (await this.player(playerId, period)).nextPeriod;
  }

  async stateAtStart(playerId: string, period: number): Promise<RatingState> {
    return (await this.player(playerId, period)).start ?? newcomer(this.pool).state;
  }

  refundsOf(playerId: string): Promise<readonly Refund[]> {
    return this.refunds.of(playerId);
  }

  private async player(playerId: string, period: number): Promise<PlayerOfPeriod> {
    this.turnTo(period);
    if (!this.players.has(playerId)) await this.readPlayers(new Set([playerId]));
    return this.players.get(playerId)!;
  }

  private turnTo(period: number): void {
    if (period === this.period) return;
    this.period = period;
    this.games = new Map();
    this.players = new Map();
  }

  private async readPlayers(playerIds: ReadonlySet<string>): Promise<void> {
    const period = this.period!;
    const { firstPosition, position } = this.closed.get(period)!;
    const { endsAtMs } = periodNumbered(this.pool.periods!, period)!;
    const last = this.inOrder.at(-1)!;
    const unknown = [...playerIds].filter((playerId) => !this.players.has(playerId));
    if (unknown.length === 0) return;
    const rows = await this.sql.query<PlayerOfPeriod>(PLAYERS_OF_PERIOD, [
      ...[this.poolUid, textArray(unknown), firstPosition, position, period, last.period, last.position, endsAtMs],
    ]);
    for (const row of rows) this.players.set(row.playerId, row);
  }
}
