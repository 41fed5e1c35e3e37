import type { LadderProblem } from '../rest/problem.js';
import {
  changeBetween,
  listAfterDelta,
  listOfSnapshot,
  type Change,
  type Delta,
  type LiveList,
  type Snapshot,
  type Tiebreak,
} from './live-list.js';

/** More deltas than these do not wait for an answer: the list is asked for anew. */
const WAITING_MAX = 100;
const NEXT_WINDOW_WITHIN_MS = 2000;
const SAME_WINDOW_WITHIN_MS = 30_000;

/** What is watched: the fields of a `subscribe` without its type and its id. */
export interface WatchRequest {
  readonly board: string;
  readonly channel: string;
  readonly window?: string;
}

/** Who watches. */
export interface Watcher {
  onList(list: LiveList, change: Change): void;
  /** It was refused for now, and is asked for again. */
  onDelay?(problem: LadderProblem): void;
  /** It is over: `problem` says why; null: its window has ended, or the client was closed. */
  onEnd(problem: LadderProblem | null): void;
}

/** What a subscription needs of the connection that carries it. */
export interface Carrier {
  /** Sends a message, if the socket is open. */
  send(message: object): void;
  /** Calls later, unless the subscription is closed meanwhile or another socket is opened: it asks by itself. */
  later(work: () => void, ms: number): void;
  random(): number;
  /** The subscription has ended: nothing more of it is carried. */
  ended(): void;
}

/** One list that is watched over one socket after another. */
export class Subscription {
  list: LiveList | null = null;
  /** Whether only a snapshot is good now: what is held is of another window, or wrong. */
  private needsSnapshot = true;
  private isAsking = false;
  private isClosed = false;
  private tiebreak: Tiebreak = 'earliest';
  /** Deltas that do not lead on from the list: they wait for what was asked. */
  private waiting: Delta[] = [];
  /** The window that ended, until the next one is asked for. */
  private endedWindow: string | null = null;
  /** The window whose end the next list tells. */
  private toldWindow: string | undefined;
  private endedBefore: string | undefined;

  constructor(
    private readonly id: string,
    private readonly request: WatchRequest,
    private readonly watcher: Watcher,
    private readonly carrier: Carrier,
  ) {}

  /** A socket was opened, or what was asked could not be answered: asks for the list, from where it is. */
  ask(): void {
    const { id, request } = this;
    this.waiting = [];
    this.isAsking = true;
    if (this.endedWindow !== null) {
      this.toldWindow = this.endedWindow;
      this.endedWindow = null;
      this.needsSnapshot = true;
    }
    if (this.needsSnapshot) this.carrier.send({ type: 'subscribe', id, ...request });
    else this.carrier.send({ type: 'resume', id, seq: this.list!.seq, ...request });
  }

  /** Asks for the list anew, whole. */
  askAnew(): void {
    this.needsSnapshot = true;
    this.carrier.send({ type: 'unsubscribe', id: this.id });
    this.ask();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.carrier.send({ type: 'unsubscribe', id: this.id });
  }

  /** It was refused for good, or nobody wants it any more (null). */
  end(problem: LadderProblem | null): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.carrier.ended();
    this.watcher.onEnd(problem);
  }

  /** It was refused, and will be asked for again. */
  delayed(problem: LadderProblem): void {
    if (!this.isClosed) this.watcher.onDelay?.(problem);
  }

  take(frame: Snapshot | Delta): void {
    if (this.isClosed) return;
    if (frame.type === 'snapshot') this.takeSnapshot(frame);
    else this.takeDelta(frame);
  }

  /** The window takes no more runs. */
  windowClosed(window: string): void {
    if (this.isClosed || this.endedWindow !== null) return;
    if (this.request.window?.includes(':')) {
      if (this.list) this.watcher.onList(this.list, changeBetween(this.list, this.list, [], window));
      this.carrier.send({ type: 'unsubscribe', id: this.id });
      return this.end(null);
    }
    // Where the name still means the window that has ended, the next is not there yet.
    const withinMs = window === this.endedBefore ? SAME_WINDOW_WITHIN_MS : NEXT_WINDOW_WITHIN_MS;
    this.endedWindow = window;
    this.endedBefore = window;
    const next = (): void => {
      if (this.endedWindow !== null && !this.isClosed) this.askAnew();
    };
    this.carrier.later(next, this.carrier.random() * withinMs);
  }

  private takeSnapshot(frame: Snapshot): void {
    const before = this.list;
    this.needsSnapshot = false;
    this.tiebreak = frame.tiebreak ?? 'earliest';
    this.show(listOfSnapshot(frame, this.request.window ?? null, this.tiebreak, before), before, []);
    this.answered();
  }

  private takeDelta(frame: Delta): void {
    const before = this.list;
    // It is from before the snapshot that is on its way.
    if (this.needsSnapshot || before === null) return;
    const after = listAfterDelta(before, frame, this.tiebreak);
    if (after === 'old') return;
    if (typeof after === 'object') {
      this.show(after, before, frame.changes);
      return this.answered();
    }
    // Not even what leads on from where the list is fits it.
    if (this.isAsking && after === 'unseen') return this.askAnew();
    if (!this.isAsking) this.ask();
    this.waiting.push(frame);
    if (this.waiting.length > WAITING_MAX) this.askAnew();
  }

  private show(list: LiveList, before: LiveList | null, changes: Delta['changes']): void {
    const window = this.toldWindow;
    this.toldWindow = undefined;
    this.list = list;
    this.watcher.onList(list, changeBetween(before, list, changes, window));
  }

  private answered(): void {
    const { waiting } = this;
    this.waiting = [];
    this.isAsking = false;
    for (const frame of waiting) this.take(frame);
  }
}
