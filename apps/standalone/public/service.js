import { LadderProblem, createLadder, createRest } from './client.js';

/** A spectator waits rather than being told too soon. */
const TIMEOUT_MS = 30_000;

/** The page queues no scores, and keeps nothing of them. */
const NO_STORAGE = {
  get: () => Promise.resolve(null),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  keys: () => Promise.resolve([]),
};

/** The service as this page asks it: by the client, with the reader's key where there is one. */
export class Service {
  #getKey;
  #onLive;
  #onFrame;
  #open = null;
  #own = null;

  /**
   * `getKey()` gives the reader's key or null. `onLive(ladder, state)` hears the live connection of a client, `onFrame(ladder, text)`
   * each of its frames.
   */
  constructor({ getKey, onLive, onFrame }) {
    this.#getKey = getKey;
    this.#onLive = onLive;
    this.#onFrame = onFrame;
  }

  /** The client without identity: what is public is live also for those whose key has expired. */
  get open() {
    this.#open ??= this.#ladderOf(null);
    return this.#open;
  }

  /** The client with the reader's key; without identity where there is none. */
  get own() {
    const key = this.#getKey();
    if (key === null) return this.open;
    // What is watched with the key before ends when it is left: until then its lists go on.
    if (this.#own?.key !== key) this.#own = { key, ladder: this.#ladderOf(key) };
    return this.#own.ladder;
  }

  /** What time it is for the service, Unix ms. */
  now() {
    return this.own.now();
  }

  /** A page of the boards that the reader may see. */
  boards(query) {
    return this.#read('/v1/boards', query);
  }

  board(board) {
    return this.own.board(board).definition();
  }

  /** A page of the board's windows: those that run first, then those to come, then those that are over. */
  windows(board, query) {
    return this.own.board(board).windows(query);
  }

  entries(board, query) {
    return this.own.board(board).entries(query);
  }

  guilds(board, query) {
    return this.own.board(board).guilds(query);
  }

  /** Where a player stands; with `around`, those above and below. */
  player(board, playerId, query) {
    return this.own.board(board).player(playerId, { around: 0, ...query });
  }

  /** The rank that a score would get, as fast as it can be said. */
  rankOf(board, score, query) {
    return this.own.board(board).rankOf(score, { ...query, accuracy: 'estimated' });
  }

  /** The scores at these percentiles. */
  percentiles(board, query) {
    return this.#read(`${pathOf('boards', board)}/percentiles`, query);
  }

  /** A page of what became of a player's entry, the newest first; HISTORY_NOT_KEPT where the board records none. */
  history(board, playerId, query) {
    return this.#read(`${pathOf('boards', board)}${pathOf('players', playerId, '')}/history`, query);
  }

  /** A page of a player's runs, the newest first; of boards that keep runs, for those who may read them. */
  runs(board, playerId, query) {
    return this.#read(`${pathOf('boards', board)}${pathOf('players', playerId, '')}/runs`, query);
  }

  /** The patches of a family, in the order of their publication. */
  patches(family) {
    return this.#read('/v1/patches', { family });
  }

  /** A page of the pools that may be read. */
  pools(query) {
    return this.#read('/v1/pools', query);
  }

  rating(pool, playerId) {
    return this.#read(pathOf('pools', pool) + pathOf('players', playerId, ''));
  }

  /** A page of a player's games, the newest first. */
  gamesOfPlayer(pool, playerId, query) {
    return this.#read(`${pathOf('pools', pool)}/games`, { player: playerId, ...query });
  }

  /** Submits a score; `onRetry(tries)` hears each further try, which counts once with those before. */
  submit(board, submission, { onRetry }) {
    return this.own.board(board).submit(submission, { waitSeconds: 1, onRetry });
  }

  /** Empties a board. The admin key is used for this one call and kept nowhere. */
  reset(board, adminKey) {
    return createRest({ url: '', token: adminKey }).call('POST', `${pathOf('admin/boards', board)}/reset`);
  }

  /** Where a whole window can be downloaded, as `csv` or `ndjson`. */
  exportPath(board, query) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    return `${pathOf('boards', board)}/export?${new URLSearchParams(given)}`;
  }

  /** A download as the service streams it, with the reader's key. @throws LadderProblem */
  async download(path) {
    const key = this.#getKey();
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetchAsAnybody(path, { method: 'GET', headers }).catch((cause) => {
      throw new LadderProblem({ status: 0, code: 'UNREACHABLE', title: 'The service cannot be reached' }, null, cause);
    });
    if (answer.ok) return answer;
    const problem = await answer.json().catch(() => ({ title: `The service answered ${answer.status}` }));
    throw new LadderProblem({ ...problem, status: answer.status });
  }

  #read(path, query) {
    return this.own.call('GET', path, { query });
  }

  #ladderOf(key) {
    const ladder = createLadder({
      ...{ url: '', token: key, fetch: fetchAsAnybody, storage: NO_STORAGE, timeoutMs: TIMEOUT_MS },
      // One answer may be kept for many spectators: none asks for a version of its own.
      readYourReads: false,
      onLive: (state) => this.#onLive(ladder, state),
      onFrame: (text) => this.#onFrame(ladder, text),
    });
    return ladder;
  }
}

/** What anybody may read is read also by those whose key has expired. */
async function fetchAsAnybody(url, init) {
  const answer = await fetch(url, init);
  const { authorization, ...headers } = init.headers;
  if (answer.status !== 401 || init.method !== 'GET' || authorization === undefined) return answer;
  const open = await fetch(url, { ...init, headers });
  return open.ok ? open : answer;
}

/** `/v1/boards/blitz`; ids may be of any letters. */
function pathOf(kind, id, before = '/v1') {
  return `${before}/${kind}/${encodeURIComponent(id)}`;
}
