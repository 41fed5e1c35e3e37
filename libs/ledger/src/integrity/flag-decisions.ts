import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { takeLane } from '../lanes/lane-locks.js';
import { isOfEarlierMap, Lanes } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { recordAudit } from '../operators/audit-log.js';
import {
  DecisionActs,
  isVerifiedBy,
  stepsOf,
  type DecidingAct,
  type RunNow,
  type RunOfFlag,
  type RunStep,
} from './decision-acts.js';
import { FLAG_RUNS_LISTED, type Flag, type FlagDecision, type StandingDecision } from './flag.js';
import { findFlag, flagNotFound } from './flags.js';

/** How many runs one transaction acts on: it holds the lanes of their players. */
const PART_RUNS = FLAG_RUNS_LISTED;
/** How often a part is tried again whose flag got runs of other players meanwhile. */
const TRIES_MAX = 5;
/** How many flags one look carries on with. */
const CARRIED_ON_MAX = 20;

/** A decision as somebody asks for it. */
export interface AskedDecision {
  decision: FlagDecision;
  actor: string;
  reason: string;
}

/** Flags of which runs are left to act on. */
const CARRIED_ON = `
  SELECT flag_id AS "flagId", acted_to AS "actedTo" FROM flags WHERE acted_to IS NOT NULL AND NOT is_open
  ORDER BY flag_number LIMIT ${CARRIED_ON_MAX}`;

interface FlagState {
  boardUid: number;
  boardId: string;
  rule: string;
  isOpen: boolean;
  decision: StandingDecision | null;
  /** As which decisions of before its runs may stand still; several where one was not carried out to the end. */
  stood: StandingDecision[];
  decidedBy: string | null;
  reason: string | null;
  /** Up to where the decision was carried out, also once it is open again; null: to the end. */
  actedTo: number | null;
}

type RunToAct = Pick<RunOfFlag, 'playerId' | 'position' | 'submissionId'> & { now: RunNow | null };

/** The flag got runs of a player whose lane is not held. */
class OtherLanes extends Error {}

/**
 * Decides flags. The decision, what it does to the first {@link PART_RUNS} runs, and the audit record are one transaction;
 * of a flag with more runs the rest follows in parts of that size, by {@link carryOn}.
 */
@Injectable()
export class FlagDecisions {
  /** What {@link carryOn} finds, for a `SharedLook`. */
  readonly due = CARRIED_ON;

