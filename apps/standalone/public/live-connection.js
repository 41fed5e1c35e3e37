import { UNKNOWN_LIST, applyDelta, fromSnapshot } from './board-state.js';

const FIRST_DELAY_MS = 400;
const DELAY_MAX_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;
const NOT_AUTHENTICATED_CLOSE = 4401;
const RATE_LIMITED = 'RATE_LIMITED';

/**
 * One socket to `/v1/live` that stays: it reconnects with a capped, jittered delay, and carries every subscription over
 * with `resume`, so that a list goes on from the number it had.
 *
 * `onState` hears `{ name: 'connecting' | 'live' | 'reconnecting' | 'stopped' | 'unauthorized', delayMs? }`.
 */
export class LiveConnection {
  #options;
  #subscriptions = new Map();
  #socket = null;
  #timer = null;
  #attempts = 0;
  #nextId = 1;
  #running = false;

  constructor({ url, token = null, onState, openSocket = (...args) => new WebSocket(...args), random = Math.random }) {
    this.#options = { url, token, onState, openSocket, random };
  }

  start() {
    if (this.#running) return;
    this.#running = true;
    this.#attempts = 0;
    this.#connect();
  }

  stop() {
    this.#running = false;
    this.#drop();
    this.#options.onState({ name: 'stopped' });
  }

  /** Leaves the present socket, if any, and connects at once: for a network that is back. */
  reconnectNow() {
    if (!this.#running) return;
    this.#drop();
    this.#attempts = 0;
    this.#connect();
  }

  /** Whether frames arrive at this moment. */
  get isOpen() {
    return this.#socket?.readyState === 1;
  }

  /**
   * Keeps a list up to date until `close()`. `onList(list, changes)` hears each new list, with the changes that led to
   * it (none after a snapshot); `onProblem` a refusal; `onWindowClosed` the id of a window that ended.
   */
  subscribe(request, { tiebreak, onList, onProblem, onWindowClosed }) {
    const id = String(this.#nextId++);
    const subscription = {
      id,
      request,
      tiebreak,
      onList,
      onProblem,
      onWindowClosed,
      list: UNKNOWN_LIST,
      resuming: false,
    };
    this.#subscriptions.set(id, subscription);
    if (this.isOpen) this.#ask(subscription);
    return { close: () => this.#unsubscribe(id) };
  }

  #unsubscribe(id) {
    if (this.#subscriptions.delete(id)) this.#send({ type: 'unsubscribe', id });
  }

  #connect() {
    const { url, token, openSocket, onState } = this.#options;
    onState({ name: this.#attempts === 0 ? 'connecting' : 'reconnecting' });
    let socket;
    try {
      socket = openSocket(url, token ? ['ladder.v1', `bearer.${token}`] : ['ladder.v1']);
    } catch {
      // A key with characters that no subprotocol may hold throws before anything is sent.
      this.#running = false;
      onState({ name: 'unauthorized' });
      return;
    }
    this.#socket = socket;
    const mine = (react) => (event) => this.#socket === socket && react(event);
    this.#timer = setTimeout(
      mine(() => this.#lost()),
      CONNECT_TIMEOUT_MS,
    );
    socket.addEventListener(
      'open',
      mine(() => this.#opened()),
    );
    socket.addEventListener(
      'message',
      mine((event) => this.#received(event.data)),
    );
    socket.addEventListener(
      'close',
      mine((event) => this.#lost(event.code)),
    );
  }

  #opened() {
    clearTimeout(this.#timer);
    this.#options.onState({ name: 'live' });
    for (const subscription of this.#subscriptions.values()) this.#ask(subscription);
  }

  #lost(code) {
    this.#drop();
    if (code === NOT_AUTHENTICATED_CLOSE) {
      this.#running = false;
      this.#options.onState({ name: 'unauthorized' });
      return;
    }
    const ceiling = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** Math.min(this.#attempts, 16));
    const delayMs = Math.round(ceiling * (0.5 + this.#options.random() / 2));
    this.#attempts += 1;
    this.#options.onState({ name: 'reconnecting', delayMs });
    this.#timer = setTimeout(() => this.#connect(), delayMs);
  }

  #drop() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #ask(subscription) {
    const { id, request, list } = subscription;
    subscription.resuming = list.seq !== null;
    if (list.seq === null) this.#send({ type: 'subscribe', id, ...request });
    else this.#send({ type: 'resume', id, seq: list.seq, ...request });
  }

  #askLater(subscription, seconds) {
    const socket = this.#socket;
    const delayMs = 1000 * seconds * (1 + this.#options.random());
    setTimeout(() => {
      const isThere = this.#subscriptions.get(subscription.id) === subscription;
      if (isThere && this.#socket === socket) this.#ask(subscription);
    }, delayMs);
  }

  #send(message) {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  #received(text) {
    const message = JSON.parse(text);
    // A refusal may be all that comes before the socket is closed: the next try is to be later.
    if (message.type !== 'error') this.#attempts = 0;
    const subscription = this.#subscriptions.get(message.id);
    if (!subscription) return;
    if (message.type === 'snapshot') this.#show(subscription, fromSnapshot(message, subscription.tiebreak), []);
    else if (message.type === 'delta') this.#follow(subscription, message);
    else if (message.type === 'window-closed') subscription.onWindowClosed?.(message.window);
    else if (message.type === 'error') this.#refused(subscription, message.problem);
  }

  #follow(subscription, message) {
    const { outcome, list } = applyDelta(subscription.list, message, subscription.tiebreak);
    if (outcome === 'applied') this.#show(subscription, list, message.changes);
    // One question at a time: deltas that were under way before the answer do not connect either.
    else if (outcome === 'gap' && !subscription.resuming) this.#ask(subscription);
  }

  #show(subscription, list, changes) {
    subscription.list = list;
    subscription.resuming = false;
    subscription.onList(list, changes);
  }

  #refused(subscription, problem) {
    if (problem.code === RATE_LIMITED) return this.#askLater(subscription, problem.retryAfterSeconds);
    this.#subscriptions.delete(subscription.id);
    subscription.onProblem(problem);
  }
}
