import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

const intervalUs = 500;
const openWithinMs = 10_000;

/** The CPU profiler of a node that was started with `--inspect=127.0.0.1:<port>`. */
export class Inspector {
  #socket;
  #calls = 0;
  #waiting = new Map();

  /** @throws Error when nothing answers within ten seconds */
  static async open(port) {
    const inspector = new Inspector();
    const until = performance.now() + openWithinMs;
    for (;;) {
      try {
        const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
        await inspector.#connect(webSocketDebuggerUrl);
        break;
      } catch (error) {
        if (performance.now() > until) throw error;
        await sleep(100);
      }
    }
    await inspector.#call('Profiler.enable');
    await inspector.#call('Profiler.setSamplingInterval', { interval: intervalUs });
    return inspector;
  }

  start() {
    return this.#call('Profiler.start');
  }

  /** The profile since `start`, as a .cpuprofile file has it. */
  async stop() {
    return (await this.#call('Profiler.stop')).profile;
  }

  close() {
    this.#socket.close();
  }

  #connect(url) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 1 << 30 });
    this.#socket.on('message', (text) => this.#take(JSON.parse(text)));
    return new Promise((resolve, reject) => {
      this.#socket.once('open', resolve);
      this.#socket.once('error', reject);
    });
  }

  #call(method, params = {}) {
    this.#calls += 1;
    const id = this.#calls;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #take({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result);
  }
}