  private lastPart: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    private readonly acts: DecisionActs,
  ) {}

  /**
   * The same decision again changes nothing.
   * @returns the flag as it is then
   * @throws FLAG_NOT_FOUND, FLAG_DECIDED when it is decided otherwise, RUN_GONE when none of its runs is kept any more
   */
  async decide(flagId: string, asked: AskedDecision): Promise<Flag> {
    const { decision } = asked;
    if (decision === 'reopen') return this.inTurn((transaction) => reopen(transaction, flagId, asked));
    return this.part(flagId, 0, async (transaction, state, runs) => {
      if (!state.isOpen) {
        if (state.decision === decision) return findFlag(transaction, flagId);
        throw alreadyDecided(flagId, state);
      }
      if (decision === 'accept' || decision === 'void') await requireKept(transaction, flagId, runs);
      const act = { decision, actor: asked.actor, reason: asked.reason, flagId };
      const stood = standsAs(state);
      await transaction.query(DECIDE, [flagId, decision, asked.reason, asked.actor, stood]);
      const steps = await this.act(transaction, { ...state, decision, stood }, runs, act);
      await recordAudit(transaction, auditOf(flagId, state, asked, steps));
      await transaction.query(ACTED, [flagId, endOf(runs)]);
      return findFlag(transaction, flagId);
    });
  }

  /** Does to the rest of their runs what was decided of flags with more than {@link PART_RUNS}, a part of each. */
  async carryOn(signal: AbortSignal): Promise<void> {
    const waiting = await this.database.query<{ flagId: string; actedTo: number }>(CARRIED_ON);
    await tryEach(waiting, signal, async ({ flagId, actedTo }) => {
      await this.part(flagId, actedTo, async (transaction, state, runs) => {
        // Reopened meanwhile, or carried on by another process.
        if (state.isOpen || state.actedTo !== actedTo || state.decision === null) return;
        const act = { decision: state.decision, actor: state.decidedBy!, reason: state.reason!, flagId };
        await this.act(transaction, { ...state, decision: state.decision }, runs, act);
        await transaction.query(ACTED, [flagId, endOf(runs)]);
      });
    });
  }

  /** Runs work on the flag's runs behind a position, under the lanes of their players and with the flag locked. */
  private async part<T>(
    flagId: string,
    behind: number,
    work: (transaction: SqlRunner, state: FlagState, runs: RunToAct[]) => Promise<T>,
  ): Promise<T> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const expected = await runsBehind(this.database, flagId, behind);
      const places = this.lanes.sorted(expected, ({ playerId }) => playerId).map(({ place }) => place);
      const lanes = places.map(({ lane }) => lane);
      try {
        return await this.inTurn(async (transaction) => {
          for (const place of places) await takeLane(transaction, place);
          const state = await lockFlag(transaction, flagId);
          const runs = await runsBehind(transaction, flagId, behind);
          if (runs.some(({ playerId }) => !lanes.includes(this.lanes.of(playerId)))) throw new OtherLanes();
          return work(transaction, state, runs);
        }, lanes);
      } catch (error) {
        if (isOfEarlierMap(error)) await this.lanes.refresh(this.database);
        else if (!(error instanceof OtherLanes)) throw error;
      }
    }
    throw new LadderError('OVERLOADED', 'The flag gets more runs all the time; send it again shortly.', {
      retryAfterSeconds: 1,
    });
  }

  /** One transaction at a time in this process: one that waits for lanes keeps a connection. */
  private async inTurn<T>(work: (transaction: SqlRunner) => Promise<T>, lanes: readonly number[] = []): Promise<T> {
    const turn = this.lastPart.then(() => this.database.transaction(work));
    this.lastPart = turn.catch(() => undefined);
    const result = await turn;
    for (const lane of lanes) this.notifier.wake(lane);
    return result;
  }

  /** @returns which steps were taken, by submission */
  private async act(
    transaction: SqlRunner,
    { boardUid, boardId, decision, stood }: FlagState & { decision: StandingDecision },
    runs: readonly RunToAct[],
    act: DecidingAct,
  ): Promise<Record<string, RunStep[]>> {
    const kept = runs.filter(({ now }) => now !== null);
    if (decision === 'ban') {
      for (const playerId of new Set(runs.map((run) => run.playerId))) await this.acts.ban(transaction, playerId, act);
    }
    const taken: Record<string, RunStep[]> = {};
    const verified: number[] = [];
    for (const { now, ...run } of kept) {
      const steps = stepsOf(decision, stood, now!);
      for (const step of steps) await this.take(transaction, step, { ...run, boardUid, boardId }, act);
      if (steps.length > 0) taken[run.submissionId] = steps;
      if (isVerifiedBy(decision, stood, now!)) verified.push(run.position);
    }
    await transaction.query(MARK_VERIFIED, [act.flagId, kept.map(({ position }) => position), verified]);
    return taken;
  }

  private take(transaction: SqlRunner, step: RunStep, run: RunOfFlag, act: DecidingAct): Promise<void> {
    switch (step) {
      case 'verify':
      case 'unverify':
        return this.acts.mark(transaction, run, step === 'verify', act);
      case 'void':
        return this.acts.void(transaction, run, act);
      case 'restore':
        return this.acts.restore(transaction, run, act);
      case 'accept':
        return this.acts.accept(transaction, run, act);
    }
  }
}

const LOCK = `
  SELECT f.board_uid AS "boardUid", b.board_id AS "boardId", f.rule, f.is_open AS "isOpen", f.decision,
    array_remove(f.stood || f.also_stood, NULL) AS stood,
    f.decided_by AS "decidedBy", f.reason, f.acted_to AS "actedTo"
  FROM flags f JOIN boards b USING (board_uid) WHERE f.flag_id = $1 AND b.board_id IS NOT NULL FOR UPDATE OF f`;

async function lockFlag(transaction: SqlRunner, flagId: string): Promise<FlagState> {
  const [state] = await transaction.query<FlagState>(LOCK, [flagId]);
  if (!state) throw flagNotFound(flagId);
  return state;
}

