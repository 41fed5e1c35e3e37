import { LadderError, reasonToHold, type BoardDefinition, type RunKind } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import type { RunStep } from '../integrity/decision-acts.js';
import { decideFlagOfHeld, flagHeldAgain, unmarkVerified } from '../integrity/flag-rows.js';
import { noteRunChange } from '../integrity/examined-runs.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import { noteRevision } from '../standings/revision-notes.js';
import { boardOfRuns, type BoardOfRuns } from './board-of-runs.js';
import { tellRunNow } from './recorded-run.js';
import { EntryRefold, type RefoldedWindow } from './entry-refold.js';

/** Which run, and who does what to it for which reason. */
export interface RunAct {
  boardId: string;
  submissionId: string;
  /** Whose run it is; wanted where players submit for themselves, since ids are per player there. */
  playerId?: string;
  actor: string;
  reason: string;
  /** Whether it follows from the dismissal of a flag: what counts from then on, nobody has looked at. */
  isDismissed?: boolean;
}

/** What an act did. */
export interface RunActed {
  playerId: string;
  /** Whether it changed anything about the run. */
  changed: boolean;
  /** The log position of the run, or of the entry that changed with it. */
  version: number;
  /** The windows of the run. */
  windows: RefoldedWindow[];
}

interface RunFlags {
  held: boolean;
  voided: boolean;
  verified: boolean;
}

interface ActedRun extends RunFlags {
  playerId: string;
  position: number;
  submissionId: string;
  kind: RunKind;
  score: number | null;
  columns: number[];
  acceptedAtMs: number;
  windowUids: number[];
}

type ChangeOfRun = (run: ActedRun, definition: BoardDefinition) => Partial<RunFlags>;

/** What is done to which player's runs. */
interface Acting {
  action: string;
  act: RunAct;
  board: BoardOfRuns;
  playerId: string;
}

/** A run by its place in the order of acceptance. */
export interface RunPlace {
  boardUid: number;
  playerId: string;
  position: number;
}

const STEPS: Record<RunStep, Partial<RunFlags>> = {
  void: { voided: true },
  restore: { voided: false },
  accept: { held: false },
  verify: { verified: true },
  unverify: { verified: false },
};

/** As the audit log names them. */
const ACTIONS: Record<RunStep, string> = {
  void: 'run.void',
  restore: 'run.restore',
  accept: 'run.accept',
  verify: 'run.verify',
  unverify: 'run.verify',
};

const COLUMNS = `
  player_id AS "playerId", position, submission_id AS "submissionId", kind, score, columns, held, voided, verified,
  window_uids AS "windowUids",
  floor(extract(epoch FROM accepted_at) * 1000)::bigint AS "acceptedAtMs"`;

/** A run by its id; an operator's act that went unanswered, and was sent again, may stand twice. */
const FIND_RUNS = `
  SELECT ${COLUMNS} FROM runs
  WHERE board_uid = $1 AND owner = $2 AND submission_id = $3 AND position >= $4 ORDER BY position`;

const FIND_RUN = `SELECT ${COLUMNS} FROM runs WHERE board_uid = $1 AND player_id = $2 AND position = $3`;

const CHANGE_RUN = `
  UPDATE runs SET held = $4, voided = $5, verified = $6, reason = $7
  WHERE board_uid = $1 AND player_id = $2 AND position = $3`;

const WAS_SUBMITTED = 'SELECT 1 FROM submissions WHERE board_uid = $1 AND owner = $2 AND submission_id = $3';

/**
 * Acts on single runs: which of them count. Each is one transaction in the player's lane with its record in the audit log;
 * the entries follow by folding. An act that changes nothing writes nothing.
 */
