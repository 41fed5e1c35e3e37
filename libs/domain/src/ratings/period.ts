import { isFiniteRating, withoutMinusZero } from './fold.js';
import { compareIds, gamesByPlayer, ratedSides, type PoolGame } from './game.js';
import { scoreOf } from './pairs.js';
import { newcomer, withGame, type Outcome, type PlayerRating } from './player-rating.js';
import type { RatingPool } from './pool.js';
import type { PeriodGame, RatingState } from './rating-algorithm.js';

/** A period that is over: its number in the pool's calendar, and the position of the event that closed it. */
export interface ClosedPeriod {
  readonly period: number;
  readonly position: number;
}

/** One game in what a period made of a player. */
export interface RatedPeriodGame {
  readonly game: PoolGame;
  readonly opponentId: string;
  readonly outcome: Outcome;
  readonly expected: number;
  readonly k: number | null;
}

/** What a period makes of one player: of all its games together, from the ratings at the period's start. */
export interface PeriodChange {
  readonly playerId: string;
  readonly engine: string;
  readonly before: RatingState;
  /** `before` where the period is unrated. */
  readonly after: RatingState;
  readonly unrated: 'NUMERIC' | null;
  /** In the order of their positions; those with too few sides, or without the player, are left out. */
  readonly games: readonly RatedPeriodGame[];
}

/** A game as one of its two players sees it. */
interface PlayedGame {
  readonly game: PoolGame;
  readonly opponentId: string;
  readonly outcome: Outcome;
  readonly home: number;
}

const SCORES: Record<Outcome, number> = { win: 1, draw: 0.5, loss: 0 };

/**
 * What a period makes of a player, out of the player's own games and the states at the period's start: players may be
 * taken in any order, and in pieces. null for who played no game that counts.
 */
export function ratePlayerOfPeriod(
  pool: RatingPool,
  playerId: string,
  games: readonly PoolGame[],
  period: number,
  stateOf: (playerId: string) => RatingState,
): PeriodChange | null {
  const { algorithm, parameters } = pool;
  if (!algorithm.ratePeriod) throw new Error(`${algorithm.name} rates no periods`);
  const played = gamesOf(playerId, games);
  if (played.length === 0) return null;
  const before = stateOf(playerId);
  const results = played.map(({ opponentId, outcome, home }): PeriodGame => ({
    opponent: stateOf(opponentId),
    score: SCORES[outcome],
    home,
  }));
  const rated = algorithm.ratePeriod(parameters, before, results, period);
  const change = { playerId, engine: algorithm.engine, before };
  if (!rated.games.every((game) => isFiniteRating({ ...game, after: rated.after }))) {
    return { ...change, after: before, unrated: 'NUMERIC', games: [] };
  }
  return {
    ...change,
    after: withoutMinusZero(rated.after),
    unrated: null,
    games: played.map(({ game, opponentId, outcome }, at) => ({ game, opponentId, outcome, ...rated.games[at]! })),
  };
}

function gamesOf(playerId: string, games: readonly PoolGame[]): PlayedGame[] {
  return games
    .flatMap((game) => {
      const sides = ratedSides(game);
      const own = sides?.find(({ members }) => members.includes(playerId));
      const other = sides?.find((side) => side !== own);
      if (!own || !other) return [];
      const score = scoreOf(own.place, other.place);
      const outcome: Outcome = score === 1 ? 'win' : score === 0 ? 'loss' : 'draw';
      return { game, opponentId: other.members[0]!, outcome, home: Number(own.isHome) - Number(other.isHome) };
    })
    .sort((a, b) => a.game.position - b.game.position);
}

/** The player after a period: its games count one by one, the rating is the one that all of them made. */
export function withPeriod(
  player: PlayerRating,
  { after, games }: PeriodChange,
  { position }: ClosedPeriod,
): PlayerRating {
  return games.reduce((known, { game, outcome }, at) => {
    const { gameId, playedAtMs } = game;
    const next = withGame(known, { gameId, position, playedAtMs, outcome, after });
    // The rating moved once, with the last of them.
    return at === games.length - 1 ? next : { ...next, peak: known.peak };
  }, player);
}

/**
 * A closed period of a pool that rates by periods: its games in any order, out of the ratings at its start. Who is not
 * among `players` is a newcomer; those who played no game that counts are left out of the answer.
 */
export function foldPeriod(
  pool: RatingPool,
  players: ReadonlyMap<string, PlayerRating>,
  games: readonly PoolGame[],
  closed: ClosedPeriod,
): { players: ReadonlyMap<string, PlayerRating>; changes: readonly PeriodChange[] } {
  const gamesOfPlayers = gamesByPlayer(games);
  const playerOf = (playerId: string): PlayerRating => players.get(playerId) ?? newcomer(pool);
  const ids = [...gamesOfPlayers.keys()].sort(compareIds);
  const changes = ids.flatMap(
    (playerId) =>
      ratePlayerOfPeriod(pool, playerId, gamesOfPlayers.get(playerId)!, closed.period, (id) => playerOf(id).state) ??
      [],
  );
  return {
    players: new Map(
      changes
        .filter(({ unrated }) => unrated === null)
        .map((change) => [change.playerId, withPeriod(playerOf(change.playerId), change, closed)]),
    ),
    changes,
  };
}
