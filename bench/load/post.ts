import { Agent, request } from 'node:http';

/** Sends requests over kept connections, as many at once as the caller wants. */
export class Sender {
  #agent;

  constructor({ url, key }, connections) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    const { hostname, port } = new URL(url);
    this.to = { hostname, port, authorization: `Bearer ${key}` };
  }

  /** The parsed answer. @throws Error for any that is not 2xx */
  send(method, path, body) {
    const { hostname, port, authorization } = this.to;
    const payload = body === undefined ? null : JSON.stringify(body);
    const headers = { authorization };
    if (payload !== null) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(payload);
    }
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, hostname, port, method, path, headers }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          else resolve(text === '' ? null : JSON.parse(text));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** A batch of submissions. @throws Error when one of them is refused */
  async submitAll(submissions) {
    const { results } = await this.send('POST', '/v1/scores', { submissions });
    const refused = results.find(({ problem }) => problem);
    if (refused) throw new Error(`A submission was refused: ${JSON.stringify(refused.problem)}`);
    return results;
  }

  close() {
    this.#agent.destroy();
  }
}

/**
 * Calls `next` so many times a second for a while, whatever becomes of the calls before (an open loop): a stall of the
 * service is in every figure that is counted from when a call was due.
 * @param next gets the time it was due, and returns a promise
 * @returns `{ sent, lateMs }` once all are settled: `lateMs` is how much later than due the latest call was made
 * @throws the first failure of a call
 */
export function openLoop({ perSecond, seconds, next, now = () => performance.now() }) {
  const startedAt = now();
  const count = Math.round(perSecond * seconds);
  let sent = 0;
  let settled = 0;
  let lateMs = 0;
  return new Promise((resolve, reject) => {
    const done = () => {
      settled += 1;
      if (settled === count) resolve({ sent, lateMs });
    };
    const timer = setInterval(() => {
      const at = now();
      while (sent < count) {
        const dueAt = startedAt + (1000 * sent) / perSecond;
        if (dueAt > at) return;
        sent += 1;
        lateMs = Math.max(lateMs, at - dueAt);
        next(dueAt).then(done, (error) => {
          clearInterval(timer);
          reject(error);
        });
      }
      clearInterval(timer);
    }, 1);
  });
}
