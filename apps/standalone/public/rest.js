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

/**
 * The REST calls the page makes. `getKey` is asked before each call; null sends it without identity. `clock` hears what
 * time the service says it is.
 */
export class Rest {
  #getKey;
  #clock;
  #fetch;

  constructor({ getKey, clock = null, fetch = (...args) => globalThis.fetch(...args) }) {
    this.#getKey = getKey;
    this.#clock = clock;
    this.#fetch = fetch;
  }

  board(board) {
    return this.#read(pathOf(board));
  }

  /** A page of the board's windows: those that run first, then those to come, then those that are over. */
  windows(board, { cursor, limit } = {}) {
    return this.#read(`${pathOf(board)}/windows?${query({ cursor, limit })}`, { isTimed: true });
  }

  entries(board, { window, scope, offset, limit }) {
    return this.#read(`${pathOf(board)}/entries?${query({ window, scope: scopeOf(scope), offset, limit })}`);
  }

  guilds(board, { window, limit }) {
    return this.#read(`${pathOf(board)}/guilds?${query({ window, limit })}`);
  }

  player(board, playerId, { window, scope, around }) {
    const path = `${pathOf(board)}/players/${encodeURIComponent(playerId)}`;
    return this.#read(`${path}?${query({ window, scope: scopeOf(scope), around })}`);
  }

  /** The patches of a family, in the order of their publication. */
  patches(family) {
    return this.#read(`/v1/patches?${query({ family })}`);
  }

  /** A page of the pools that may be read. */
  pools({ cursor, limit } = {}) {
    return this.#read(`/v1/pools?${query({ cursor, limit })}`);
  }

  rating(pool, playerId) {
    return this.#read(`${pathOfPool(pool)}/players/${encodeURIComponent(playerId)}`);
  }

  /** A page of a player's games, the newest first. */
  gamesOfPlayer(pool, playerId, { cursor, limit } = {}) {
    return this.#read(`${pathOfPool(pool)}/games?${query({ player: playerId, cursor, limit })}`);
  }

  /** Where a whole window can be downloaded, as `csv` or `ndjson`. */
  exportPath(board, { window, scope, format }) {
    return `${pathOf(board)}/export?${query({ window, scope: scopeOf(scope), format })}`;
  }

  /** A download as the service streams it, for boards that want a key. */
  async download(path) {
    const response = await this.#send('GET', path, { accept: '*/*' });
    if (!response.ok) await readAnswer(response);
    return response;
  }

  /**
   * Submits a score. A call that may not have arrived (no connection, 429, 5xx) is sent again with the same body, so
   * with the same `submissionId`: it counts once. `onRetry(attempt)` hears each further try.
   */
  async submit(board, submission, { onRetry }) {
    const path = `${pathOf(board)}/scores`;
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

  /** What anybody may read is read also by those whose key has expired. */
  async #read(path, options = {}) {
    try {
      return await this.#call('GET', path, options);
    } catch (error) {
      if (error.status !== 401 || !this.#getKey()) throw error;
      return this.#call('GET', path, { ...options, key: null }).catch(() => {
        throw error;
      });
    }
  }

  async #call(method, path, { body, headers = {}, key, isTimed = false } = {}) {
    const askedAt = Date.now();
    const response = await this.#send(method, path, { accept: 'application/json', ...headers }, { body, key, isTimed });
    // An answer that was kept somewhere would tell the time of then.
    if (isTimed) this.#clock?.observe(response.headers.get('date'), askedAt, Date.now());
    return readAnswer(response);
  }

  async #send(method, path, headers, { body, key = this.#getKey(), isTimed = false } = {}) {
    const init = { method, headers: { ...headers } };
    if (isTimed) init.cache = 'no-store';
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers['content-type'] = 'application/json';
    }
    if (key) init.headers.authorization = `Bearer ${key}`;
    try {
      return await this.#fetch(path, init);
    } catch (cause) {
      throw unreachable(cause);
    }
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

function pathOf(board) {
  return `/v1/boards/${encodeURIComponent(board)}`;
}

function pathOfPool(pool) {
  return `/v1/pools/${encodeURIComponent(pool)}`;
}

/** Everybody needs no word. */
function scopeOf(scope) {
  return scope === 'global' ? null : scope;
}

function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
