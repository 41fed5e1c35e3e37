import { ask, expectAnswer } from './ask.js';
import { scoreMax } from './entries.js';

const players = 10;

/** Submits for players of its own while others load the service, and checks each answer against what it must be. */
export class SampledSubmissions {
  #known = new Map();
  /** A board that nobody has used has no estimates yet: answers may be without a rank until the first that has one. */
  #hasRanks = false;
  count = 0;
  /** The text of the last answer. */
  last = null;

  /** @param batch how many go with one request; 0: a single submission by the path of the board */
  constructor(service, board, { movedMax, batch = 0 }) {
    Object.assign(this, { service, board, movedMax, batch });
  }

  async look() {
    const submissions = Array.from({ length: Math.max(1, Math.min(this.batch, players)) }, () => this.#next());
    const { id } = this.board;
    const call =
      this.batch === 0
        ? { path: `/v1/boards/${id}/scores`, body: submissions[0] }
        : { path: '/v1/scores', body: { submissions: submissions.map((one) => ({ board: id, ...one })) } };
    const { body, text } = await ask(this.service, { method: 'POST', ...call });
    this.last = text;
    const answers = this.batch === 0 ? [body] : body.results;
    submissions.forEach((submission, index) => this.#check(submission, answers[index]));
  }

  /**
   * Once the ranks show everything: each sampled player's exact rank is how many stand before it in PostgreSQL.
   * @throws Error when it is not
   */
  async checkRanks(pool) {
    for (const [playerId, { score }] of this.#known) {
      const { body } = await ask(this.service, { path: `/v1/boards/${this.board.id}/players/${playerId}?around=0` });
      const { rows } = await pool.query(
        `SELECT count(*)::int AS before FROM entries AS e, entries AS mine
         WHERE mine.window_uid = $1 AND mine.player_id = $2 AND e.window_uid = $1 AND NOT e.removed
           AND (e.score, -e.achieved_at_ms) > (mine.score, -mine.achieved_at_ms)`,
        [this.board.windowUid, playerId],
      );
      expectAnswer(body.entry.score === score, `the score is ${score}`, body);
      expectAnswer(body.entry.rank === rows[0].before + 1, `${rows[0].before} stand before it`, body);
    }
  }

  #next() {
    this.count += 1;
    return {
      submissionId: `sampled-${this.count}`,
      playerId: `sampled-${this.count % players}`,
      score: Math.floor(Math.random() * scoreMax),
    };
  }

  #check({ submissionId, playerId, score }, answer) {
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
  #checkRank(best, answer) {
    if (answer.rank === null && !this.#hasRanks) return;
    expectAnswer(answer.rank !== null, 'it says a rank', answer);
    this.#hasRanks = true;
    const { after, errorBound = 0, total } = answer.rank;
    // Players of the load only rise: each can have come before it once.
    const first = this.board.better(best) + 1;
    const isNear = after >= first - errorBound - players && after <= first + errorBound + this.movedMax + players;
    expectAnswer(isNear && after >= 1 && after <= total, `the rank was ${first} at first`, answer);
    expectAnswer(total >= this.board.entries, 'all entries count', answer);
  }
}