@Injectable()
export class RunActs {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
    private readonly refold: EntryRefold,
  ) {}

  /**
   * Takes a run out: entries fall back to what the other runs come to.
   * @throws BOARD_NOT_FOUND, RUNS_NOT_KEPT, RUN_NOT_FOUND, RUN_GONE, VALIDATION_FAILED
   */
  void(act: RunAct): Promise<RunActed> {
    return this.change('run.void', act, () => ({ voided: true }));
  }

  /**
   * As {@link void}, but only a run that is held still: for the clock, once nobody has decided on it.
   * @returns null where the run is not kept any more
   */
  voidHeld(run: RunPlace, act: RunAct): Promise<RunActed | null> {
    return this.work.holding(run.playerId, (transaction) =>
      this.changeOne(transaction, 'run.void', run, act, ({ held }) => (held ? { voided: true } : {})),
    );
  }

  /** Takes back {@link void}: a run that was held before is held again. @throws as it does */
  restore(act: RunAct): Promise<RunActed> {
    return this.change('run.restore', act, () => ({ voided: false }));
  }

  /**
   * Says that a run was looked at: a held one counts from then on. Taken back, it is held again where runs count once they are
   * verified.
   * @throws as {@link void} does
   */
  verify(act: RunAct, verified: boolean): Promise<RunActed> {
    return this.change('run.verify', act, (run, { counts }) => ({
      verified,
      held: verified ? false : run.held || counts === 'verified',
    }));
  }

  /**
   * One of these in a transaction of others, which holds the player's lane: what a decision does to a run.
   * @returns null where the run is not kept any more
   */
  within(transaction: SqlRunner, step: RunStep, run: RunPlace, act: RunAct): Promise<RunActed | null> {
    return this.changeOne(transaction, ACTIONS[step], run, act, () => STEPS[step]);
  }

  private async changeOne(
    transaction: SqlRunner,
    action: string,
    run: RunPlace,
    act: RunAct,
    changeOf: ChangeOfRun,
  ): Promise<RunActed | null> {
    const board = await boardOfRuns(transaction, act.boardId);
    const [found] = await transaction.query<ActedRun>(FIND_RUN, [run.boardUid, run.playerId, run.position]);
    if (!found || board.uid !== run.boardUid || run.position < board.runsFrom) return null;
    return this.apply(transaction, { action, act, board, playerId: run.playerId }, [found], changeOf);
  }

  private async change(action: string, act: RunAct, changeOf: ChangeOfRun): Promise<RunActed> {
    const board = await boardOfRuns(this.database, act.boardId);
    const owner = ownerOf(board.definition, act);
    const playerId = act.playerId ?? (await this.playerOf(board, owner, act));
    return this.work.holding(playerId, async (transaction) => {
      // Whatever changes a board holds all lanes, so from here on it stays.
      const current = await boardOfRuns(transaction, act.boardId);
      const runs = await runsOf(transaction, current, owner, act);
      const ofPlayer = runs.filter((run) => run.playerId === playerId);
      if (ofPlayer.length === 0) {
        // Where it is kept, it is another player's.
        throw runs.length > 0 ? unknownRun(act) : await notFound(transaction, current, owner, act);
      }
      const acted = await this.apply(transaction, { action, act, board: current, playerId }, ofPlayer, changeOf);
      for (const run of ofPlayer) await this.flagAgain(transaction, current, run, changeOf);
      return acted;
    });
  }

  /** Changes runs of a player under its lane, and the entries with them. */
  private async apply(
    transaction: SqlRunner,
    { action, act, board, playerId }: Acting,
    runs: readonly ActedRun[],
    changeOf: ChangeOfRun,
  ): Promise<RunActed> {
    await decideHeld(transaction, board, act, runs, changeOf);
    const changed: ActedRun[] = [];
    let isAccepted = false;
    let isFoldedAnew = false;
    const lane = this.lanes.of(playerId);
    for (const run of runs) {
      const after = { ...run, ...changeOf(run, board.definition) };
      if (isSame(run, after)) continue;
      const parameters = [board.uid, playerId, run.position, after.held, after.voided, after.verified, act.reason];
      await transaction.query(CHANGE_RUN, parameters);
      if (after.held !== run.held || after.voided !== run.voided) {
        const actPosition = await nextPosition(transaction);
        await noteRunChange(transaction, { boardUid: board.uid, ...run, actPosition, before: run });
      }
      if (run.verified && !after.verified) await unmarkVerified(transaction, { boardUid: board.uid, ...run });
      // Rules look at runs that count: a held one was passed by when it came.
      if (run.held && !after.held) await tellRunNow(transaction, lane, { boardUid: board.uid, ...run });
      isAccepted ||= run.held && countsNow(after);
      isFoldedAnew ||= countsNow(run) !== countsNow(after);
      changed.push(after);
    }
    const ofRun = runs.at(-1)!.position;
    if (changed.length === 0) return { playerId, changed: false, version: ofRun, windows: [] };
    const windowUids = [...new Set(changed.flatMap((run) => run.windowUids))];
    const sinceMs = Math.min(...changed.map(({ acceptedAtMs }) => acceptedAtMs));
    const asked = { board, playerId, windowUids, sinceMs, isAccepted, nowMs: await ledgerNowMs(transaction) };
    // Where the same runs count nothing is folded: that would bring back entries of runs that a limit took.
    const { version, windows, touched } = isFoldedAnew
      ? await this.refold.refold(transaction, lane, asked)
      : { version: null, windows: await this.refold.standing(transaction, asked), touched: [] };
    const record = auditOf({ action, act, board, playerId }, changed, windows);
    const auditId = await recordAudit(transaction, record);
    await noteRevision(transaction, touched, auditId);
    // Rows show more of a run than ranks do: whether it is verified, say. Whoever remembers them looks again.
    const position = await nextPosition(transaction);
    await appendEvent(transaction, lane, position, playerId, { type: 'player-changed', playerId });
    return { playerId, changed: true, version: version ?? ofRun, windows };
  }

  /** Nobody would find a run that waits without an open flag. A decision on its flag says by itself what becomes of that. */
  private async flagAgain(
    transaction: SqlRunner,
    { uid, definition }: BoardOfRuns,
    run: ActedRun,
    changeOf: ChangeOfRun,
  ): Promise<void> {
    const after = { ...run, ...changeOf(run, definition) };
    const waits = ({ held, voided }: RunFlags): boolean => held && !voided;
    if (waits(run) || !waits(after)) return;
    const why = reasonToHold(definition, run.score!, false) ?? 'The run was held when it came.';
    await flagHeldAgain(transaction, this.lanes.of(run.playerId), { ...run, rule: 'held', why, boardUid: uid });
  }

  /** @throws RUN_NOT_FOUND, RUN_GONE */
  private async playerOf(board: BoardOfRuns, owner: string, act: RunAct): Promise<string> {
    const [run] = await runsOf(this.database, board, owner, act);
    if (!run) throw await notFound(this.database, board, owner, act);
    return run.playerId;
  }
}

