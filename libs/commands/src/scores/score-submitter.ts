import { hash } from 'node:crypto';
import {
  assertColumnsInBounds,
  assertRawScoreInBounds,
  assertScoreInBounds,
  LadderError,
  publishedPatch,
  validationFailed,
  type Board,
  type PublishedPatch,
} from '@laddercast/domain';
import { CHECK_LIMIT_MS, Extensions, type CheckedSubmission, type CheckVerdict } from '@laddercast/extension';
import {
  BoardCatalog,
  Ledger,
  runsNotKept,
  StaleBoardError,
  type SubmitReceipt,
  type SubmitWrite,
} from '@laddercast/ledger';
import { inTime, metrics } from '@laddercast/platform';
import type { BoardSubmission } from '../commands.js';
import { assertIdentified, assertMaySubmit, type Identity } from '@laddercast/identity';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { assertMayTryAgain, boardNow, refuseFed } from '../boards/stale-board.js';
import { canonical, parseTimestamp } from '../bodies/compiled-body.js';
import type { SubmissionBody } from '../bodies/submission-body.js';

export const METADATA_BYTES_MAX = 1024;
/** A submission that passed all checks before the ledger. */
export interface PreparedSubmission {
  write: SubmitWrite;
  /** Prepares the write anew, for the board as it is now. */
  again: () => Promise<SubmitWrite>;
}

/** A submission that counted, with the board it counted on. */
export interface AcceptedSubmission {
  board: Board;
  write: SubmitWrite;
  receipt: SubmitReceipt;
}

/** Takes a submission from the request to the durable write. */
@Injectable()
export class ScoreSubmitter {
  constructor(
    private readonly boards: BoardCatalog,
    private readonly ledger: Ledger,
    private readonly extensions: Extensions,
  ) {}

  /**
   * All checks before the ledger: rights, the board's rules, the teams' checks.
   * @throws LadderError with what is wrong
   */
  async prepare(identity: Identity, submission: BoardSubmission): Promise<PreparedSubmission> {
    const again = (): Promise<SubmitWrite> => this.toWrite(identity, submission);
    try {
      assertIdentified(identity);
      return { write: await again(), again };
    } catch (error) {
      metrics.submissionsRefused.inc({ code: error instanceof LadderError ? error.code : 'INTERNAL' });
      throw error;
    }
  }

  /**
   * Resolves when the run is durable.
   * @throws LadderError with what is wrong
   */
  async commit(prepared: PreparedSubmission): Promise<AcceptedSubmission> {
    const [settled] = await this.commitAll([prepared]);
    if (settled!.status === 'rejected') throw settled!.reason;
    return settled!.value;
  }

  /**
   * The same of each, in their order. Writes of one player are counted in it: where a board has changed, its writes are tried again
   * together, as a later one must not be ready before an earlier one.
   */
  async commitAll(prepared: readonly PreparedSubmission[]): Promise<PromiseSettledResult<AcceptedSubmission>[]> {
    const settled = await Promise.allSettled(prepared.map(({ write }) => this.write(write)));
    for (let tries = 1; ; tries += 1) {
      const stale = [...settled.keys()].filter((at) => isStale(settled[at]!));
      if (stale.length === 0) return settled;
      const anew = await Promise.allSettled(stale.map((at) => this.anew(prepared[at]!, tries)));
      const again = await Promise.allSettled(
        anew.map((one) => (one.status === 'fulfilled' ? this.write(one.value) : Promise.reject(one.reason as Error))),
      );
      stale.forEach((at, index) => (settled[at] = again[index]!));
    }
  }

  private async write(write: SubmitWrite): Promise<AcceptedSubmission> {
    return { board: write.board, write, receipt: await this.ledger.write(write) };
  }

  private async anew({ write, again }: PreparedSubmission, tries: number): Promise<SubmitWrite> {
    assertMayTryAgain(tries);
    await this.boards.refresh();
    return { ...(await again()), submissionId: write.submissionId };
  }

