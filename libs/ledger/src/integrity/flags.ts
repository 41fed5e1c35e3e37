import { LadderError } from '@laddercast/domain';
import type { Severity } from '@laddercast/extension';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { FLAG_RUNS_LISTED, flagIdOf, type Flag, type StandingDecision, type Suspect } from './flag.js';
import { raiseFlag } from './flag-rows.js';

/** Which flags; all that is given must hold. */
export interface FlagFilter {
  state?: 'open' | 'decided';
  /** The id of a board. */
  board?: string;
  /** Whose runs it is about, alone or among others. */
  player?: string;
  rule?: string;
  severity?: Severity;
}

/** A flag with its place in the order of raising. */
export type ListedFlag = Flag & { number: number };

interface FlagRow extends Omit<ListedFlag, 'raisedAt' | 'decidedAt' | 'state' | 'decision'> {
  isOpen: boolean;
  decision: StandingDecision | null;
  raisedAt: Date;
  decidedAt: Date | null;
}

const COLUMNS = `f.flag_number AS number, f.flag_id AS "flagId", f.rule, f.severity, b.board_id AS board,
  f.player_id AS "playerId", f.run_count AS count, f.summary, f.details, f.raised_at AS "raisedAt", f.is_open AS "isOpen",
  f.decision, f.decided_by AS "decidedBy", f.decided_at AS "decidedAt", f.reason,
  ARRAY(SELECT r.submission_id FROM flag_runs r WHERE r.flag_id = f.flag_id ORDER BY r.position LIMIT ${FLAG_RUNS_LISTED})
    AS "submissionIds"`;
const NUMBER_MAX = 2 ** 53 - 1;
/** How many open flags are counted for the metrics. */
const COUNTED_MAX = 100_000;
const PRUNE_CHUNK = 1000;

/** How long a decided flag is kept. */
export const DECIDED_FLAGS_KEEP_DAYS = 400;

/** What is suspicious, for moderators. */
@Injectable()
export class Flags {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly work: LaneQueue,
  ) {}

  /** Raises a flag, or adds to the open one; doing it twice changes nothing. See {@link raiseFlag}. */
  async raise(suspect: Suspect): Promise<void> {
    const id = suspect.playerId ?? flagIdOf(suspect);
    await this.work.inTurn(id, (transaction, place) => raiseFlag(transaction, place, suspect));
  }

  /** A page of flags of boards that are there, the newest first, beginning behind a number (null: at the newest). */
  async list(filter: FlagFilter, limit: number, behind: number | null): Promise<ListedFlag[]> {
    const { state, board = null, player = null, rule = null, severity = null } = filter;
    const rows = await this.database.query<FlagRow>(
      `SELECT ${COLUMNS} FROM flags f JOIN boards b USING (board_uid)
       WHERE b.board_id IS NOT NULL AND f.flag_number < $1 AND ($2::boolean IS NULL OR f.is_open = $2)
         AND ($3::text IS NULL OR f.board_uid = (SELECT board_uid FROM boards WHERE board_id = $3))
         AND ($4::text IS NULL OR f.flag_id IN (SELECT flag_id FROM flag_runs WHERE player_id = $4))
         AND ($5::text IS NULL OR f.rule = $5) AND ($6::text IS NULL OR f.severity = $6)
       ORDER BY f.flag_number DESC LIMIT $7`,
      [behind ?? NUMBER_MAX, state === undefined ? null : state === 'open', board, player, rule, severity, limit],
    );
    return rows.map(flagOf);
  }

  /** @throws FLAG_NOT_FOUND */
  find(flagId: string): Promise<Flag> {
    return findFlag(this.database, flagId);
  }

  /** How many flags are open, by rule and severity; {@link COUNTED_MAX} in all. */
  openByRule(): Promise<{ rule: string; severity: Severity; flags: number }[]> {
    return this.database.query(
      `SELECT rule, severity, count(*)::int AS flags
       FROM (SELECT rule, severity FROM flags WHERE is_open LIMIT $1) AS counted GROUP BY rule, severity`,
      [COUNTED_MAX],
    );
  }

  /** Forgets flags that were decided {@link DECIDED_FLAGS_KEEP_DAYS} ago. */
  async prune(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pruned = await this.database.query(
        `WITH old AS (DELETE FROM flags WHERE flag_id IN (SELECT flag_id FROM flags WHERE NOT is_open AND acted_to IS NULL
             AND decided_at < ladder_now() - $1::int * interval '1 day' LIMIT ${PRUNE_CHUNK}) RETURNING flag_id),
           runs_of_old AS (DELETE FROM flag_runs WHERE flag_id IN (SELECT flag_id FROM old))
         SELECT 1 FROM old`,
        [DECIDED_FLAGS_KEEP_DAYS],
      );
      if (pruned.length < PRUNE_CHUNK) return;
    }
  }
}

/** @throws FLAG_NOT_FOUND */
export async function findFlag(database: SqlRunner, flagId: string): Promise<Flag> {
  const [row] = await database.query<FlagRow>(
    `SELECT ${COLUMNS} FROM flags f JOIN boards b USING (board_uid) WHERE f.flag_id = $1 AND b.board_id IS NOT NULL`,
    [flagId],
  );
  if (!row) throw flagNotFound(flagId);
  const { number: _number, ...flag } = flagOf(row);
  return flag;
}

export const flagNotFound = (flagId: string): LadderError =>
  new LadderError('FLAG_NOT_FOUND', `There is no flag "${flagId}".`);

function flagOf({ isOpen, raisedAt, decidedAt, ...row }: FlagRow): ListedFlag {
  return {
    ...row,
    raisedAt: raisedAt.toISOString(),
    state: isOpen ? 'open' : 'decided',
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}
