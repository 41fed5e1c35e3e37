import { setTimeout as sleep } from 'node:timers/promises';
import { FAULT_BOARDS, type FaultBoard } from './boards.js';
import { call, type Answer } from './call.js';
import { Chance } from './chance.js';
import type { FaultInstallation } from './installation.js';
import { SentRuns } from './sent-runs.js';
import { Waits } from './waits.js';

/** A submission as it is sent, each time with the same id and body. */
export interface Run {
  board: FaultBoard;
  submissionId: string;
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt?: string;
}

/** What a 200 promised. */
export interface Answered extends Run {
  outcome: string;
  previousScore: number | null;
  version: number;
  /** As the answer says it; the entry's, not the run's. */
  entryScore: number;
}

export interface LoadOptions {
  clients: number;
  boards: readonly FaultBoard[];
  players: number;
  seed: number;
  /** Requests a second of each client while all is well, 20 by default. */
  perSecond?: number;
  /** Where requests go; default: every api process, the next one after a failure. */
  urls?: readonly string[];
  /** Told of every run before it is sent. */
  sent?: SentRuns;
}

const BATCH_MAX = 20;
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 1000;
/** How long a request may be tried again after the end of the load. */
const FINISHED_WITHIN_MS = 60_000;
/** 503 and 429 of a service in trouble; everything else is unexpected. */
const NOT_NOW = new Set([429, 503]);

/**
 * Clients that submit, alone and in batches, with ids of their own, and send again what was not answered, as the
 * contract says: the same id and body, after `Retry-After`. Now and then they send again what was answered, and expect
 * the same answer.
 */
export class Load {
  readonly answered = new Map<string, Answered>();
  /** How often each status came; 0: no answer. */
  readonly statuses = new Map<number, number>();
  /** What no client should ever see: another status, a refusal without `Retry-After`, a second answer that differs. */
  readonly wrong: string[] = [];
  /** The longest time that an answer took, 200 or not, in milliseconds. */
  slowestMs = 0;
  /** Runs that were sent and never answered: they may have counted or not. */
  readonly open = new Map<string, Run>();
  /** How long requests wait, since {@link countAnew}. */
  readonly waits = new Waits();
  /** What was sent before the last {@link countAnew}. */
  private before = new Set<string>();
  /** Everything that was ever sent; a scenario adds what it sends by itself to these boards. */
  readonly sent: SentRuns;
  private readonly clients: Promise<void>[];
  private endsAtMs = Infinity;
  private isStopping = false;
  private isHeld = false;

  private constructor(
    private readonly installation: FaultInstallation,
    private readonly options: LoadOptions,
  ) {
    this.sent = options.sent ?? new SentRuns();
    const chance = new Chance(options.seed);
    this.clients = Array.from({ length: options.clients }, (_, client) => this.client(client, chance.fork(client)));
  }

  static start(installation: FaultInstallation, options: LoadOptions): Load {
    return new Load(installation, options);
  }

  /** Ends the load once every request was answered, or tried for a minute. */
  async stop(): Promise<Answered[]> {
    this.isStopping = true;
    this.endsAtMs = Date.now() + FINISHED_WITHIN_MS;
    await Promise.all(this.clients);
    return [...this.answered.values()];
  }

  /** No new requests; what is on its way is tried on. */
  hold(): void {
    this.isHeld = true;
  }

  goOn(): void {
    this.isHeld = false;
  }

  /** To be called once a fault is in force: what was sent before may have been committed before it. */
  countAnew(): void {
    this.before = new Set([...this.answered.keys(), ...this.open.keys()]);
    this.waits.restart();
  }

  /** The runs that were sent since {@link countAnew}, and answered. */
  get sentAndAnswered(): string[] {
    return [...this.answered.keys()].filter((id) => !this.before.has(id));
  }

  count(status: number): number {
    return this.statuses.get(status) ?? 0;
  }

  private async client(number: number, chance: Chance): Promise<void> {
    const pauseMs = 1000 / (this.options.perSecond ?? 20);
    for (let sent = 0; !this.isStopping; sent += 1) {
      const again = this.answered.size > 0 && chance.isUnder(0.05);
      if (this.isHeld) await sleep(pauseMs);
      else if (again) await this.sendAgain(chance);
      else if (chance.isUnder(0.2)) await this.sendBatch(number, sent, chance);
      else await this.sendOne(this.run(`${number}-${sent}`, chance), chance);
      await sleep(pauseMs * (0.5 + chance.below(1000) / 1000));
    }
  }

  private run(id: string, chance: Chance): Run {
    const board = chance.oneOf(this.options.boards);
    const definition = FAULT_BOARDS[board];
    const submissionId = `${this.options.seed}-${id}`;
    const playerId = `p${chance.below(this.options.players)}`;
    const run: Run = { board, submissionId, playerId, score: chance.from(1, 50) };
    if ('columns' in definition) run.columns = { moves: chance.below(5) };
    // Of equal times the last to arrive would stay, and only the service knows which one that was.
    if (definition.operator === 'latest') run.achievedAt = new Date(TIMES_FROM_MS + (this.times += 1)).toISOString();
    return run;
  }

