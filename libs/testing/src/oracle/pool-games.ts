import {
  foldGames,
  RATING_ALGORITHMS,
  ratingPoolOf,
  type GamePlayer,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
  type RatingPoolDefinition,
} from '@laddercast/domain';

/** What a pool does with players who did not play, where nothing is said. */
export const RESULTS_BY_DEFAULT = { disqualified: 'last', absent: 'unrated' } as const;

/** A pool of one of our algorithms. */
export const ratingPool = (
  algorithm: string,
  parameters: Record<string, unknown> = {},
  changes: Partial<RatingPoolDefinition> = {},
): RatingPool => ratingPoolOf({ algorithm, parameters, ...changes }, RATING_ALGORITHMS);

/** Players by their places; `ada+bob` are a team. */
export const playersByPlace = (places: Record<string, number>): GamePlayer[] =>
  Object.entries(places).flatMap(([names, place]) => {
    const members = names.split('+');
    const team = members.length > 1 ? names : null;
    return members.map((playerId) => ({ playerId, status: 'played' as const, place, team, isHome: false }));
  });

/** A game `g-<position>` of players by their places, {@link playersByPlace}, played at the time that its position is. */
export const poolGame = (
  position: number,
  places: Record<string, number>,
  changes: Partial<PoolGame> = {},
): PoolGame => ({
  gameId: `g-${position}`,
  position,
  playedAtMs: position,
  weight: 1,
  players: playersByPlace(places),
  results: RESULTS_BY_DEFAULT,
  ...changes,
});

/** Players with these ratings, who have not played; whatever else their state holds is a newcomer's. */
export const ratedPlayers = (
  { algorithm, parameters }: RatingPool,
  ratings: Record<string, number | Partial<PlayerRating['state']>>,
): Map<string, PlayerRating> =>
  new Map(
    Object.entries(ratings).map(([playerId, rating]) => {
      const state = { ...algorithm.newcomer(parameters), ...(typeof rating === 'number' ? { rating } : rating) };
      return [
        playerId,
        { state, games: 0, wins: 0, draws: 0, losses: 0, peak: null, lastPlayedAtMs: null, position: 0 },
      ];
    }),
  );

/** The ratings after some games, by player. */
export const ratingsAfter = (
  pool: RatingPool,
  games: readonly PoolGame[],
  players: ReadonlyMap<string, PlayerRating> = new Map(),
): Record<string, number> =>
  Object.fromEntries([...foldGames(pool, players, games).players].map(([id, { state }]) => [id, state.rating]));
