import {
  foldGames,
  withPoints,
  type PlayerRating,
  type PoolGame,
  type RatedGame,
  type RatingPool,
  type Refund,
} from '@laddercast/domain';

/** Points that a player was given at a position. */
export type GivenPoints = Pick<Refund, 'playerId' | 'position' | 'points'>;

/** What games and refunds make of a pool from the first one on, in the order of their positions. */
export function foldWithRefunds(
  pool: RatingPool,
  games: readonly PoolGame[],
  given: readonly GivenPoints[],
): { players: Map<string, PlayerRating>; games: RatedGame[]; refunds: Refund[] } {
  const players = new Map<string, PlayerRating>();
  const rated: RatedGame[] = [];
  const refunds: Refund[] = [];
  const steps = [...games.map((game) => ({ game, position: game.position })), ...given];
  for (const step of steps.sort((a, b) => a.position - b.position)) {
    if ('game' in step) {
      const folded = foldGames(pool, players, [step.game]);
      for (const [playerId, player] of folded.players) players.set(playerId, player);
      rated.push(...folded.games);
      continue;
    }
    const { playerId, position, points } = step;
    const player = players.get(playerId)!;
    const after = withPoints(player.state, points);
    players.set(playerId, { ...player, state: after, position });
    refunds.push({ playerId, position, points, follows: position, before: player.state, after });
  }
  return { players, games: rated, refunds };
}
