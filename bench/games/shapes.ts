import type { BuiltCode } from '../installation/built-code.js';

/** A kind of game, and the pool that rates it. */
export interface Shape {
  sides: number;
  members: number;
  /** The definition of its pool, beside the board. */
  pool: { algorithm: string; parameters?: Record<string, unknown> };
  /** Games in a request. */
  batch: number;
}

export const shapes = {
  '1v1': { sides: 2, members: 1, pool: { algorithm: 'elo' }, batch: 100 },
  '5v5': { sides: 2, members: 5, pool: { algorithm: 'weng-lin' }, batch: 100 },
  '100 sides': { sides: 100, members: 1, pool: { algorithm: 'weng-lin' }, batch: 20 },
} satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;

/** A game as it is posted. */
export interface PostedGame {
  gameId: string;
  pool: string;
  players: { playerId: string; place: number; team?: string }[];
}

/** Games of so many players in pools of their own, each with an id that no other has. */
export class GameSource {
  #made = 0;
  #seed = 1;

  constructor(
    private readonly shape: Shape,
    private readonly playerCount: number,
  ) {}

  /** The next games of one pool; the places are drawn, two sides in ten of two draw. */
  take(pool: string, count: number): PostedGame[] {
    return Array.from({ length: count }, () => this.#game(pool));
  }

  #game(pool: string): PostedGame {
    const { sides, members } = this.shape;
    this.#made += 1;
    const players = this.#players(sides * members);
    const isDraw = sides === 2 && this.#drawn(10) < 2;
    return {
      gameId: `g-${this.#made}`,
      pool,
      players: players.map((playerId, at) => {
        const side = Math.floor(at / members);
        return { playerId, place: isDraw ? 1 : side + 1, ...(members > 1 && { team: `t${side}` }) };
      }),
    };
  }

  /** So many different ones, in the order in which they were drawn. */
  #players(count: number): string[] {
    const drawn = new Set<number>();
    while (drawn.size < count) drawn.add(this.#drawn(this.playerCount));
    return [...drawn].map((number) => `player${String(number).padStart(6, '0')}`);
  }

  /** A whole number below `end`, by a generator of 32 bits (Numerical Recipes, 7.1). */
  #drawn(end: number): number {
    this.#seed = (Math.imul(this.#seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * end);
  }
}

type Domain = BuiltCode['domain'];

/** The pool that rates a shape, as the domain computes with it. */
export const ratingPoolOfShape = ({ ratingPoolOf, RATING_ALGORITHMS }: Domain, { pool }: Shape) =>
  ratingPoolOf(pool, RATING_ALGORITHMS);

/** A posted game as the domain rates it, at a position of the pool. */
export function poolGameOf(
  { gameId, players }: PostedGame,
  position: number,
): Parameters<Domain['foldGames']>[2][number] {
  return {
    ...{ gameId, position, playedAtMs: Date.now(), weight: 1 },
    results: { disqualified: 'last', absent: 'unrated' },
    players: players.map(({ playerId, place, team = null }) => ({
      ...{ playerId, place, team },
      status: 'played' as const,
      isHome: false,
    })),
  };
}
