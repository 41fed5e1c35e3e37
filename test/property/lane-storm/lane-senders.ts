import { randomUUID } from 'node:crypto';
import { ScoreSubmitter, type AcceptedSubmission } from '@laddercast/commands';
import { LadderError } from '@laddercast/domain';
import { NO_EXTENSIONS } from '@laddercast/extension';
import type { Identity } from '@laddercast/identity';
import { isDatabaseUnavailable, type SubmissionAnswer } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import type { Dice } from '@laddercast/testing';
import type { LedgerNode } from '../../integration/nodes/ledger-node.js';
import type { LaneProcesses } from './lane-processes.js';

const PLAYERS = 16;
/** Seldom: one of these in a commit is enough for two trips. */
const COUNTED = 0.03;
const BATCH_MAX = 4;
const TRIES_MAX = 3;
const PAUSE_MS = 20;
/** What is answered where a board cannot be looked up anew. */
const AWAY = new LadderError('LEDGER_UNAVAILABLE', 'The database cannot be reached.');
const GAME_SERVER: Identity = { kind: 'key', keyId: 'k', scopes: ['scores:write'] };

/** A run, and what was said of it. */
export interface SentRun {
  submissionId: string;
  idFromClient: boolean;
  board: string;
  playerId: string;
  score: number;
  /** When it was sent first, and answered first, by the monotonic clock. */
  sentMs: number;
  answeredMs: number | null;
  answer: SubmissionAnswer | null;
  tries: number;
  /** Each time that it was sent, it was said that nothing was stored. */
  isSaidLost: boolean;
  /** In which request it was counted, and where in that; null: that is not known. */
  request: number | null;
  place: number;
}

/** Sends runs to all processes, again where they are refused or for no reason, and notes what was said. */
export class LaneSenders {
  readonly runs: SentRun[] = [];
  /** What must not be said. */
  readonly wrong: string[] = [];
  private readonly submitters: ScoreSubmitter[];
  private requests = 0;

  constructor({ nodes }: LaneProcesses) {
    this.submitters = nodes.map(({ boards, ledger }: LedgerNode) => new ScoreSubmitter(boards, ledger, NO_EXTENSIONS));
  }

  async send(dice: Dice, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const runs = this.newRuns(dice);
      const triesMax = runs[0]!.idFromClient ? TRIES_MAX : 1;
      for (let tries = 0; tries < triesMax; tries += 1) {
        await this.request(runs, dice.oneOf(this.submitters));
        if (runs.every(({ answer }) => answer !== null) && dice.isUnder(0.7)) break;
      }
      await sleep(dice.below(PAUSE_MS));
    }
  }

  /** Sends all again that can be; each is a repetition exactly where it was stored. */
  async repeat(dice: Dice, stored: ReadonlySet<string>): Promise<void> {
    const again = this.runs.filter(({ idFromClient }) => idFromClient);
    const replayed = await this.request(again, dice.oneOf(this.submitters));
    again.forEach((run, at) => {
      const isStored = stored.has(run.submissionId);
      if (replayed[at] !== isStored) this.say(run, `stored: ${isStored}, a repetition: ${replayed[at]}`);
    });
  }

  private newRuns(dice: Dice): SentRun[] {
    const idFromClient = dice.isUnder(0.6);
    const playerId = `p${dice.below(PLAYERS)}`;
    const runs = Array.from({ length: dice.from(1, BATCH_MAX) }, () => ({
      submissionId: randomUUID(),
      idFromClient,
      board: dice.isUnder(COUNTED) ? 'counted' : 'plain',
      playerId: dice.isUnder(0.5) ? playerId : `p${dice.below(PLAYERS)}`,
      score: dice.from(1, 5),
      ...{ sentMs: monotonicMs(), answeredMs: null, answer: null, tries: 0, isSaidLost: true, request: null, place: 0 },
    }));
    this.runs.push(...runs);
    return runs;
  }

  /** As one request does, in this order. @returns of each whether it was a repetition; null: refused */
  private async request(runs: readonly SentRun[], submitter: ScoreSubmitter): Promise<(boolean | null)[]> {
    const request = (this.requests += 1);
    for (const run of runs) run.tries += 1;
    const prepared = await Promise.all(
      runs.map(async ({ board, playerId, score, submissionId, idFromClient }) => {
        const body = { playerId, score, ...(idFromClient && { submissionId }) };
        const one = await submitter.prepare(GAME_SERVER, { boardId: board, body });
        // So that what has no id of the client's is known again, too.
        return { write: { ...one.write, submissionId }, again: one.again };
      }),
    );
    const settled = await submitter.commitAll(prepared);
    return settled.map((one, place) =>
      one.status === 'fulfilled'
        ? this.noteAnswer(runs[place]!, one.value, { request, place })
        : this.noteRefusal(runs[place]!, one.reason),
    );
  }

  private noteAnswer(run: SentRun, { receipt }: AcceptedSubmission, at: { request: number; place: number }): boolean {
    const { answer, replayed } = receipt;
    const isFirst = run.answer === null;
    if (isFirst) Object.assign(run, { answer, answeredMs: monotonicMs(), isSaidLost: false, ...(!replayed && at) });
    if (isFirst && replayed && run.tries === 1) this.say(run, 'a repetition when it was sent once');
    if (!isFirst && !replayed) this.say(run, 'counted for the first time twice');
    const answers = [answer, run.answer].map((one) => JSON.stringify(one));
    if (answers[0] !== answers[1]) this.say(run, `answered ${answers[0]} after ${answers[1]}`);
    return replayed;
  }

  private noteRefusal(run: SentRun, error: unknown): null {
    const { code, detail } =
      isDatabaseUnavailable(error) && !(error instanceof LadderError) ? AWAY : (error as LadderError);
    if (code !== 'LEDGER_UNAVAILABLE' && code !== 'OVERLOADED') this.say(run, String(error));
    if (code !== 'OVERLOADED' && !/nothing was stored/.test(detail)) run.isSaidLost = false;
    return null;
  }

  private say(run: SentRun, what: string): void {
    this.wrong.push(`${run.submissionId} (of the client: ${run.idFromClient}): ${what}`);
  }
}
