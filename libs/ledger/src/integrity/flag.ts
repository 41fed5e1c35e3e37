import { createHash } from 'node:crypto';
import type { Severity } from '@laddercast/extension';

/** What moderators decide of a flag; `reopen` takes a decision back for another one. */
export const FLAG_DECISIONS = ['accept', 'void', 'ban', 'dismiss', 'reopen'] as const;
export type FlagDecision = (typeof FLAG_DECISIONS)[number];
export type StandingDecision = Exclude<FlagDecision, 'reopen'>;

/** How many runs a flag lists: the first. */
export const FLAG_RUNS_LISTED = 100;

/** One run of a flag, by its board. */
export interface FlaggedRun {
  playerId: string;
  /** Its place in the order of acceptance. */
  position: number;
  submissionId: string;
}

/** What a flag is raised of. */
export interface Suspect {
  /** `jump`, `rate`, `cluster`, `held`, or the name of a team's rule or check. */
  rule: string;
  severity: Severity;
  boardUid: number;
  /** null: it is about several players. */
  playerId: string | null;
  /** What it is about: a player, or a value. */
  subject: string;
  /** Runs of one subject under one key share a flag while it is open. */
  key: string;
  summary: string;
  details: object;
  /** At least one, in the order of acceptance. */
  runs: readonly FlaggedRun[];
}

/** A flag as moderators see it. */
export interface Flag {
  flagId: string;
  rule: string;
  severity: Severity;
  /** The id of the board. */
  board: string;
  /** null: it is about several players. */
  playerId: string | null;
  /** Of the first {@link FLAG_RUNS_LISTED} runs. */
  submissionIds: string[];
  /** How many runs it is about, listed or not. */
  count: number;
  summary: string;
  details: Record<string, unknown>;
  /** RFC 3339. */
  raisedAt: string;
  state: 'open' | 'decided';
  /** Of an open flag: what was decided before it was reopened, and stands until it is decided anew. */
  decision: StandingDecision | null;
  decidedBy: string | null;
  decidedAt: string | null;
  reason: string | null;
}

/**
 * The id of a flag: of the same suspect and first run always the same, so that an event that comes again raises no other.
 * A flag that is decided does not stand in the way of the next, whose first run is another.
 */
export function flagIdOf({ rule, boardUid, subject, key, runs }: Suspect): string {
  const { playerId, position } = runs[0]!;
  const named = JSON.stringify([rule, boardUid, subject, key, playerId, position]);
  return createHash('sha256').update(named).digest('base64url').slice(0, 22);
}
