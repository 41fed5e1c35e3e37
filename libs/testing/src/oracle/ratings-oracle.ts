import type { GamePlayer, PoolGame } from '@laddercast/domain';
import {
  eloExpected,
  fideExpected,
  glicko2Rated,
  wengLinRated,
  type FormulaSide,
  type Glicko2Result,
  type Numbers,
  type WengLinNumbers,
} from './rating-formulas.js';

/** A pool as the oracle is told of it: the name of one of our algorithms, and all of its parameters. */
export interface OraclePool {
  algorithm: string;
  parameters: object;
}

/** What the oracle says of a player. */
export interface OracleRating extends Numbers {
  games: number;
  wins: number;
  draws: number;
  losses: number;
  /** The best rating after a game, and the id of that game. */
  peak: { rating: number; gameId: string } | null;
  lastPlayedAtMs: number | null;
}

/** The games of one period, and its number. */
export interface OraclePeriod {
  period: number;
  games: readonly PoolGame[];
  /** What players are given back after it. */
  given?: readonly { playerId: string; points: number }[];
}

/** A player, with what some algorithms look at besides. */
interface Player extends OracleRating {
  /** Whether a rating of 2400 or more was ever made. */
  reachedTop: boolean;
  /** The last period in which the player played. */
  period: number | null;
}

interface Side {
  ids: string[];
  place: number;
  isHome: boolean;
}

type Parameters = Record<string, unknown>;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Ratings as plainly as they can be said: all games from the first on, by the formulas of the papers, each time anew.
 * What folds, voids and recomputes are checked against. Numbers that a formula cannot make leave a game out.
 */
export function ratingsOracle(pool: OraclePool, games: readonly PoolGame[]): Map<string, OracleRating> {
  const world = new World(pool);
  for (const game of [...games].sort((a, b) => a.position - b.position)) world.play(game);
  return world.players;
}

/** The same for a pool that rates by periods, given in their order. */
export function ratingsOracleByPeriod(pool: OraclePool, periods: readonly OraclePeriod[]): Map<string, OracleRating> {
  const world = new World(pool);
  for (const period of periods) {
    world.playPeriod(period);
    for (const { playerId, points } of period.given ?? []) world.give(playerId, points);
  }
  return world.players;
}

class World {
  readonly players = new Map<string, Player>();
  private readonly algorithm: string;
  private readonly parameters: Parameters;

  constructor({ algorithm, parameters }: OraclePool) {
    this.algorithm = algorithm;
    this.parameters = parameters as Parameters;
  }

  play(game: PoolGame): void {
    const sides = sidesOf(game);
    if (sides.length < 2) return;
    const after = this.rated(game, sides);
    if ([...after.values()].some((numbers) => !Object.values(numbers).every(Number.isFinite))) return;
    for (const side of sides) {
      for (const id of side.ids) {
        const { rating, deviation, volatility } = after.get(id)!;
        this.count(id, game, sides, side, { ...this.player(id), rating, deviation, volatility });
      }
    }
  }

  playPeriod({ period, games }: OraclePeriod): void {
    const start = new Map(this.players);
    const at = (id: string): Player => start.get(id) ?? this.newcomer();
    const inOrder = [...games].sort((a, b) => a.position - b.position).filter((game) => sidesOf(game).length === 2);
    const ids = new Set(inOrder.flatMap((game) => sidesOf(game).flatMap((side) => side.ids)));
    for (const id of ids) {
      const own = inOrder.filter((game) => sidesOf(game).some((side) => side.ids.includes(id)));
      const numbers = this.periodRated(at, id, own, period);
      for (const [index, game] of own.entries()) {
        const sides = sidesOf(game);
        const side = sides.find((one) => one.ids.includes(id))!;
        const known = this.player(id);
        const isLast = index === own.length - 1;
        this.count(id, game, sides, side, isLast ? { ...known, ...numbers, period } : known, isLast);
      }
    }
  }

  give(id: string, points: number): void {
    const known = this.player(id);
    this.players.set(id, { ...known, rating: known.rating + points });
  }

  private player(id: string): Player {
    return this.players.get(id) ?? this.newcomer();
  }

  private newcomer(): Player {
    const {
      initial,
      deviation = 0,
      volatility = 0,
    } = this.parameters as unknown as { initial: number } & Partial<Numbers>;
    const counts = { games: 0, wins: 0, draws: 0, losses: 0, peak: null, lastPlayedAtMs: null };
    return { rating: initial, deviation, volatility, ...counts, reachedTop: false, period: null };
  }

