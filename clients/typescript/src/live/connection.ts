import { clientProblem, LadderProblem } from '../rest/problem.js';
import type { Tokens } from '../rest/tokens.js';
import { jitter, onWake, type Clock, type LiveSocket } from '../world.js';
import type { Delta, Snapshot } from './live-list.js';
import { Subscription, type Watcher, type WatchRequest } from './subscription.js';

const FIRST_DELAY_MS = 500;
const DELAY_MAX_MS = 30_000;
/** A connection that lived so long was a good one. */
const GOOD_LIFE_MS = 10_000;
const RESTART_WITHIN_MS = 1000;
const TRY_LATER_FROM_MS = 1000;
const TRY_LATER_WITHIN_MS = 15_000;
const POLICY_DELAY_MS = 60_000;
/** The service says something every 5 s. */
const DEAD_AFTER_MS = 15_000;
const CLOSE_UNUSED_AFTER_MS = 5000;
/** When a refusal that can pass does not say when. */
const ASK_AGAIN_WITHIN_MS = 5000;
/** A timer of more than 2^31 - 1 ms ends at once. */
const TIMER_MAX_MS = 1e9;
const OPEN = 1;

/** Close codes, as the service uses them. */
const CLOSE = { POLICY: 1008, RESTART: 1012, TRY_LATER: 1013, UNAUTHENTICATED: 4401 } as const;

/** The live connection, as a program may show it. */
export interface LiveState {
  /**
   * `idle`: nothing is watched. `connecting`: it was not there yet. `live`: it is open. `reconnecting`: it was lost, or
   * could not be had. `unauthorized`: the token was refused twice; it is tried again when something more is watched.
   */
  readonly name: 'idle' | 'connecting' | 'live' | 'reconnecting' | 'unauthorized';
  /** When it will be tried again, Unix ms by the clock of the client; null: now, or not at all. */
  readonly retryAt: number | null;
}

export interface ConnectionOptions {
  url: string;
  tokens: Tokens;
  clock: Clock;
  random: () => number;
  /** The time of the service, by which tokens end. */
  now: () => number;
  /** A WebSocket; undefined: there is none here. */
  Socket: (new (url: string, protocols: string[]) => object) | undefined;
  onProblem: (problem: LadderProblem, about: { fatal: boolean }) => void;
  onLive: (state: LiveState) => void;
  onFrame: (text: string) => void;
}

interface Frame {
  type: string;
  id?: string;
  window?: string;
  problem?: ConstructorParameters<typeof LadderProblem>[0];
}

/** One socket to `/v1/live` for all that is watched; it is there while something is, and comes back when it is lost. */
export class Connection {
  state: LiveState = { name: 'idle', retryAt: null };
  private readonly subscriptions = new Map<string, Subscription>();
  private socket: LiveSocket | null = null;
  /** The one that the socket was opened by, or has been sent since. */
  private token: string | null = null;
  private isConnecting = false;
  private isStopped = false;
  private lastId = 0;
  private losses = 0;
  private refusals = 0;
  private openedAt: number | null = null;
  private heardAt = 0;
  /** Not connected again before, whatever is closed and watched meanwhile, by the clock of the client. */
  private notBefore = 0;
  /** To connect again, or to close what nobody uses. */
  private timer: unknown = null;
  private deadTimer: unknown = null;
  private tokenTimer: unknown = null;
  private asleep: (() => void) | null = null;

  constructor(private readonly options: ConnectionOptions) {}

  /** Keeps a list up to date until it is closed. @throws TypeError where there is no WebSocket */
  watch(request: WatchRequest, watcher: Watcher): { close(): void; readonly list: Subscription['list'] } {
    if (!this.options.Socket) throw new TypeError('There is no WebSocket here: pass one as the option WebSocket');
    this.lastId += 1;
    const id = String(this.lastId);
    const subscription = new Subscription(id, request, watcher, {
      send: (message) => this.send(message),
      random: this.options.random,
      later: (work, ms) => this.later(id, work, ms),
      ended: () => this.drop(id),
    });
    // Until now nobody used the socket, and it was to be closed.
    if (this.subscriptions.size === 0) this.clear();
    this.subscriptions.set(id, subscription);
    this.asleep ??= onWake(() => this.wake());
    if (this.isStopped) {
      this.isStopped = false;
      this.refusals = 0;
    }
    if (this.isOpen) subscription.ask();
    else if (this.socket === null && this.timer === null) this.connectInTime();
    const close = (): void => {
      subscription.close();
      this.drop(id);
    };
    return {
      close,
      get list() {
        return subscription.list;
      },
    };
  }

