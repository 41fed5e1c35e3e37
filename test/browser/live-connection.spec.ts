import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pageModule } from './page-module.js';

type Message = Record<string, unknown>;
interface List {
  seq: number | null;
  rows: { playerId: string }[];
}
interface LiveConnection {
  start(): void;
  stop(): void;
  reconnectNow(): void;
  subscribe(request: Message, handlers: Message): { close(): void };
}
interface LiveConnectionModule {
  LiveConnection: new (options: Message) => LiveConnection;
}

const { LiveConnection } = await pageModule<LiveConnectionModule>('live-connection.js');

/** Stands where the browser's WebSocket would; the test plays the server. */
class FakeSocket extends EventTarget {
  readonly sent: Message[] = [];
  readyState = 0;

  constructor(
    readonly url: string,
    readonly protocols: string[],
  ) {
    super();
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Message);
  }

  close(): void {
    this.readyState = 3;
  }

  accept(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  say(message: Message): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }

  break(code = 1006): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }
}

let sockets: FakeSocket[];
let states: { name: string; delayMs?: number }[];
let lists: List[];
let problems: Message[];

function connect(options: Message = {}): LiveConnection {
  const live = new LiveConnection({
    url: 'ws://board.test/v1/live',
    onState: (state: { name: string }) => states.push(state),
    openSocket: (url: string, protocols: string[]) => {
      const socket = new FakeSocket(url, protocols);
      sockets.push(socket);
      return socket;
    },
    random: () => 1,
    ...options,
  });
  live.start();
  return live;
}

const watchTop = (live: LiveConnection) =>
  live.subscribe(
    { board: 'blitz', channel: 'top', limit: 10 },
    { onList: (list: List) => lists.push(list), onProblem: (problem: Message) => problems.push(problem) },
  );
const last = () => sockets.at(-1)!;
const snapshot = (id: string, seq: number) => ({ type: 'snapshot', id, seq, asOf: '', total: 0, entries: [] });
const delta = (id: string, previousSeq: number, seq: number) => ({
  type: 'delta',
  id,
  previousSeq,
  seq,
  asOf: '',
  total: 0,
  changes: [],
});

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  states = [];
  lists = [];
  problems = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the connection of the live page', () => {
  it('speaks ladder.v1, subscribes when open, and passes lists on', () => {
    watchTop(connect());
    last().accept();
    expect(last().protocols).toEqual(['ladder.v1']);
    expect(last().sent).toEqual([{ type: 'subscribe', id: '1', board: 'blitz', channel: 'top', limit: 10 }]);
    last().say(snapshot('1', 5));
    last().say(delta('1', 5, 6));
    expect(lists.map(({ seq }) => seq)).toEqual([5, 6]);
  });

  it('offers a key as second subprotocol, and never in the address', () => {
    connect({ token: 'secret' });
    expect(last().protocols).toEqual(['ladder.v1', 'bearer.secret']);
    expect(last().url).not.toContain('secret');
  });

  it('resumes by the number it has after a cut', () => {
    watchTop(connect());
    last().accept();
    last().say(snapshot('1', 5));
    last().break();
    vi.advanceTimersByTime(400);
    last().accept();
    expect(sockets).toHaveLength(2);
    expect(last().sent).toEqual([{ type: 'resume', id: '1', seq: 5, board: 'blitz', channel: 'top', limit: 10 }]);
    last().say(delta('1', 5, 9));
    expect(lists.at(-1)!.seq).toBe(9);
  });

  it('waits longer after each failure, up to a limit, and starts anew after an answer', () => {
    watchTop(connect());
    for (let failure = 0; failure < 8; failure += 1) {
      last().break();
      vi.advanceTimersToNextTimer();
    }
    const delays = () => states.filter(({ delayMs }) => delayMs !== undefined).map(({ delayMs }) => delayMs);
    expect(delays()).toEqual([400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
    last().accept();
    last().say(snapshot('1', 1));
    last().break();
    expect(delays().at(-1)).toBe(400);
  });

  it('spreads the delays, so that a crowd does not come back at once', () => {
    connect({ random: () => 0 });
    last().break();
    expect(states.at(-1)).toEqual({ name: 'reconnecting', delayMs: 200 });
  });

  it('gives a connection up that is neither opened nor refused', () => {
    connect();
    vi.advanceTimersByTime(10_400);
    expect(sockets).toHaveLength(2);
  });

  it('asks once to resume over a gap, and ignores what does not connect meanwhile', () => {
    watchTop(connect());
    last().accept();
    last().say(snapshot('1', 5));
    last().say(delta('1', 7, 8));
    last().say(delta('1', 8, 9));
    expect(last().sent.slice(1)).toEqual([
      { type: 'resume', id: '1', seq: 5, board: 'blitz', channel: 'top', limit: 10 },
    ]);
    last().say(delta('1', 5, 9));
    expect(lists.map(({ seq }) => seq)).toEqual([5, 9]);
  });

  it('takes a snapshot that comes in between as the new list, whatever its number', () => {
    watchTop(connect());
    last().accept();
    last().say(snapshot('1', 5));
    last().say(snapshot('1', 3));
    expect(lists.map(({ seq }) => seq)).toEqual([5, 3]);
  });

  it('passes a refusal on and does not ask for it again', () => {
    watchTop(connect());
    last().accept();
    last().say({ type: 'error', id: '1', problem: { code: 'BOARD_NOT_FOUND' } });
    last().break();
    vi.advanceTimersByTime(400);
    last().accept();
    expect(problems).toEqual([{ code: 'BOARD_NOT_FOUND' }]);
    expect(last().sent).toEqual([]);
  });

  it('asks again when it was asking too often, as late as it is told', () => {
    const live = connect();
    watchTop(live);
    const socket = sockets[0]!;
    socket.accept();
    const { id } = socket.sent[0]!;
    socket.say({ type: 'error', id, problem: { status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 2 } });
    expect(problems).toEqual([]);
    vi.advanceTimersByTime(1999);
    expect(socket.sent).toHaveLength(1);
    vi.advanceTimersByTime(2001);
    expect(socket.sent).toHaveLength(2);
    socket.say({ type: 'snapshot', id, seq: 7, total: 0, entries: [] });
    expect(lists).toHaveLength(1);
  });

  it('waits longer and longer when all that comes is a refusal of the socket', () => {
    connect();
    for (let i = 0; i < 3; i += 1) {
      const socket = sockets[i]!;
      socket.accept();
      socket.say({ type: 'error', problem: { status: 429, code: 'RATE_LIMITED', limit: 'sockets' } });
      socket.break(1013);
      vi.advanceTimersByTime(20_000);
    }
    const delays = states.filter(({ name }) => name === 'reconnecting').flatMap(({ delayMs }) => delayMs ?? []);
    expect(delays.slice(0, 3)).toEqual([400, 800, 1600]);
  });

  it('stops at an identity that is not accepted', () => {
    connect();
    last().accept();
    last().break(4401);
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(1);
    expect(states.at(-1)).toEqual({ name: 'unauthorized' });
  });

  it('unsubscribes, and hears nothing more of it', () => {
    const live = connect();
    const subscription = watchTop(live);
    last().accept();
    subscription.close();
    last().say(snapshot('1', 5));
    expect(last().sent.at(-1)).toEqual({ type: 'unsubscribe', id: '1' });
    expect(lists).toEqual([]);
  });

  it('does not come back after it was stopped', () => {
    const live = connect();
    last().break();
    live.stop();
    vi.advanceTimersByTime(60_000);
    expect(sockets).toHaveLength(1);
  });
});