const runsOf = (sql: SqlRunner, board: BoardOfRuns, owner: string, act: RunAct): Promise<ActedRun[]> =>
  sql.query<ActedRun>(FIND_RUNS, [board.uid, owner, act.submissionId, board.runsFrom]);

/** Ids are per board; where players submit for themselves, per player too. @throws VALIDATION_FAILED */
function ownerOf({ submitters }: BoardDefinition, { playerId, boardId }: RunAct): string {
  if (submitters === 'servers') return '';
  if (playerId !== undefined) return playerId;
  const detail = `On board "${boardId}" players submit for themselves, and ids are theirs: say whose run it is (?player=).`;
  throw new LadderError('VALIDATION_FAILED', detail, { errors: [{ pointer: '?player', message: 'is required' }] });
}

/** What is done to a held run decides its flag as well, where it is open still. */
async function decideHeld(
  transaction: SqlRunner,
  board: BoardOfRuns,
  { actor, reason, isDismissed = false }: RunAct,
  runs: readonly ActedRun[],
  changeOf: ChangeOfRun,
): Promise<void> {
  for (const run of runs.filter(({ held, voided }) => held && !voided)) {
    const { held = true, voided = false } = changeOf(run, board.definition);
    if (held && !voided) continue;
    const taken = isDismissed ? 'dismiss' : 'accept';
    const decision = voided ? 'void' : taken;
    await decideFlagOfHeld(transaction, { boardUid: board.uid, ...run, decision, actor, reason });
  }
}

function unknownRun({ boardId, submissionId, playerId }: RunAct): LadderError {
  const ofPlayer = playerId === undefined ? '' : ` of "${playerId}"`;
  return new LadderError('RUN_NOT_FOUND', `Board "${boardId}" knows no run "${submissionId}"${ofPlayer}.`);
}

async function notFound(sql: SqlRunner, board: BoardOfRuns, owner: string, act: RunAct): Promise<LadderError> {
  const { submissionId } = act;
  const [known] = await sql.query(WAS_SUBMITTED, [board.uid, owner, submissionId]);
  if (!known) return unknownRun(act);
  const detail = `The run "${submissionId}" is part of what is kept as one sum only: it is too old to be acted on alone.`;
  return new LadderError('RUN_GONE', detail);
}

const countsNow = ({ held, voided }: RunFlags): boolean => !held && !voided;

const isSame = (a: RunFlags, b: RunFlags): boolean =>
  a.held === b.held && a.voided === b.voided && a.verified === b.verified;

function auditOf(
  { action, act: { boardId, submissionId, actor, reason }, playerId }: Acting,
  changed: readonly ActedRun[],
  refolded: readonly RefoldedWindow[],
): Parameters<typeof recordAudit>[1] {
  const windows = refolded.map(({ windowId: window, before, after }) => ({
    window,
    before: before && shownOf(before),
    after: after && shownOf(after),
  }));
  const verified = action === ACTIONS.verify ? { verified: changed.at(-1)!.verified } : {};
  const details = { reason, playerId, ...verified, windows };
  return { actor, action, subject: `run:${boardId}/${submissionId}`, details };
}

const shownOf = ({ score, columns, achievedAtMs }: NonNullable<RefoldedWindow['before']>): object => ({
  score,
  columns,
  achievedAtMs,
});
