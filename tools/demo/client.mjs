import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../problem.mjs';

const ATTEMPTS_MAX = 15;
const REQUEST_TIMEOUT_MS = 30_000;
const RETRY_DELAY_MAX_MS = 4_000;
const RETRY_AFTER_MAX_MS = 30_000;

/** A refusal of the service: its status and its `application/problem+json`. */
export class Refused extends Problem {
  constructor(what, problem) {
    super(`${what}: ${problem.status} ${problem.title}${problem.detail ? `: ${problem.detail}` : ''}`);
    this.problem = problem;
  }

  get status() {
    return this.problem.status;
  }
}

/**
 * The public API, with retries: a call that was not answered, or answered 429 or 503, is sent again as it was, after
 * `Retry-After` where it is stated, fourteen times at most (a minute).
 */
export class Client {
  #url;
  #key;
  #onRetry;

  /** @param onRetry called with a line of text before each further attempt */
  constructor({ url, key, onRetry = () => {} }) {
    this.#url = url.replace(/\/+$/, '');
    this.#key = key;
    this.#onRetry = onRetry;
  }

  /**
   * @returns `{ status, body }` of an answer below 400
   * @param attemptsMax fewer than fifteen, for a call whose caller would rather know soon
   * @throws Refused for a refusal that a retry cannot help, or when the attempts are used up
   * @throws Problem when the service cannot be reached
   */
  async call(method, path, body, { attemptsMax = ATTEMPTS_MAX } = {}) {
    const what = `${method} ${path}`;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#try(method, path, body);
      if (outcome.status < 400) return outcome;
      if (!isRetriable(outcome.status) || attempt === attemptsMax) throw this.#failure(what, outcome);
      const delayMs = outcome.retryAfterMs ?? Math.min(RETRY_DELAY_MAX_MS, 250 * 2 ** (attempt - 1));
      this.#onRetry(
        `${what}: ${outcome.reason}; again in ${(delayMs / 1000).toFixed(1)} s (${attempt}/${attemptsMax - 1})`,
      );
      await sleep(delayMs);
    }
  }

  #failure(what, outcome) {
    if (outcome.body) return new Refused(what, outcome.body);
    return new Problem(
      `${what}: no answer from ${this.#url} (${outcome.reason}), in several attempts.\n` +
        'Is the service running? Start it with: npm start. Is it elsewhere? Say where with: --url http://host:port',
    );
  }

  async #try(method, path, body) {
    const init = { method, headers: {}, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) };
    if (this.#key) init.headers.authorization = `Bearer ${this.#key}`;
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers['content-type'] = 'application/json';
    }
    try {
      const response = await fetch(this.#url + path, init);
      return await readAnswer(response);
    } catch (error) {
      return { status: UNREACHED, reason: error.cause?.code ?? error.message };
    }
  }
}

/** Stands where a status would, for a call that got no answer. */
const UNREACHED = 599;

function isRetriable(status) {
  return status === 429 || status === 502 || status === 503 || status === 504 || status === UNREACHED;
}

async function readAnswer(response) {
  const text = await response.text();
  const body = text === '' ? null : JSON.parse(text);
  if (response.ok) return { status: response.status, body };
  const problem = { title: 'no problem+json', ...body, status: response.status };
  return {
    status: response.status,
    body: problem,
    reason: `${response.status} ${problem.title}`,
    retryAfterMs: retryAfterMs(response),
  };
}

function retryAfterMs(response) {
  const stated = response.headers.get('retry-after');
  if (stated === null) return undefined;
  const ms = /^\d+$/.test(stated) ? Number(stated) * 1000 : Date.parse(stated) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 100), RETRY_AFTER_MAX_MS) : undefined;
}
