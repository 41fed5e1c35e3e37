import type { GameToRate, MemberRating, RatingAlgorithm, RatingState } from '@laddercast/leaderboard';

export interface PartyParameters {
  /** How much of a rating the latest game makes up. */
  readonly share: number;
}

const EVEN = 50;
const BEST = 100;

/**
 * Points for party games, in which everybody plays against everybody: the share of opponents that a player left behind,
 * from 0 to 100, as a mean in which the latest games count most.
 */
export const partyPoints: RatingAlgorithm<PartyParameters> = {
  name: 'party-points',
  engine: 'party-points@1',
  parameterRules: { share: { kind: 'number', default: 0.2, min: 0, isMinExcluded: true, max: 1 } },
  takesWeight: false,
  hasDeviation: false,

  limits: () => ({ sides: null, members: 1 }),

  newcomer: () => ({ rating: EVEN, deviation: null, volatility: null, memory: {} }),

  rate({ share }: PartyParameters, { sides }: GameToRate): MemberRating[] {
    return sides.map(({ members: [member], place }, own) => {
      const { playerId, state } = member!;
      let points = 0;
      let expected = 0;
      for (const [other, opponent] of sides.entries()) {
        if (other === own) continue;
        points += opponent.place > place ? 1 : opponent.place === place ? 0.5 : 0;
        expected += chance(state, opponent.members[0]!.state);
      }
      const opponents = sides.length - 1;
      const rating = state.rating + share * ((BEST * points) / opponents - state.rating);
      return { playerId, after: { ...state, rating }, expected: expected / opponents, k: null };
    });
  },

  winChance: (_parameters, [player], [opponent]) => chance(player!, opponent!),

  conservative: ({ rating }) => rating,
};

/** Even for equals; sure where one has always won, and the other never. */
const chance = (player: RatingState, opponent: RatingState): number =>
  (BEST + player.rating - opponent.rating) / (2 * BEST);
