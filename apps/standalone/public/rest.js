const RETRIES_MAX = 4;
const RETRY_AFTER_MAX_MS = 10_000;

/** A refusal in the words of the service (`application/problem+json`), or what stands in for it when there are none. */
export class ProblemError extends Error {
  constructor(problem) {
    super(problem.detail ? `${problem.title}: ${problem.detail}` : problem.title);
    this.problem = problem;
  }

  get status() {
    return this.problem.status;
  }

  get code() {
    return this.problem.code;
  }

  get wantsKey() {
    return this.status === 401 || this.status === 403;
  }
}

/** The REST calls the page makes. `getKey` is asked before each call; null sends it without identity. */
export class Rest {
  #getKey;
  #fetch;

  constructor({ getKey, fetch = (...args) => globalThis.fetch(...args) }) {
    this.#getKey = getKey;
    this.#fetch = fetch;
  }

  board(board) {
    return this.#call('GET', `/v1/boards/${encodeURIComponent(board)}`);
  }

  entries(board, { window, offset, limit }) {
    return this.#call('GET', `/v1/boards/${encodeURIComponent(board)}/entries?${query({ window, offset, limit })}`);
  }

  player(board, playerId, { window, around }) {
    const path = `/v1/boards/${encodeURIComponent(board)}/players/${encodeURIComponent(playerId)}`;
    return this.#call('GET', `${path}?${query({ window, around })}`);
  }

  /**
   * Submits a score. A call that may not have arrived (no connection, 429, 5xx) is sent again with the same body, so
   * with the same `submissionId`: it counts once. `onRetry(attempt)` hears each further try.
   */
  async submit(board, submission, { onRetry }) {
    const path = `/v1/boards/${encodeURIComponent(board)}/scores`;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#call('POST', path, { body: submission, headers: { prefer: 'wait=1' } });
      } catch (error) {
        if (!isRetriable(error) || attempt >= RETRIES_MAX) throw error;
        onRetry(attempt + 1);
        await pause(retryDelayMs(error, attempt));
      }
    }
  }

  /** Empties a board. The admin key is used for this one call and kept nowhere. */
  reset(board, adminKey) {
    return this.#call('POST', `/v1/admin/boards/${encodeURIComponent(board)}/reset`, { key: adminKey });
  }

  async #call(method, path, { body, headers = {}, key = this.#getKey() } = {}) {
    const init = { method, headers: { accept: 'application/json', ...headers } };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers['content-type'] = 'application/json';
    }
    if (key) init.headers.authorization = `Bearer ${key}`;
    let response;
    try {
      response = await this.#fetch(path, init);
    } catch (cause) {
      throw unreachable(cause);
    }
    return readAnswer(response);
  }
}

async function readAnswer(response) {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const answer = type.includes('json') && text ? JSON.parse(text) : null;
  if (response.ok) return answer;
  const problem = answer ?? { title: `The service answered ${response.status}`, detail: text.slice(0, 200) };
  throw new ProblemError({ status: response.status, retryAfter: response.headers.get('retry-after'), ...problem });
}

function unreachable(cause) {
  const offline = globalThis.navigator?.onLine === false;
  const detail = offline ? 'This device is offline.' : 'No answer came; it may be starting or restarting.';
  return new ProblemError({ status: 0, code: 'UNREACHABLE', title: 'The service cannot be reached', detail, cause });
}

function isRetriable(error) {
  return error instanceof ProblemError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

function retryDelayMs(error, attempt) {
  const stated = Number(error.problem.retryAfter) * 1000;
  return stated > 0 ? Math.min(stated, RETRY_AFTER_MAX_MS) : 500 * 2 ** attempt;
}

function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
