import { distinctScore, playerOf } from './entries.js';

/** A submission as it stands in a request to its board. */
export interface BoardSubmission {
  submissionId: string;
  playerId: string;
  score: number;
}

const stepMax = 20_000;

export interface SubmissionsOptions {
  entries: number;
  players: number;
  /** How many of a hundred improve. */
  improving?: number;
  random?(): number;
}

/**
 * Submissions of players who are spread evenly over a board of `fillEntries`. So many of a hundred improve the player's
 * best, by 10,000 points on average (a few places among a million); the others stay below it.
 */
export class Submissions {
  readonly #players: number;
  readonly #improving: number;
  readonly #random: () => number;
  readonly #apart: number;
  readonly #best: number[] = [];
  #run = 0;
  #pending: (BoardSubmission & { player: number })[] = [];

  constructor({ entries, players, improving = 50, random = Math.random }: SubmissionsOptions) {
    this.#players = players;
    this.#improving = improving;
    this.#random = random;
    this.#apart = Math.max(1, Math.floor(entries / players));
    for (let player = 0; player < players; player += 1) this.#best.push(distinctScore(player * this.#apart));
  }

  /** So many more, with ids that begin with the run's name. What the run before has not sent has not counted. */
  take(count: number): BoardSubmission[] {
    this.#run += 1;
    const best = [...this.#best];
    this.#pending = Array.from({ length: count }, (_, index) => {
      const player = Math.floor(this.#random() * this.#players);
      const improves = this.#random() * 100 < this.#improving;
      const known = best[player]!;
      const score = improves ? known + 1 + Math.floor(this.#random() * stepMax) : Math.floor(known * this.#random());
      best[player] = Math.max(known, score);
      return { submissionId: `${this.prefix}${index}`, playerId: playerOf(player * this.#apart), score, player };
    });
    return this.#pending.map(({ player: _, ...submission }) => submission);
  }

  /** What the submission ids of the present run begin with. */
  get prefix(): string {
    return `run${this.#run}-`;
  }

  get playerIds(): string[] {
    return Array.from({ length: this.#players }, (_, player) => playerOf(player * this.#apart));
  }

  /** Says how many of the last were sent: the first ones. */
  sent(count: number): void {
    for (const { player, score } of this.#pending.slice(0, count)) {
      this.#best[player] = Math.max(this.#best[player]!, score);
    }
    this.#pending = [];
  }
}
