import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Profile } from './profile-format.js';

const intervalUs = 500;
const openWithinMs = 10_000;

/** An answer of the Chrome DevTools Protocol. */
interface Answer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The CPU profiler of a node that was started with `--inspect=127.0.0.1:<port>`. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (text) => this.#take(JSON.parse(String(text)) as Answer));
  }

  /** @throws Error when nothing answers within ten seconds */
  static async open(port: number): Promise<Inspector> {
    const inspector = new Inspector(await connectTo(port));
    await inspector.#call('Profiler.enable');
    await inspector.#call('Profiler.setSamplingInterval', { interval: intervalUs });
    return inspector;
  }

  async start(): Promise<void> {
    await this.#call('Profiler.start');
  }

  /** The profile since `start`, as a .cpuprofile file has it. */
  async stop(): Promise<Profile> {
    const { profile } = (await this.#call('Profiler.stop')) as { profile: Profile };
    return profile;
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #take({ id, result, error }: Answer): void {
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result);
  }
}

async function connectTo(port: number): Promise<WebSocket> {
  for (const until = performance.now() + openWithinMs; ; await sleep(100)) {
    try {
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as DebuggerTarget[];
      if (target === undefined) throw new Error(`Nothing can be debugged on port ${port}.`);
      const socket = new WebSocket(target.webSocketDebuggerUrl, { perMessageDeflate: false, maxPayload: 1 << 30 });
      await once(socket, 'open');
      return socket;
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}

/** An entry of `/json/list`. */
interface DebuggerTarget {
  webSocketDebuggerUrl: string;
}
