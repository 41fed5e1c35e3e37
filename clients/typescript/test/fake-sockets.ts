import type { Clock } from '../src/world.js';

export type Message = Record<string, unknown>;

/** Stands where a WebSocket would; the test plays the service. */
export class FakeSocket extends EventTarget {
  readonly sent: Message[] = [];
  readyState = 0;
  isClosedByClient = false;

  constructor(
    readonly url: string,
    readonly protocols: string[],
    readonly at: number,
  ) {
    super();
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Message);
  }

  close(): void {
    this.readyState = 3;
    this.isClosedByClient = true;
  }

  accept(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  say(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }

  break(code = 1006): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }

  /** What was sent since the last look. */
  heard(): Message[] {
    return this.sent.splice(0);
  }
}

/** All sockets that a client opened, in order. */
export class FakeSockets {
  readonly all: FakeSocket[] = [];
  readonly WebSocket: new (url: string, protocols: string[]) => object;

  constructor(clock: Clock) {
    const { all } = this;
    this.WebSocket = class extends FakeSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols, clock.now());
        all.push(this);
      }
    };
  }

  get last(): FakeSocket {
    const socket = this.all.at(-1);
    if (!socket) throw new Error('No socket was opened.');
    return socket;
  }
}

const AS_OF = '2026-11-20T12:00:00.000Z';

/** A row as frames carry it. */
export const row = (playerId: string, rank: number, score: number, more: object = {}): Message => ({
  ...{ rank, playerId, displayName: null, score, columns: {} },
  ...{ achievedAt: AS_OF, metadata: null },
  ...more,
});

export const snapshot = (id: string, seq: number, entries: Message[] = [], more: object = {}): Message => ({
  ...{ type: 'snapshot', id, seq, asOf: AS_OF, total: entries.length, rankStyle: 'ordinal', entries },
  ...more,
});

export const delta = (
  id: string,
  previousSeq: number,
  seq: number,
  changes: Message[] = [],
  more: object = {},
): Message => ({
  ...{ type: 'delta', id, seq, previousSeq, asOf: AS_OF, total: 0, changes },
  ...more,
});
