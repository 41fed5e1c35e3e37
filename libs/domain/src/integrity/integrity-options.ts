/** Flags a run that is far better than the player's others. */
export interface JumpRule {
  /** By how many units; see {@link jumpOf}. */
  factor: number;
  /** With fewer runs before it nothing is flagged. */
  runsMin: number;
}

/** Flags a player who has more than `runs` runs accepted within `seconds`. */
export interface RateRule {
  runs: number;
  seconds: number;
}

/** Flags equal runs of so many different players within `minutes`. */
export interface ClusterRule {
  players: number;
  minutes: number;
}

/** What is examined on a board after runs were accepted; null: not. */
export interface BoardIntegrity {
  jump: JumpRule | null;
  rate: RateRule | null;
  cluster: ClusterRule | null;
  /** Names of the teams' `IntegrityRule`s. */
  rules: string[];
  /** A run with a better score is held; null: none. */
  holdAbove: number | null;
}

/** As an operator gives it. A rule that is named without its numbers has the defaults. */
export interface GivenIntegrity {
  jump?: Partial<JumpRule> | null;
  rate?: Partial<RateRule> | null;
  cluster?: Partial<ClusterRule> | null;
  rules?: string[] | null;
  holdAbove?: number | null;
}

/** The rules of the service itself: no `IntegrityRule` may have one of these names. `held` stands on flags of held runs. */
export const OWN_RULES = ['jump', 'rate', 'cluster', 'held'] as const;

/** What an `IntegrityRule` may be called. */
export const RULE_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,31}$';
/** How many rules of teams a board may name. */
export const BOARD_RULES_MAX = 16;

/** With all defaults; what is not named is off. */
export const withIntegrityDefaults = ({ jump, rate, cluster, rules, holdAbove }: GivenIntegrity): BoardIntegrity => ({
  jump: jump ? { factor: 6, runsMin: 5, ...jump } : null,
  rate: rate ? { runs: 30, seconds: 60, ...rate } : null,
  cluster: cluster ? { players: 10, minutes: 60, ...cluster } : null,
  rules: rules ?? [],
  holdAbove: holdAbove ?? null,
});