  private times = 0;

  private begin(run: Run): void {
    this.open.set(idOf(run), run);
    this.sent.add(run.board, run);
  }

  private async sendOne(run: Run, chance: Chance): Promise<void> {
    this.begin(run);
    const { board, ...body } = run;
    const answer = await this.untilAnswered(`/v1/boards/${board}/scores`, body, chance);
    if (answer?.status === 200) this.keep(run, answer.body as AnswerBody);
  }

  private async sendBatch(client: number, sent: number, chance: Chance): Promise<void> {
    let left = Array.from({ length: chance.from(2, BATCH_MAX) }, (_, i) => this.run(`${client}-${sent}-${i}`, chance));
    for (const run of left) this.begin(run);
    // What a partial success refused for now is sent again.
    while (left.length > 0) {
      const answer = await this.untilAnswered('/v1/scores', { submissions: left }, chance);
      if (answer?.status !== 200) return;
      const { results } = answer.body as { results: (AnswerBody | { problem: ProblemBody })[] };
      const again: Run[] = [];
      for (const [index, run] of left.entries()) {
        const result = results[index]!;
        if (!('problem' in result)) this.keep(run, result);
        else if (NOT_NOW.has(result.problem.status)) again.push(run);
        else this.wrong.push(`in a batch ${idOf(run)}: ${JSON.stringify(result.problem)}`);
      }
      if (again.length > 0 && Date.now() > this.endsAtMs) return;
      if (again.length > 0) await sleep(RETRY_FIRST_MS + chance.below(RETRY_MAX_MS));
      left = again;
    }
  }

  private async sendAgain(chance: Chance): Promise<void> {
    const known = [...this.answered.values()][chance.below(this.answered.size)]!;
    const { board, submissionId, playerId, score, columns, achievedAt } = known;
    const body = { submissionId, playerId, score, columns, achievedAt };
    const answer = await this.untilAnswered(`/v1/boards/${board}/scores`, body, chance);
    if (answer?.status !== 200) return;
    const second = answer.body as AnswerBody;
    if (!second.replayed) this.wrong.push(`${idOf(known)} was answered before, and now as new`);
    this.keep(known, second);
  }

  private keep(run: Run, body: AnswerBody): void {
    const { outcome, previousScore, version, score: entryScore } = body;
    const answered = { ...run, outcome, previousScore, version, entryScore };
    const known = this.answered.get(idOf(run));
    if (known && !sameAnswer(known, answered)) {
      this.wrong.push(`two answers for ${idOf(run)}: ${JSON.stringify(known)} and ${JSON.stringify(answered)}`);
    }
    this.answered.set(idOf(run), known ?? answered);
    this.open.delete(idOf(run));
  }

  /** The first 200, or an answer that no retry changes; null when the load is over before. */
  private async untilAnswered(path: string, body: object, chance: Chance): Promise<Answer | null> {
    const urls = this.options.urls ?? this.installation.apis.map(({ url }) => url);
    let at = chance.below(urls.length);
    for (let attempt = 0; Date.now() < this.endsAtMs; attempt += 1) {
      const url = urls[at % urls.length]! + path;
      const answer = await this.waits.of(call(url, { method: 'POST', key: this.installation.adminKey, body }));
      this.note(answer, path);
      if (answer.status === 200) return answer;
      if (answer.status !== 0 && !NOT_NOW.has(answer.status)) return answer;
      at += 1;
      // As the server asks, but no longer than the scenario can wait.
      const asked = Number(answer.headers['retry-after'] ?? 0) * 1000;
      const backoff = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt, 6));
      await sleep(Math.min(Math.max(asked, backoff), RETRY_MAX_MS) * (0.5 + chance.below(500) / 1000));
    }
    return null;
  }

  private note({ status, headers, body, ms }: Answer, path: string): void {
    this.statuses.set(status, this.count(status) + 1);
    this.slowestMs = Math.max(this.slowestMs, ms);
    if (status === 200 || status === 0) return;
    if (!NOT_NOW.has(status)) this.wrong.push(`${path}: ${status} ${JSON.stringify(body)}`);
    else if (headers['retry-after'] === undefined) this.wrong.push(`${path}: ${status} without Retry-After`);
  }
}

interface AnswerBody {
  replayed: boolean;
  outcome: string;
  previousScore: number | null;
  version: number;
  score: number;
}

interface ProblemBody {
  status: number;
  code: string;
}

const TIMES_FROM_MS = Date.parse('2026-01-01T00:00:00.000Z');

/** The name of a submission over all boards. */
export const idOf = ({ board, submissionId }: Pick<Run, 'board' | 'submissionId'>): string =>
  `${board}/${submissionId}`;

const sameAnswer = (one: Answered, other: Answered): boolean =>
  one.outcome === other.outcome &&
  one.previousScore === other.previousScore &&
  one.version === other.version &&
  one.entryScore === other.entryScore;