  private async toWrite(identity: Identity, { boardId, body }: BoardSubmission): Promise<SubmitWrite> {
    const board = await boardNow(this.boards, boardId);
    assertMaySubmit(identity, board, body.playerId);
    refuseFed(board);
    const write = toWrite(board, body);
    try {
      assertRules(write, body, identity);
      const patch = await this.patchOf(board, body);
      return { ...write, ...(patch && { patch }), ...(await this.ask(board, write, body)) };
    } catch (error) {
      // A retry gets its first answer, whatever has changed since, and only the ledger knows whether this is a retry.
      if (error instanceof LadderError && !error.retriable && write.idFromClient) return { ...write, refusal: error };
      throw error;
    }
  }

  /**
   * The patch of a run on a board with decay. One that was published a moment ago is looked for once more.
   * @throws VALIDATION_FAILED, PATCH_UNKNOWN, NOT_SUPPORTED
   */
  private async patchOf(board: Board, { patch }: SubmissionBody): Promise<PublishedPatch | undefined> {
    if (!board.patches) {
      if (patch === undefined) return undefined;
      const detail = `Board "${board.id}" has no decay, and takes no patch: leave it out.`;
      throw new LadderError('NOT_SUPPORTED', detail, { option: 'patch' });
    }
    if (patch === undefined) {
      throw validationFailed([
        { pointer: '/patch', message: `is required: the patch of ${board.patches.id} of the run` },
      ]);
    }
    if (!Object.hasOwn(board.patches.published, patch)) await this.boards.refresh();
    return publishedPatch((await this.boards.byUid(board.uid))?.patches ?? board.patches, patch, 422);
  }

  /** @returns what the checks say of the run. @throws SUBMISSION_REJECTED, OVERLOADED, RUNS_NOT_KEPT */
  private async ask(
    board: Board,
    write: SubmitWrite,
    body: SubmissionBody,
  ): Promise<Pick<SubmitWrite, 'hold' | 'verified'>> {
    const asked = this.extensions.checks.filter((check) => check.boards === null || check.boards.includes(board.id));
    const said: Pick<SubmitWrite, 'hold' | 'verified'> = {};
    if (asked.length === 0) return said;
    const submission: CheckedSubmission = {
      submissionId: write.submissionId,
      playerId: write.playerId,
      score: write.score,
      operator: board.definition.operator === 'sum' ? (write.operator ?? 'sum') : null,
      columns: body.columns ?? {},
      achievedAt: body.achievedAt ?? null,
      metadata: body.metadata ?? null,
      sourceId: body.sourceId ?? null,
      patch: body.patch ?? null,
    };
    for (const check of asked) {
      const name = check.constructor.name;
      const answer = await askCheck(name, () => check.check(board, submission));
      if (answer.verdict === 'reject') throw new LadderError('SUBMISSION_REJECTED', answer.reason, { check: name });
      // What a check asks for cannot be done: to count the run all the same would let through what it wanted looked at.
      if (answer.verdict === 'hold' && board.runsFrom === undefined) throw runsNotKept(board.id);
      if (answer.verdict === 'hold') said.hold ??= { check: name, reason: answer.reason };
      else if (answer.verified) said.verified = true;
    }
    return said;
  }
}

/** @throws OVERLOADED when it throws, whether at once or by its promise, and when it takes too long */
async function askCheck(name: string, ask: () => Promise<CheckVerdict>): Promise<CheckVerdict> {
  try {
    return await inTime(ask(), CHECK_LIMIT_MS, `It took longer than ${CHECK_LIMIT_MS} ms.`);
  } catch (cause) {
    const detail = `The check ${name} could not decide; nothing was stored.`;
    throw new LadderError('OVERLOADED', detail, { check: name, retryAfterSeconds: 2 }, { cause });
  }
}