  private count(id: string, game: PoolGame, sides: Side[], side: Side, player: Player, isRated = true): void {
    const isFirst = sides.every(({ place }) => side.place <= place);
    const isDraw = sides.length === 2 && sides[0]!.place === sides[1]!.place;
    const isPeak = isRated && (player.peak === null || player.rating > player.peak.rating);
    this.players.set(id, {
      ...player,
      games: player.games + 1,
      draws: player.draws + (isDraw ? 1 : 0),
      wins: player.wins + (isFirst && !isDraw ? 1 : 0),
      losses: player.losses + (isFirst || isDraw ? 0 : 1),
      peak: isPeak ? { rating: player.rating, gameId: game.gameId } : player.peak,
      lastPlayedAtMs: Math.max(player.lastPlayedAtMs ?? -Infinity, game.playedAtMs),
      reachedTop: player.reachedTop || (isRated && player.rating >= 2400),
    });
  }

  private rated(game: PoolGame, sides: Side[]): Map<string, Numbers> {
    if (this.algorithm === 'elo') return this.eloRated(game, sides);
    if (this.algorithm === 'glicko2') return this.glicko2Rated(game, sides);
    const formulaSides: FormulaSide[] = sides.map(({ ids, place, isHome }) => ({
      place,
      isHome,
      members: ids.map((id) => this.player(id)),
    }));
    const rated = wengLinRated(
      formulaSides,
      this.parameters['model'] as string,
      this.parameters as unknown as WengLinNumbers,
    );
    const limit = (id: string, numbers: Numbers): Numbers =>
      this.parameters['limitSigma']
        ? { ...numbers, deviation: Math.min(numbers.deviation, this.player(id).deviation) }
        : numbers;
    return new Map(sides.flatMap(({ ids }, side) => ids.map((id, at) => [id, limit(id, rated[side]![at]!)] as const)));
  }

  private eloRated(game: PoolGame, sides: Side[]): Map<string, Numbers> {
    const { scale, differenceMax, homeAdvantage, floor } = this.parameters as Record<string, number>;
    const strengthOf = ({ ids, isHome }: Side): number =>
      ids.map((id) => this.player(id).rating).reduce((sum, rating) => sum + rating) / ids.length +
      (isHome ? homeAdvantage! : 0);
    const after = new Map<string, Numbers>();
    for (const side of sides) {
      const others = sides.filter((other) => other !== side);
      const surprises = others.map((other) => {
        const score = side.place < other.place ? 1 : side.place > other.place ? 0 : 0.5;
        return score - eloExpected(strengthOf(side), strengthOf(other), scale!, differenceMax ?? null);
      });
      const mean = surprises.reduce((sum, one) => sum + one) / others.length;
      for (const id of side.ids) {
        const player = this.player(id);
        const rating = player.rating + this.k(player) * game.weight * mean;
        after.set(id, { rating: Math.max(rating, floor ?? -Infinity), deviation: 0, volatility: 0 });
      }
    }
    return after;
  }

  private k(player: Player): number {
    const { k } = this.parameters as {
      k: number | 'fide' | { gamesBelow?: number; ratingBelow?: number; k: number }[];
    };
    if (typeof k === 'number') return k;
    if (k === 'fide') return fideK(player);
    const rules = k.filter(({ gamesBelow = Infinity }) => player.games < gamesBelow);
    return rules.find(({ ratingBelow = Infinity }) => player.rating < ratingBelow)!.k;
  }

  private glicko2Rated(game: PoolGame, sides: Side[]): Map<string, Numbers> {
    const { tau, homeAdvantage } = this.parameters as Record<string, number>;
    const [a, b] = sides as [Side, Side];
    const rate = (side: Side, other: Side): [string, Numbers] => {
      const opponent = this.idle(this.player(other.ids[0]!), game.playedAtMs);
      const score = side.place < other.place ? 1 : side.place > other.place ? 0 : 0.5;
      const advantage = (side.isHome ? homeAdvantage! : 0) - (other.isHome ? homeAdvantage! : 0);
      const player = this.idle(this.player(side.ids[0]!), game.playedAtMs);
      return [side.ids[0]!, this.bounded(glicko2Rated(player, [{ opponent, score, advantage }], tau!, 0))];
    };
    return new Map([rate(a, b), rate(b, a)]);
  }

