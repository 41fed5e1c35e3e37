import { isSameState, type RatingState } from './rating-algorithm.js';

/** Points that a player had lost in a game, and was given back when it was made void: a change of the rating between games. */
export interface Refund {
  readonly playerId: string;
  /** Its place among the player's changes. */
  readonly position: number;
  readonly points: number;
  /** The last step of a recompute that comes before it: the position of a game, or a period. */
  readonly follows: number;
  readonly before: RatingState;
  readonly after: RatingState;
}

/** A refund from another state than it was: the points are the same. */
export interface RecomputedRefund {
  readonly refund: Refund;
  readonly before: RatingState;
  readonly after: RatingState;
}

/** With so many points more, and nothing else another: an algorithm knows no refunds. */
export const withPoints = (state: RatingState, points: number): RatingState => ({
  ...state,
  rating: state.rating + points,
});

/** What is stored of a player, and what a recompute made of it. */
export interface DifferingStates {
  readonly before: RatingState;
  readonly after: RatingState;
}

/** The players of a recompute whose states are others than what is stored, step by step. */
export class DifferingPlayers {
  readonly refunds: RecomputedRefund[] = [];
  private readonly players = new Map<string, DifferingStates & { step: number }>();

  constructor(private readonly history: { refundsOf(playerId: string): Promise<readonly Refund[]> }) {}

  /** Just before the step that {@link reach} was called for. */
  get(playerId: string): DifferingStates | undefined {
    return this.players.get(playerId);
  }

  /** Brings players to just before a step, over the refunds that they got since their last one. */
  async reach(playerIds: Iterable<string>, step: number): Promise<void> {
    for (const playerId of playerIds) {
      const player = this.players.get(playerId);
      if (!player) continue;
      let { before, after } = player;
      for (const refund of await this.history.refundsOf(playerId)) {
        if (refund.follows < player.step || refund.follows >= step) continue;
        const refunded = withPoints(after, refund.points);
        this.refunds.push({ refund, before: after, after: refunded });
        before = refund.after;
        after = refunded;
      }
      this.players.set(playerId, { before, after, step });
    }
  }

  /** What a step made of a player. @returns whether it is another state than the stored one */
  put(playerId: string, step: number, before: RatingState, after: RatingState): boolean {
    const isDiffering = !isSameState(before, after);
    if (isDiffering) this.players.set(playerId, { before, after, step });
    else this.players.delete(playerId);
    return isDiffering;
  }

  /** After the last step: who ends with another rating. */
  async end(): Promise<Map<string, DifferingStates>> {
    await this.reach([...this.players.keys()], Infinity);
    return new Map([...this.players].filter(([, { before, after }]) => !isSameState(before, after)));
  }
}
