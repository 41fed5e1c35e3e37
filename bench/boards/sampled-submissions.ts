import { ask, expectAnswer } from './ask.js';
import type { Pool } from '../installation/postgres-pool.js';
import type { Call, Target } from '../load/requests.js';
import { scoreMax } from './entries.js';
import type { LargeBoard } from './large-board.js';
import type { BoardSubmission } from './submissions.js';

/** The answer of a submission, as far as it is checked. */
interface Answer {
  submissionId: string;
  replayed: boolean;
  outcome: string;
  score: number;
  previousScore: number | null;
  version: number;
  rank: { after: number; errorBound?: number; total: number } | null;
}

const players = 10;

/** Submits for players of its own while others load the service, and checks each answer against what it must be. */
export class SampledSubmissions {
  readonly #known = new Map<string, { score: number; version: number }>();
  /** A board that nobody has used has no estimates yet: answers may be without a rank until the first that has one. */
  #hasRanks = false;
  count = 0;
  /** The text of the last answer. */
  last: string | null = null;

  /**
   * @param how `movedMax`: how many others may come before an entry meanwhile; `batch`: how many go with one request, 0 for a
   *   single submission by the path of the board
   */
  constructor(
    private readonly service: Target,
    private readonly board: LargeBoard,
    private readonly how: { movedMax: number; batch: number },
  ) {}

  async look(): Promise<void> {
    const { batch } = this.how;
    const submissions = Array.from({ length: Math.max(1, Math.min(batch, players)) }, () => this.#next());
    const { id } = this.board;
    const { answers, text } =
      batch === 0
        ? await this.#submit({ method: 'POST', path: `/v1/boards/${id}/scores`, body: submissions[0] })
        : await this.#submitAll(submissions.map((one) => ({ board: id, ...one })));
    this.last = text;
    submissions.forEach((submission, index) => this.#check(submission, answers[index]));
  }

  /**
   * Once the ranks show everything: each sampled player's exact rank is how many stand before it in PostgreSQL.
   * @throws Error when it is not
   */
  async checkRanks(pool: Pool): Promise<void> {
    for (const [playerId, { score }] of this.#known) {
      const path = `/v1/boards/${this.board.id}/players/${playerId}?around=0`;
      const { body } = await ask<{ entry: { score: number; rank: number } }>(this.service, { method: 'GET', path });
      const { rows } = await pool.query<{ before: number }>(
        `SELECT count(*)::int AS before FROM entries AS e, entries AS mine
         WHERE mine.window_uid = $1 AND mine.player_id = $2 AND e.window_uid = $1 AND NOT e.removed
           AND (e.score, -e.achieved_at_ms) > (mine.score, -mine.achieved_at_ms)`,
        [this.board.windowUid, playerId],
      );
      expectAnswer(body.entry.score === score, `the score is ${score}`, body);
      const { before } = rows[0]!;
      expectAnswer(body.entry.rank === before + 1, `${before} stand before it`, body);
    }
  }

  async #submit(call: Call): Promise<{ answers: Answer[]; text: string }> {
    const { body, text } = await ask<Answer>(this.service, call);
    return { answers: [body], text };
  }

  async #submitAll(submissions: readonly object[]): Promise<{ answers: Answer[]; text: string }> {
    const call = { method: 'POST', path: '/v1/scores', body: { submissions } };
    const { body, text } = await ask<{ results: Answer[] }>(this.service, call);
    return { answers: body.results, text };
  }

  #next(): BoardSubmission {
    this.count += 1;
    return {
      submissionId: `sampled-${this.count}`,
      playerId: `sampled-${this.count % players}`,
      score: Math.floor(Math.random() * scoreMax),
    };
  }

  #check({ submissionId, playerId, score }: BoardSubmission, answer: Answer | undefined): void {
    if (answer === undefined) throw new Error(`The answer says nothing of ${submissionId}.`);
    const known = this.#known.get(playerId) ?? { score: null, version: 0 };
    const best = Math.max(score, known.score ?? score);
    const outcome = known.score === null ? 'created' : score > known.score ? 'improved' : 'unchanged';
    expectAnswer(answer.submissionId === submissionId && !answer.replayed, 'its own id, not replayed', answer);
    expectAnswer(answer.outcome === outcome, `the outcome is ${outcome}`, answer);
    expectAnswer(
      answer.score === best && answer.previousScore === known.score,
      `best ${best}, was ${known.score}`,
      answer,
    );
    const grew = outcome === 'unchanged' ? answer.version === known.version : answer.version > known.version;
    expectAnswer(grew, `the version was ${known.version}`, answer);
    this.#checkRank(best, answer);
    this.#known.set(playerId, { score: best, version: answer.version });
  }

  #checkRank(best: number, answer: Answer): void {
    if (answer.rank === null) return expectAnswer(!this.#hasRanks, 'it says a rank', answer);
    this.#hasRanks = true;
    const { after, errorBound = 0, total } = answer.rank;
    // Players of the load only rise: each can have come before it once.
    const first = this.board.better(best) + 1;
    const isNear = after >= first - errorBound - players && after <= first + errorBound + this.how.movedMax + players;
    expectAnswer(isNear && after >= 1 && after <= total, `the rank was ${first} at first`, answer);
    expectAnswer(total >= this.board.entries, 'all entries count', answer);
  }
}
