import { Agent, request } from 'node:http';
import type { Target } from './requests.js';

/** One submission of a batch. */
export interface Submission {
  board: string;
  playerId: string;
  score: number;
}

/** Sends requests over kept connections, as many at once as the caller wants. */
export class Sender {
  readonly #agent: Agent;
  readonly #to: { hostname: string; port: string; authorization: string };

  constructor({ url, key }: Target, connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    const { hostname, port } = new URL(url);
    this.#to = { hostname, port, authorization: `Bearer ${key}` };
  }

  /**
   * The parsed answer, as the caller expects it by the contract.
   * @throws Error for any that is not 2xx
   */
  send<Answer = unknown>(method: string, path: string, body?: unknown): Promise<Answer> {
    const { hostname, port, authorization } = this.#to;
    const payload = body === undefined ? null : JSON.stringify(body);
    const headers: Record<string, string | number> = { authorization };
    if (payload !== null) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(payload);
    }
    return new Promise((resolve, reject) => {
      const outgoing = request({ agent: this.#agent, hostname, port, method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if ((response.statusCode ?? 0) >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          else resolve((text === '' ? null : JSON.parse(text)) as Answer);
        });
      });
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /** A batch of submissions. @throws Error when one of them is refused */
  async submitAll(submissions: readonly Submission[]): Promise<void> {
    const { results } = await this.send<{ results: { problem?: object }[] }>('POST', '/v1/scores', { submissions });
    const refused = results.find(({ problem }) => problem);
    if (refused) throw new Error(`A submission was refused: ${JSON.stringify(refused.problem)}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

export interface OpenLoop {
  perSecond: number;
  seconds: number;
  /** Gets the time it was due. */
  next(dueAt: number): Promise<unknown>;
  now?(): number;
}

/** Once all calls are settled. */
export interface OpenLoopFound {
  sent: number;
  /** How much later than due the latest call was made. */
  lateMs: number;
}

/**
 * Calls `next` so many times a second for a while, whatever becomes of the calls before (an open loop): a stall of the
 * service is in every figure that is counted from when a call was due.
 * @throws the first failure of a call
 */
export function openLoop({
  perSecond,
  seconds,
  next,
  now = () => performance.now(),
}: OpenLoop): Promise<OpenLoopFound> {
  const startedAt = now();
  const count = Math.round(perSecond * seconds);
  let sent = 0;
  let settled = 0;
  let lateMs = 0;
  return new Promise((resolve, reject) => {
    const done = (): void => {
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
