import type { Board, RunState } from '@laddercast/domain';

/** A run as it was accepted. */
export interface ExaminedRun {
  submissionId: string;
  playerId: string;
  score: number;
  /** By name, as on the board. */
  columns: Record<string, number>;
  /** RFC 3339. */
  achievedAt: string;
  /** RFC 3339, by the database's clock. */
  acceptedAt: string;
  metadata: Record<string, unknown> | null;
  /** An https URL; null: none was sent. */
  proof: string | null;
  verified: boolean;
  sourceId: string | null;
  /** On boards with decay: the id of the patch as which it counts. `score` is the raw one. */
  patch?: string;
  /** What it was when the examined run came; what was done to it later is not looked at. */
  state: RunState;
  /** Its place in the order of acceptance: greater is later. */
  version: number;
}

export const SEVERITIES = ['low', 'medium', 'high'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** What is suspicious about a run, for moderators. */
export interface Suspicion {
  severity: Severity;
  /** One line: 1-500 characters. */
  summary: string;
  /** Whatever helps to decide: up to 8 KiB of JSON. */
  details: Record<string, unknown>;
  /**
   * Runs of a player that are suspicious under one key share a flag for as long as that is open: up to 128 characters.
   * Absent: each run has its own.
   */
  key?: string;
}

/** The most of a player's runs before a run that a rule is shown. */
export const EARLIER_RUNS_MAX = 200;
/** How long a rule may take for one run. */
export const EXAMINATION_LIMIT_MS = 5000;

/**
 * Looks at runs after they were counted, and raises flags. It cannot refuse, hold or change anything.
 *
 * Boards name the rules that look at their runs (`integrity.rules`). A rule may do I/O, and must not hold up the process.
 * A run may be shown more than once, and must then get the same answer. A rule that throws, or takes longer than
 * {@link EXAMINATION_LIMIT_MS}, is asked again with growing waits; a run of which it fails by itself is parked in
 * `dead_letters` of the group `integrity`. No other run waits for it.
 */
export abstract class IntegrityRule {
  /** `[a-z0-9][a-z0-9-]{0,31}`; it stands in flags and on boards. Not `jump`, `rate`, `cluster` or `held`. */
  abstract readonly name: string;
  /** How many of the player's runs before this one it wants to see, 0-200, the newest first. */
  readonly earlierRuns: number = 20;

  /** null: nothing is wrong with it. */
  abstract examine(run: ExaminedRun, earlier: readonly ExaminedRun[], board: Board): Promise<Suspicion | null>;
}