  /** Ends all, at once. */
  close(): void {
    for (const subscription of this.subscriptions.values()) subscription.end(null);
    this.rest();
  }

  private get isOpen(): boolean {
    return this.socket?.readyState === OPEN;
  }

  private send(message: object): void {
    if (this.isOpen) this.socket!.send(JSON.stringify(message));
  }

  private drop(id: string): void {
    if (!this.subscriptions.delete(id) || this.subscriptions.size > 0) return;
    this.clear();
    this.timer = this.options.clock.setTimeout(() => this.rest(), CLOSE_UNUSED_AFTER_MS);
  }

  /** Nothing is watched. */
  private rest(): void {
    this.clear();
    this.leave();
    this.losses = 0;
    this.asleep?.();
    this.asleep = null;
    this.tell('idle');
  }

  private tell(name: LiveState['name'], retryAt: number | null = null): void {
    const { state } = this;
    if (state.name === name && state.retryAt === retryAt) return;
    this.state = { name, retryAt };
    this.options.onLive(this.state);
  }

  private clear(): void {
    this.options.clock.clearTimeout(this.timer);
    this.timer = null;
  }

  /** The network is back, or the page is shown again. */
  private wake(): void {
    if (this.subscriptions.size === 0 || this.isStopped) return;
    if (this.isOpen && !this.isDead()) return;
    this.leave();
    this.connect();
  }

  private connectInTime(): void {
    const { clock } = this.options;
    this.clear();
    const delayMs = this.notBefore - clock.now();
    // A clock that was set back is not waited for.
    if (delayMs <= 0 || delayMs > POLICY_DELAY_MS) return this.connect();
    this.timer = clock.setTimeout(() => this.connect(), delayMs);
    this.tell('reconnecting', this.notBefore);
  }

  private connect(): void {
    this.notBefore = 0;
    this.clear();
    if (this.isConnecting) return;
    this.isConnecting = true;
    this.tell(['live', 'reconnecting'].includes(this.state.name) ? 'reconnecting' : 'connecting');
    this.options.tokens.get().then(
      (token) => {
        this.isConnecting = false;
        if (this.subscriptions.size > 0) this.open(token);
      },
      (cause: unknown) => {
        this.isConnecting = false;
        this.options.onProblem(clientProblem('UNREACHABLE', 'There is no token', 0, cause), { fatal: false });
        this.lost();
      },
    );
  }

  private open(token: string | null): void {
    const { options } = this;
    let socket: LiveSocket;
    try {
      const protocols = token === null ? ['ladder.v1'] : ['ladder.v1', `bearer.${token}`];
      socket = new options.Socket!(options.url, protocols) as LiveSocket;
    } catch (cause) {
      // A token with characters that no subprotocol may hold throws before anything is sent.
      return this.stop(cause);
    }
    this.socket = socket;
    this.token = token;
    this.openedAt = null;
    this.heardAt = options.clock.now();
    this.lookForLife();
    const mine =
      <Event>(react: (event: Event) => void) =>
      (event: Event): void => {
        if (this.socket === socket) react(event);
      };
    socket.addEventListener(
      'open',
      mine(() => this.opened()),
    );
    socket.addEventListener(
      'message',
      mine(({ data }: { data?: unknown }) => this.received(String(data))),
    );
    socket.addEventListener(
      'close',
      mine(({ code }: { code?: number }) => this.closed(code)),
    );
    // A close follows; without a listener some sockets throw.
    socket.addEventListener('error', () => undefined);
  }

  private opened(): void {
    this.heard();
    this.openedAt = this.heardAt;
    this.keepToken();
    this.tell('live');
    for (const subscription of this.subscriptions.values()) subscription.ask();
  }

  /** Renews the identity of the socket before its token ends. */
  private keepToken(): void {
    const { tokens, clock, now } = this.options;
    const { socket } = this;
    clock.clearTimeout(this.tokenTimer);
    const at = tokens.renewAt();
    if (at === null || at <= now()) return;
    const renew = (): void => {
      if (at > now()) return this.keepToken();
      tokens.get().then(
        (token) => {
          if (this.socket !== socket) return;
          this.token = token;
          if (token !== null) this.send({ type: 'authenticate', token });
          this.keepToken();
        },
        // The socket will be closed when the token ends, and then it is asked for again.
        () => undefined,
      );
    };
    this.tokenTimer = clock.setTimeout(renew, Math.min(at - now(), TIMER_MAX_MS));
  }

