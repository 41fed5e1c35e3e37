// A client in a process of its own: node client.js '<JSON of a ClientLoad>'
// With a rate it sends so many a second, whether or not answers come (open loop), and counts each request's time from
// when it should have been sent; with rate null each connection sends the next when it has its answer (closed loop).
import { quantile } from '../figures/figures.js';
import type { ClientLoad, ClientResult } from './client-load.js';
import { readRequests } from './requests.js';
import { WireConnection } from './wire.js';

const drainMs = 10_000;
/** The part of a run at a rate whose times do not count: this process is not warm before, and would wait for itself. */
const leadIn = 0.25;

function run({ url, file, connections, seconds, rate }: ClientLoad): Promise<ClientResult> {
  const requests = readRequests(file);
  const latencies: number[] = [];
  const idle: WireConnection[] = [];
  const due: number[] = [];
  const state = { sent: 0, answered: 0, opened: 0, startedAt: 0, timedFrom: 0, over: false };
  return new Promise((resolve, reject) => {
    const take = (connection: WireConnection, dueAt: number): void => {
      const request = requests[state.sent % requests.length]!;
      state.sent += 1;
      connection.send(request, (status, text) => {
        state.answered += 1;
        if (dueAt >= state.timedFrom) latencies.push(performance.now() - dueAt);
        if (status < 200 || status > 299) reject(new Error(`${status} ${text()}\n${request.toString().slice(0, 400)}`));
      });
    };
    const finish = (): void => {
      for (const connection of all) connection.close();
      latencies.sort((a, b) => a - b);
      resolve({
        count: state.answered,
        seconds: (performance.now() - state.startedAt) / 1000,
        ...{ p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), max: latencies.at(-1)! },
      });
    };
    const onIdle = (connection: WireConnection): void => {
      if (state.startedAt === 0) {
        idle.push(connection);
        state.opened += 1;
        if (state.opened === connections) start();
      } else if (rate === null) {
        if (!state.over) return take(connection, performance.now());
        idle.push(connection);
        if (idle.length === connections) finish();
      } else {
        const dueAt = due.shift();
        if (dueAt !== undefined) return take(connection, dueAt);
        idle.push(connection);
        if (state.over && idle.length === connections) finish();
      }
    };
    const all = Array.from({ length: connections }, () => new WireConnection(url, onIdle, reject));
    const start = (): void => {
      state.startedAt = performance.now();
      state.timedFrom = state.startedAt + (rate === null ? 0 : 1000 * seconds * leadIn);
      setTimeout(() => reject(new Error('Answers are missing.')), 1000 * seconds + drainMs).unref();
      if (rate !== null) return pace(rate);
      setTimeout(() => (state.over = true), 1000 * seconds);
      for (const connection of idle.splice(0)) take(connection, state.startedAt);
    };
    // A timer has milliseconds: what fell due since the last look is sent together.
    let planned = 0;
    const pace = (perSecond: number): void => {
      const now = performance.now();
      const total = Math.floor(perSecond * seconds);
      for (; planned < total; planned += 1) {
        const dueAt = state.startedAt + (1000 * planned) / perSecond;
        if (dueAt > now) return void setTimeout(pace, 1, perSecond);
        const connection = idle.pop();
        if (connection === undefined) due.push(dueAt);
        else take(connection, dueAt);
      }
      state.over = true;
      if (idle.length === connections) finish();
    };
  });
}

try {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as ClientLoad)));
  process.exit(0);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