  /** A player after the time since its last game, which must not be counted backwards. */
  private idle(player: Player, atMs: number): Numbers {
    if (player.lastPlayedAtMs === null || atMs <= player.lastPlayedAtMs) return player;
    const { periodDays } = this.parameters as Record<string, number>;
    return this.grown(player, (atMs - player.lastPlayedAtMs) / DAY_MS / periodDays!);
  }

  private grown(player: Player, periods: number): Numbers {
    const { deviation: most } = this.parameters as Record<string, number>;
    const phi = Math.sqrt((player.deviation / 173.7178) ** 2 + periods * player.volatility ** 2);
    return {
      ...player,
      deviation: periods === 0 ? player.deviation : Math.max(player.deviation, Math.min(most!, 173.7178 * phi)),
    };
  }

  private bounded({ rating, deviation, volatility }: Numbers): Numbers {
    const { deviationMin, deviationMax, volatilityMax } = this.parameters as Record<string, number>;
    return {
      rating,
      deviation: Math.min(deviationMax!, Math.max(deviationMin!, deviation)),
      volatility: Math.min(volatilityMax!, volatility),
    };
  }

  private periodRated(at: (id: string) => Player, id: string, games: PoolGame[], period: number): Numbers {
    const results = games.map((game) => {
      const sides = sidesOf(game);
      const own = sides.find(({ ids }) => ids.includes(id))!;
      const other = sides.find((side) => side !== own)!;
      const score = own.place < other.place ? 1 : own.place > other.place ? 0 : 0.5;
      return { opponent: at(other.ids[0]!), score, home: Number(own.isHome) - Number(other.isHome) };
    });
    if (this.algorithm === 'fide') return this.fideRated(at(id), results);
    const { tau, homeAdvantage } = this.parameters as Record<string, number>;
    const idle = (player: Player): Numbers =>
      this.grown(player, player.period === null ? 0 : Math.max(0, period - player.period - 1));
    const rows: Glicko2Result[] = results.map(({ opponent, score, home }) => ({
      opponent: idle(opponent),
      score,
      advantage: home * homeAdvantage!,
    }));
    return this.bounded(glicko2Rated(idle(at(id)), rows, tau!, 1));
  }

  private fideRated(player: Player, results: { opponent: Player; score: number }[]): Numbers {
    const { floor } = this.parameters as Record<string, number>;
    let k = fideK(player);
    while (k * results.length > 700) k--;
    const surprise = results.reduce((sum, { opponent, score }) => {
      let difference = player.rating - opponent.rating;
      if (player.rating < 2650 && Math.abs(difference) > 400) difference = Math.sign(difference) * 400;
      return sum + (score - fideExpected(difference));
    }, 0);
    // Hundredths of points are whole numbers: what lies beside them is noise of the additions.
    const change = Math.round(100 * k * surprise) / 100;
    const points = change < 0 ? -Math.round(-change) : Math.round(change);
    return { rating: Math.max(player.rating + points, floor ?? -Infinity), deviation: 0, volatility: 0 };
  }
}

/** FIDE Rating Regulations, 8.3.3. */
const fideK = ({ games, rating, reachedTop }: Player): number =>
  games < 30 ? 40 : reachedTop || rating >= 2400 ? 10 : 20;

/** The sides that play, those who did not behind all others or left out. In the order of ids, so that sums are repeatable. */
function sidesOf({ players, results }: PoolGame): Side[] {
  const names = [...new Set(players.map(nameOf))];
  const sides = names.flatMap((name): Side[] => {
    const named = players.filter((player) => nameOf(player) === name);
    const playing = named.filter(({ status }) => status === 'played');
    const last = named.filter(({ status }) => status !== 'played' && results[status] === 'last');
    const members = playing.length > 0 ? playing : last;
    if (members.length === 0) return [];
    return [
      {
        ids: members.map(({ playerId }) => playerId).sort(),
        place: playing.length > 0 ? playing[0]!.place! : Number.MAX_SAFE_INTEGER,
        isHome: members.some(({ isHome }) => isHome),
      },
    ];
  });
  return sides.sort((a, b) => (a.ids[0]! < b.ids[0]! ? -1 : 1));
}

const nameOf = ({ team, playerId }: GamePlayer): string => JSON.stringify(team === null ? { playerId } : { team });