  private heard(): void {
    this.heardAt = this.options.clock.now();
  }

  private isDead(): boolean {
    return this.options.clock.now() - this.heardAt >= DEAD_AFTER_MS;
  }

  private lookForLife(): void {
    const { clock } = this.options;
    clock.clearTimeout(this.deadTimer);
    const look = (): void => {
      if (this.isDead()) this.lost();
      else this.lookForLife();
    };
    this.deadTimer = clock.setTimeout(look, Math.max(1, this.heardAt + DEAD_AFTER_MS - clock.now()));
  }

  private received(text: string): void {
    this.heard();
    this.options.onFrame(text);
    let frame: Frame;
    try {
      frame = JSON.parse(text) as Frame;
    } catch {
      return;
    }
    if (frame.type !== 'error') this.refusals = 0;
    const subscription = this.subscriptions.get(frame.id ?? '');
    if (frame.type === 'error' && frame.problem) this.refused(subscription, new LadderProblem(frame.problem));
    else if (frame.type === 'snapshot' || frame.type === 'delta')
      subscription?.take(frame as unknown as Snapshot | Delta);
    else if (frame.type === 'window-closed') subscription?.windowClosed(frame.window!);
    else if (frame.type === 'standings-revised') subscription?.askAnew();
  }

  private refused(subscription: Subscription | undefined, problem: LadderProblem): void {
    if (subscription === undefined) return this.options.onProblem(problem, { fatal: false });
    const isThere = problem.code === 'SUBSCRIPTION_EXISTS';
    // What was watched before may be counted still for the socket that was lost.
    const isLimit = problem.code === 'SUBSCRIPTION_LIMIT';
    const canPass = isLimit ? subscription.list !== null : isThere || problem.isRetriable;
    if (!canPass) return subscription.end(problem);
    if (!isThere) subscription.delayed(problem);
    const { random } = this.options;
    const withinMs = isLimit ? DELAY_MAX_MS : ASK_AGAIN_WITHIN_MS;
    const delayMs = problem.retryAfterMs === null ? random() * withinMs : problem.retryAfterMs * (1 + random());
    for (const [id, one] of this.subscriptions) {
      if (one === subscription) this.later(id, () => (isThere ? one.askAnew() : one.ask()), delayMs);
    }
  }

  private later(id: string, work: () => void, ms: number): void {
    const { socket, subscriptions } = this;
    const subscription = subscriptions.get(id);
    this.options.clock.setTimeout(() => {
      if (this.socket === socket && subscription !== undefined && subscriptions.get(id) === subscription) work();
    }, ms);
  }

  private closed(code: number | undefined): void {
    if (code !== CLOSE.UNAUTHENTICATED) return this.lost(code);
    this.leave();
    this.options.tokens.refused(this.token);
    if (this.subscriptions.size === 0) return;
    this.refusals += 1;
    if (this.refusals > 1) return this.stop();
    this.connect();
  }

  private stop(cause?: unknown): void {
    this.leave();
    this.isStopped = true;
    this.tell('unauthorized');
    this.options.onProblem(clientProblem('unauthorized', 'The token is not accepted', 401, cause), { fatal: true });
  }

  private leave(): void {
    const { socket } = this;
    this.socket = null;
    this.options.clock.clearTimeout(this.deadTimer);
    this.options.clock.clearTimeout(this.tokenTimer);
    socket?.close();
  }

  private lost(code?: number): void {
    const { clock, random } = this.options;
    const hadGoodLife = this.openedAt !== null && clock.now() - this.openedAt >= GOOD_LIFE_MS;
    this.openedAt = null;
    this.leave();
    if (hadGoodLife) this.losses = 0;
    this.notBefore = clock.now() + reconnectDelayMs(code, this.losses, random);
    if (code !== CLOSE.RESTART) this.losses += 1;
    if (this.subscriptions.size > 0) this.connectInTime();
  }
}

/**
 * How long to wait before connecting again.
 * @param code of the close; undefined: none came
 * @param losses in a row before this one
 */
export function reconnectDelayMs(code: number | undefined, losses: number, random: () => number): number {
  if (code === CLOSE.RESTART) return random() * RESTART_WITHIN_MS;
  if (code === CLOSE.TRY_LATER) return TRY_LATER_FROM_MS + random() * (TRY_LATER_WITHIN_MS - TRY_LATER_FROM_MS);
  if (code === CLOSE.POLICY) return POLICY_DELAY_MS;
  return jitter(random, FIRST_DELAY_MS, losses, DELAY_MAX_MS);
}