const isStale = (one: PromiseSettledResult<unknown>): boolean =>
  one.status === 'rejected' && one.reason instanceof StaleBoardError;

/** The board's own rules, apart from those of its windows, which the ledger checks. */
function assertRules({ board, score, columns, metadata }: SubmitWrite, body: SubmissionBody, identity: Identity): void {
  const { definition } = board;
  if (identity.kind === 'player' && body.achievedAt !== undefined && !definition.clientTime) {
    throw new LadderError(
      'ACHIEVED_AT_REFUSED',
      `Board "${board.id}" takes the time from the server; leave achievedAt out.`,
    );
  }
  assertOperator(board, body);
  assertRunFields(board, body, identity);
  assertScoreInBounds(definition, score, 'The score');
  if (definition.decay) assertRawScoreInBounds(score);
  assertColumnsInBounds(definition, columns);
  assertMetadataFits(metadata);
}

/** @throws OPERATOR_REFUSED */
function assertOperator({ id, definition }: Board, { operator }: SubmissionBody): void {
  const taken = definition.submissionOperators ?? [];
  if (operator === undefined || taken.includes(operator)) return;
  const remedy =
    definition.operator === 'sum'
      ? `name it in the board's submissionOperators`
      : `only sum boards take one: leave it out`;
  throw new LadderError(
    'OPERATOR_REFUSED',
    `Board "${id}" takes no submission with the operator ${operator}; ${remedy}.`,
  );
}

/** @throws FORBIDDEN, RUNS_NOT_KEPT */
function assertRunFields(board: Board, { proof, verified }: SubmissionBody, identity: Identity): void {
  if (verified && identity.kind === 'player') {
    throw new LadderError('FORBIDDEN', 'A player cannot verify its own run: leave verified out.');
  }
  if (board.runsFrom === undefined && (proof !== undefined || verified)) throw runsNotKept(board.id);
}

/** @throws METADATA_TOO_LARGE */
export function assertMetadataFits(metadata: string | null): void {
  const metadataBytes = metadata === null ? 0 : Buffer.byteLength(metadata);
  if (metadataBytes <= METADATA_BYTES_MAX) return;
  throw new LadderError(
    'METADATA_TOO_LARGE',
    `metadata has ${metadataBytes} bytes of JSON; at most ${METADATA_BYTES_MAX} are kept.`,
  );
}

function toWrite(board: Board, body: SubmissionBody): SubmitWrite {
  const metadata = body.metadata === undefined ? null : JSON.stringify(body.metadata);
  return {
    kind: 'submit',
    board,
    playerId: body.playerId,
    submissionId: body.submissionId ?? uuidv7(),
    idFromClient: body.submissionId !== undefined,
    score: body.score,
    ...(body.operator !== undefined && { operator: body.operator }),
    ...(body.sourceId !== undefined && { sourceId: body.sourceId }),
    ...(body.proof !== undefined && { proof: body.proof }),
    ...(body.verified && { verified: true }),
    columns: columnValues(board, body.columns ?? {}),
    achievedAtMs: body.achievedAt === undefined ? null : parseTimestamp(body.achievedAt),
    windowId: body.window ?? null,
    metadata,
    bodySha256: hash('sha256', canonical(body), 'buffer'),
    refusal: null,
  };
}

/** The columns in the board's order; exactly these must be there. */
export function columnValues(board: Board, given: Record<string, number>): number[] {
  const { columns } = board.definition;
  const names = columns.map(({ name }) => name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const missing = names.filter((name) => !Object.hasOwn(given, name));
  if (unknown.length > 0 || missing.length > 0) {
    const wanted = names.length === 0 ? 'takes no columns' : `wants exactly these columns: ${names.join(', ')}`;
    throw new LadderError('COLUMNS_MISMATCH', `Board "${board.id}" ${wanted}.`, { missing, unknown });
  }
  return names.map((name) => given[name]!);
}
