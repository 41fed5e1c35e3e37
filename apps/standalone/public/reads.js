import { ProblemError } from './rest.js';

/**
 * What the pictures and the list of boards read beside the board itself. Each answer is that of the API; a refusal is thrown
 * as {@link ProblemError}.
 */
export class Reads {
  #getKey;
  #fetch;

  /** `getKey()` gives the reader's key or null. */
  constructor({ getKey, fetch = (...args) => globalThis.fetch(...args) }) {
    this.#getKey = getKey;
    this.#fetch = fetch;
  }

  /** A page of the boards that the reader may see. */
  boards({ cursor, limit }) {
    return this.#read('/v1/boards', { cursor, limit });
  }

  windows(board, { state, cursor, limit }) {
    return this.#read(`${pathOf(board)}/windows`, { state, cursor, limit });
  }

  entries(board, { window, scope, limit }) {
    return this.#read(`${pathOf(board)}/entries`, { window, scope, limit });
  }

  player(board, playerId, { window, scope, around = 0 }) {
    return this.#read(`${pathOf(board)}/players/${encodeURIComponent(playerId)}`, { window, scope, around });
  }

  /** A page of what became of a player's entry, the newest first; HISTORY_NOT_KEPT where the board records none. */
  history(board, playerId, { window, limit, cursor }) {
    const path = `${pathOf(board)}/players/${encodeURIComponent(playerId)}/history`;
    return this.#read(path, { window, limit, cursor });
  }

  /** A page of a player's runs, the newest first; of boards that keep runs, for those who may read them. */
  runs(board, playerId, { window, limit }) {
    return this.#read(`${pathOf(board)}/players/${encodeURIComponent(playerId)}/runs`, { window, limit });
  }

  /** The scores at these percentiles. */
  percentiles(board, { window, scope, at }) {
    return this.#read(`${pathOf(board)}/percentiles`, { window, scope, at: at.join(',') });
  }

  /** The rank that a score would get. */
  rankOf(board, score, { window, scope }) {
    return this.#read(`${pathOf(board)}/rank`, { window, scope, score, accuracy: 'estimated' });
  }

  async #read(path, parameters) {
    const key = this.#getKey();
    const given = Object.entries(parameters).filter(([name, value]) => isSaid(name, value));
    const address = given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
    const response = await this.#send(address, key);
    // What anybody may read is read also by those whose key has expired.
    return answerOf(response.status === 401 && key !== null ? await this.#send(address, null) : response);
  }

  async #send(address, key) {
    const headers = { accept: 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) };
    try {
      return await this.#fetch(address, { headers });
    } catch (cause) {
      throw new ProblemError({ status: 0, code: 'UNREACHABLE', title: 'The service cannot be reached', cause });
    }
  }
}

async function answerOf(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw new ProblemError(answer ?? { status: response.status, title: `The service answered ${response.status}` });
}

function isSaid(name, value) {
  return value !== undefined && value !== null && !(name === 'scope' && value === 'global');
}

function pathOf(board) {
  return `/v1/boards/${encodeURIComponent(board)}`;
}
