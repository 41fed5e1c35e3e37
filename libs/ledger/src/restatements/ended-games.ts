import {
  fedEntry,
  momentOf,
  rankabilityOf,
  type FedEntry,
  type RatingPool,
  type RatingState,
  type WindowOfGames,
} from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { BEFORE_AND_AFTER, bestGame, gamesFrom, positionSince } from '../feeds/fed-state.js';
import type { RestatedWindow } from './restated-window.js';

/** A player's games in a window that ended, summed up. */
interface EndedGames extends Omit<WindowOfGames, 'state'> {
  readonly after: RatingState;
  /** How many the player had in the pool after the last of them. */
  readonly gamesSoFar: number;
}

/** A player, and until which millisecond a game had to be recorded to be among its games, Unix ms; null: it does not matter. */
export interface PlayerUpTo {
  readonly playerId: string;
  readonly recordedUpToMs: number | null;
}

/** Of players `$2` in the time from `$4` to before `$5`, by the rules in `$6`; null: no game. */
const ENDED_GAMES = `
  SELECT CASE WHEN w.games = 0 THEN NULL ELSE to_json(w) END AS games
  FROM unnest($2::text[], $3::float8[]) WITH ORDINALITY AS k (player_id, recorded_up_to, n)
  CROSS JOIN LATERAL (
    SELECT count(*) AS games, count(*) FILTER (WHERE outcome = 'win') AS wins,${BEFORE_AND_AFTER},
      (array_agg(games_so_far ORDER BY position DESC))[1] AS "gamesSoFar",
      ${bestGame('$6::jsonb')} AS peak, max(played_at_ms) AS "lastPlayedAtMs"
    FROM (${gamesFrom(positionSince('$4::bigint'))}) AS recorded
    WHERE played_at_ms >= $4::bigint AND played_at_ms < $5::bigint
      AND (k.recorded_up_to IS NULL OR recorded_at < to_timestamp((k.recorded_up_to + 1) / 1000))) AS w
  ORDER BY k.n`;

/**
 * What the entries of players in a window that ended would be, had nobody written them before: by all of their games that
 * were played in it and count now, also those that came after it closed. In the order asked; null: no entry.
 *
 * Whether a player was rankable goes by its last game in the window and the moment at which the window closed (or up to
 * which games are looked at): who stopped playing afterwards stays.
 */
export async function endedEntries(
  sql: SqlRunner,
  window: RestatedWindow,
  pool: RatingPool,
  players: readonly PlayerUpTo[],
): Promise<(FedEntry | null)[]> {
  if (players.length === 0) return [];
  const { provisional } = window.pool;
  const found = await sql.query<{ games: EndedGames | null }>(ENDED_GAMES, [
    window.feed.poolUid,
    players.map(({ playerId }) => playerId),
    players.map(({ recordedUpToMs }) => recordedUpToMs),
    window.startsAtMs,
    window.endsAtMs,
    JSON.stringify({ provisional }),
  ]);
  return found.map(({ games }, index) => {
    if (games === null) return null;
    const { after: state, gamesSoFar, lastPlayedAtMs } = games;
    const moment = momentOf(pool, players[index]!.recordedUpToMs ?? window.closedAtMs);
    const { isRankable } = rankabilityOf(pool, { state, games: gamesSoFar, lastPlayedAtMs }, moment);
    return isRankable ? fedEntry(pool, window.feed, { ...games, state }) : null;
  });
}