/** What a decision on an open flag takes back. Behind where the last one came to, runs stand as those before it left them. */
function standsAs({ decision, stood, actedTo }: FlagState): StandingDecision[] {
  if (decision === null) return [];
  return actedTo === null ? [decision] : [...new Set([decision, ...stood])];
}

/** Where a board has stopped to keep runs, they are there for some minutes yet; nothing can be done to them. */
const IS_KEPT = `k.board_uid = r.board_uid AND k.player_id = r.player_id AND k.position = r.position
    AND k.position >= (SELECT runs_from FROM boards WHERE board_uid = r.board_uid)`;

const RUNS_BEHIND = `
  SELECT r.player_id AS "playerId", r.position, r.submission_id AS "submissionId",
    CASE WHEN k.position IS NOT NULL THEN json_build_object('held', k.held, 'voided', k.voided, 'verified', k.verified,
      'byFlag', r.has_verified, 'byOthers', EXISTS (SELECT FROM flag_runs o WHERE o.board_uid = r.board_uid
        AND o.player_id = r.player_id AND o.position = r.position AND o.rule <> r.rule AND o.has_verified)) END AS now
  FROM flag_runs r LEFT JOIN runs k ON ${IS_KEPT}
  WHERE r.flag_id = $1 AND r.position > $2 ORDER BY r.position LIMIT ${PART_RUNS}`;

const runsBehind = (database: SqlRunner, flagId: string, behind: number): Promise<RunToAct[]> =>
  database.query(RUNS_BEHIND, [flagId, behind]);

/** Of runs `$2` of flag `$1` those that are verified by it, and no others. */
const MARK_VERIFIED = `
  UPDATE flag_runs SET has_verified = position = ANY ($3::bigint[])
  WHERE flag_id = $1 AND position = ANY ($2::bigint[]) AND has_verified IS DISTINCT FROM (position = ANY ($3::bigint[]))`;

const KEPT_BEHIND = `SELECT FROM flag_runs r JOIN runs k ON ${IS_KEPT} WHERE r.flag_id = $1 AND r.position > $2 LIMIT 1`;

/**
 * @param runs the first of the flag
 * @throws RUN_GONE
 */
async function requireKept(transaction: SqlRunner, flagId: string, runs: readonly RunToAct[]): Promise<void> {
  if (runs.some(({ now }) => now !== null)) return;
  const end = endOf(runs);
  if (end !== null && (await transaction.query(KEPT_BEHIND, [flagId, end])).length > 0) return;
  const detail = 'The runs of this flag are not kept any more: dismiss it, or ban the player.';
  throw new LadderError('RUN_GONE', detail);
}

/** Up to where a decision is carried out with this part; null: to the end. */
const endOf = (runs: readonly RunToAct[]): number | null => (runs.length < PART_RUNS ? null : runs.at(-1)!.position);

const DECIDE = `
  UPDATE flags SET is_open = false, stood = decision, also_stood = array_remove($5::text[], decision), decision = $2,
    reason = $3, decided_by = $4, decided_at = ladder_now()
  WHERE flag_id = $1`;
const ACTED = 'UPDATE flags SET acted_to = $2 WHERE flag_id = $1';
const REOPEN = 'UPDATE flags SET is_open = true WHERE flag_id = $1';

async function reopen(transaction: SqlRunner, flagId: string, asked: AskedDecision): Promise<Flag> {
  const state = await lockFlag(transaction, flagId);
  if (!state.isOpen) {
    await transaction.query(REOPEN, [flagId]);
    await recordAudit(transaction, auditOf(flagId, state, asked, {}));
  }
  return findFlag(transaction, flagId);
}

const auditOf = (
  flagId: string,
  { boardId, rule, decision: stood }: FlagState,
  { decision, actor, reason }: AskedDecision,
  runs: Record<string, RunStep[]>,
): Parameters<typeof recordAudit>[1] => ({
  actor,
  action: 'flag.decide',
  subject: `flag:${flagId}`,
  details: { decision, reason, before: stood, board: boardId, rule, runs },
});

function alreadyDecided(flagId: string, { decision, decidedBy }: FlagState): LadderError {
  const detail = `Flag "${flagId}" is decided (${decision}, by ${decidedBy}): reopen it first.`;
  return new LadderError('FLAG_DECIDED', detail, { decision });
}
