import { patchIdOf, type Board, type RunRecorded } from '@laddercast/domain';
import { describeCause, isRetriable, parkAllInto } from '@laddercast/event-log';
import {
  EARLIER_RUNS_MAX,
  EXAMINATION_LIMIT_MS,
  Extensions,
  type ExaminedRun,
  type IntegrityRule,
} from '@laddercast/extension';
import {
  BoardCatalog,
  earlierRuns,
  Flags,
  PostgresDatabase,
  RuleExaminations,
  type DueExamination,
  type EarlierRun,
} from '@laddercast/ledger';
import { backoffMs, inTime, metrics, toTimestamp } from '@laddercast/platform';
import { Injectable, Logger } from '@nestjs/common';
import { checkedSuspicion } from './checked-suspicion.js';
import { letterOf } from './examine-runs.handler.js';
import { INTEGRITY_GROUP } from './integrity-commands.js';

/** How many runs one rule is asked for at once. */
export const AT_ONCE = 8;
/** A run that fails by itself so often is parked; tries while a service is away do not count. */
export const TRIES_MAX = 5;
const BACKOFF = { firstMs: 1000, maxMs: 60_000 };
/** Longer than an examination can take: due again only if this process died. */
const TAKEN_FOR_MS = 3 * EXAMINATION_LIMIT_MS;
const TOO_LONG = `It took longer than ${EXAMINATION_LIMIT_MS} ms.`;

/** Asks the rules of teams for the runs that wait for them: some at once for each rule, so that none waits for another. */
@Injectable()
export class RuleExaminer {
  private readonly log = new Logger('integrity');
  private readonly running = new Map<string, Set<Promise<void>>>();

  constructor(
    private readonly extensions: Extensions,
    private readonly examinations: RuleExaminations,
    private readonly boards: BoardCatalog,
    private readonly flags: Flags,
    private readonly database: PostgresDatabase,
  ) {}

  /** The rules of this process. */
  get rules(): readonly IntegrityRule[] {
    return this.extensions.integrityRules;
  }

  /** Begins with what is due for a rule, as much as there is room for, until nothing is. */
  async look(rule: IntegrityRule, signal: AbortSignal): Promise<void> {
    const running = this.running.get(rule.name) ?? new Set();
    this.running.set(rule.name, running);
    while (!signal.aborted) {
      const room = AT_ONCE - running.size;
      if (room > 0) {
        const due = await this.examinations.take(rule.name, room, TAKEN_FOR_MS);
        for (const one of due) {
          const examined = this.examine(rule, one).finally(() => running.delete(examined));
          running.add(examined);
        }
        if (due.length < room) return;
      }
      await Promise.race(running);
    }
  }

  /** Resolves once nothing is under way for a rule. */
  async settled(rule: IntegrityRule): Promise<void> {
    await Promise.all(this.running.get(rule.name) ?? []);
  }

  private async examine(rule: IntegrityRule, due: DueExamination): Promise<void> {
    try {
      const board = await this.boards.byUid(due.run.boardUid);
      // Deleted or reset meanwhile, or the board names the rule no more.
      if (board?.definition.integrity?.rules.includes(rule.name)) await this.ask(rule, board, due.run);
      await this.examinations.end(due);
    } catch (error) {
      metrics.examinationFailures.inc({ rule: rule.name });
      // What cannot be noted now is due again by itself.
      await this.failed(due, error).catch((failure: unknown) =>
        this.log.warn(`${due.rule}: ${(failure as Error).message}`),
      );
    }
  }

  private async ask(rule: IntegrityRule, board: Board, run: RunRecorded): Promise<void> {
    const most = Math.min(rule.earlierRuns, EARLIER_RUNS_MAX);
    const earlier = await earlierRuns(this.database, board.uid, run, most);
    const shown = earlier.map((one) => shownRun(board, run.playerId, one));
    const examining = rule.examine(shownRun(board, run.playerId, { ...run, state: 'counted' }), shown, board);
    const suspicion = checkedSuspicion(await inTime(examining, EXAMINATION_LIMIT_MS, TOO_LONG));
    if (suspicion === null) return;
    const { key = String(run.position), ...raised } = suspicion;
    const { playerId, position, submissionId } = run;
    await this.flags.raise({
      ...{ ...raised, rule: rule.name, boardUid: board.uid, playerId, subject: playerId, key },
      runs: [{ playerId, position, submissionId }],
    });
  }

  private async failed(due: DueExamination, error: unknown): Promise<void> {
    const waitMs = backoffMs(due.tries - 1, BACKOFF.firstMs, BACKOFF.maxMs);
    const failures = due.failures + (isRetriable(error) ? 0 : 1);
    if (failures < TRIES_MAX) return this.examinations.postpone(due, waitMs, failures);
    this.log.error(`A run fails by itself in the rule "${due.rule}" and is parked in dead_letters: ${String(error)}`);
    await this.database.transaction(async (transaction) => {
      await parkAllInto(transaction, INTEGRITY_GROUP)([letterOf(due, `rule ${due.rule}: ${describeCause(error)}`)]);
      await this.examinations.end(due, transaction);
    });
  }
}

function shownRun({ definition, patches }: Board, playerId: string, run: EarlierRun): ExaminedRun {
  const patch = patches && run.patch != null ? patchIdOf(patches, run.patch) : undefined;
  const { submissionId, score, columns, achievedAtMs, acceptedAtMs, metadata, proof, verified, sourceId, state } = run;
  return {
    ...{ submissionId, playerId, score, proof, verified, sourceId, state, version: run.position },
    columns: Object.fromEntries(definition.columns.map(({ name }, index) => [name, columns[index]!])),
    achievedAt: toTimestamp(achievedAtMs),
    acceptedAt: toTimestamp(acceptedAtMs),
    metadata: metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>),
    ...(patch !== undefined && { patch }),
  };
}
