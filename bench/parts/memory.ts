import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { startApps, type RunningApp } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext } from '../installation/context.js';
import { slope, table, whole } from '../figures/live-figures.js';
import { residentBytesOf } from '../meters/process.js';
import { Sender } from '../load/post.js';
import { playerOf } from '../boards/entries.js';

/**
 * What the api holds under full load: memory of the process, and its heap after a full collection (asked for through the
 * debugger's protocol), every ten seconds. What is asked for, in turns: submissions, ranks, around me, the top.
 */
export const description = 'memory of the api under full load over minutes';

export const oneApiProcess = true;

export const options = {
  minutes: { type: 'string', help: 'how many minutes the load lasts (10)', default: '10', parse: count },
} satisfies Options;

const board = 'memory';
const players = 20_000;
const connections = 64;
const lookEveryMs = 10_000;
const rowsShown = 12;
/** What fills caches and settles pools is not growth. */
const settledAfter = 1 / 4;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { minutes } = context.options;
  const apps = await startApps(context, ['api', 'projector'], {
    api: { nodeArgs: ['--inspect=127.0.0.1:0'], env: { LOG_LEVEL: 'warn' } },
  });
  const sender = new Sender({ url: apps.api.url, key: context.service.key }, connections);
  try {
    const heap = await Heap.of(apps.api);
    await sender.send('PUT', `/v1/boards/${board}`, { order: 'desc', operator: 'best' });
    const load = startLoad(sender);
    const looks: Look[] = [];
    const startedAt = performance.now();
    while (performance.now() - startedAt < minutes * 60_000) {
      await Promise.race([sleep(lookEveryMs), load.failed]);
      const heapBytes = await heap.usedAfterCollection();
      const atMinutes = (performance.now() - startedAt) / 60_000;
      const rss = residentBytesOf(apps.api.pid);
      looks.push({ atMinutes, rss, heapBytes, requests: load.requests() });
      context.step(
        `${atMinutes.toFixed(1)} min: ${mb(rss)} MB, heap ${mb(heapBytes)} MB, ${whole(load.requests())} requests`,
      );
    }
    await load.stop();
    heap.close();
    return tables(looks, minutes);
  } finally {
    sender.close();
    await apps.stop();
  }
}

/** What the api held at a time. */
interface Look {
  atMinutes: number;
  /** Bytes of the process in RAM. */
  rss: number;
  heapBytes: number;
  requests: number;
}

interface RunningLoad {
  /** Fails with the first request that does; else it resolves when the load was stopped. */
  failed: Promise<void>;
  requests(): number;
  stop(): Promise<void>;
}

/** Keeps every connection busy. */
function startLoad(sender: Sender): RunningLoad {
  let requests = 0;
  let isOver = false;
  const calls = [
    () =>
      sender.send('POST', `/v1/boards/${board}/scores`, { playerId: anyone(), score: Math.floor(Math.random() * 1e9) }),
    () => sender.send('GET', `/v1/boards/${board}/entries?limit=10`),
    () =>
      sender.send('POST', `/v1/boards/${board}/scores`, { playerId: anyone(), score: Math.floor(Math.random() * 1e9) }),
    () => sender.send('GET', `/v1/boards/${board}/players/${anyone()}?around=5&fallback=last`),
  ];
  const worker = async (first: number): Promise<void> => {
    for (let turn = first; !isOver; turn += 1) {
      await calls[turn % calls.length]!();
      requests += 1;
    }
  };
  const workers = Promise.all(Array.from({ length: connections }, (_, number) => worker(number)));
  const failed = workers.then(() => undefined);
  failed.catch(() => undefined);
  return {
    failed,
    requests: () => requests,
    stop: async () => {
      isOver = true;
      await workers;
    },
  };
}

const anyone = (): string => playerOf(Math.floor(Math.random() * players));

/** An answer of the Chrome DevTools Protocol. */
interface HeapAnswer {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** The heap of a process that runs with --inspect, by the Chrome DevTools Protocol. */
class Heap {
  readonly #socket: WebSocket;
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async of(app: RunningApp): Promise<Heap> {
    const [, address] = /Debugger listening on (ws:\S+)/.exec(app.output) ?? [];
    if (address === undefined) throw new Error(`The api does not say where its debugger is:\n${app.output}`);
    const socket = new WebSocket(address);
    await once(socket, 'open');
    return new Heap(socket);
  }

  async usedAfterCollection(): Promise<number> {
    await this.#ask('HeapProfiler.collectGarbage');
    const { usedSize } = (await this.#ask('Runtime.getHeapUsage')) as { usedSize: number };
    return usedSize;
  }

  close(): void {
    this.#socket.close();
  }

  async #ask(method: string): Promise<unknown> {
    const id = (this.#asked += 1);
    this.#socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [message] = (await once(this.#socket, 'message')) as [unknown];
      const { id: answered, result, error } = JSON.parse(String(message)) as HeapAnswer;
      if (answered !== id) continue;
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    }
  }
}

const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);

function tables(looks: readonly Look[], minutes: number): string {
  const last = looks.at(-1);
  if (last === undefined) throw new Error('Nothing was looked at.');
  const every = Math.max(1, Math.ceil(looks.length / rowsShown));
  const shown = looks.filter((_, at) => at % every === every - 1 || at === looks.length - 1);
  const settled = looks.filter(({ atMinutes }) => atMinutes >= minutes * settledAfter);
  const growth = (of: (look: Look) => number): string =>
    `${(slope(settled.map((look): [number, number] => [look.atMinutes, of(look)])) / 1e3).toFixed(0)} kB a minute`;
  const perSecond = (last.requests / last.atMinutes / 60).toFixed(0);
  return [
    `${connections} connections, half of the requests submissions, ${perSecond} requests a second over ${minutes} minutes.`,
    `Slope after the first quarter: process ${growth(({ rss }) => rss)}, heap ${growth(({ heapBytes }) => heapBytes)}.`,
    '',
    table(
      ['minute', 'process, MB', 'heap after collection, MB', 'requests so far'],
      shown.map(({ atMinutes, rss, heapBytes, requests }) => [
        atMinutes.toFixed(1),
        mb(rss),
        mb(heapBytes),
        whole(requests),
      ]),
    ),
  ].join('\n');
}
