import type { RunKind, RunState } from '@laddercast/domain';
import { Query } from '@nestjs/cqrs';

/** A run as it was accepted, and what has become of it. Times are RFC 3339. */
export interface ShownRun {
  submissionId: string;
  playerId: string;
  /** `set`, `override` and `removal` stand in place of what was before; `trim` is what a limit took away. */
  kind: RunKind;
  state: RunState;
  /** null: it took the entry away. */
  score: number | null;
  columns: Record<string, number>;
  achievedAt: string;
  acceptedAt: string;
  /** The windows that it counts in, or would. */
  windows: string[];
  /** Those whose entry rests on it; on `sum` boards none does on one run, with decay the one that the tax has stand. */
  entryOf: string[];
  metadata: Record<string, unknown> | null;
  proof: string | null;
  verified: boolean;
  sourceId: string | null;
  /** On boards with decay: the id of the patch as which it counts; null: of what takes the entry away. Absent on others. */
  patch?: string | null;
  /** Its log position, which is its place in the order of acceptance. */
  version: number;
  /** What a moderator said of it last; absent for the player itself. */
  reason?: string | null;
}

/** A page of runs, the newest first. */
export interface RunsPage {
  runs: ShownRun[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/** Which runs; all of what is given must hold. */
export interface WantedRuns {
  playerId?: string;
  state?: RunState;
  /** Its full id, or the name of a running window. */
  windowName?: string;
  sourceId?: string;
  /** Accepted at this time or later, and before that one, Unix ms. */
  fromMs?: number;
  toMs?: number;
}

/** The runs of a board; RUNS_NOT_KEPT where it keeps none, BOARD_NOT_FOUND, WINDOW_NOT_FOUND. */
export class ListRunsQuery extends Query<RunsPage> {
  constructor(
    readonly boardId: string,
    readonly wanted: WantedRuns,
    readonly page: { limit: number; before: number | null },
    /** Whether the reader may know what moderators said. */
    readonly reasonsShown: boolean,
  ) {
    super();
  }
}
