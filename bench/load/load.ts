import { Agent, request } from 'node:http';
import { quantile } from '../figures/figures.js';
import type { Call, Target } from './requests.js';

export interface LoadFound {
  seconds: number;
  count: number;
  /** How long single requests took. */
  msOf(quantile: number): number;
}

/** The next request, or null when there are no more. */
export type NextCall = () => Call | null;

/**
 * Sends requests over so many connections, each taking the next as soon as its last was answered.
 * @throws Error for the first answer that is not 200 or 201
 */
export async function runLoad({
  url,
  key,
  connections,
  next,
}: Target & { connections: number; next: NextCall }): Promise<LoadFound> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    for (let one = next(); one !== null; one = next()) {
      const sentAt = performance.now();
      const { status, text } = await send({ agent, hostname, port, key, ...one });
      if (status !== 200 && status !== 201) throw new Error(`${one.method} ${one.path}: ${status} ${text}`);
      latencies.push(performance.now() - sentAt);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, worker));
  } finally {
    agent.destroy();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  return { seconds, count: latencies.length, msOf: (part) => quantile(latencies, part) };
}

interface SentCall extends Call {
  agent: Agent;
  hostname: string;
  port: string;
  key: string;
}

function send({
  agent,
  hostname,
  port,
  key,
  method,
  path,
  body,
}: SentCall): Promise<{ status?: number; text: string }> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const headers: Record<string, string | number> = { authorization: `Bearer ${key}` };
    if (payload !== null) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(payload);
    }
    const outgoing = request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** A `next` for `runLoad` that gives one request. */
export const once = (call: Call): NextCall => {
  let left: Call | null = call;
  return () => {
    const next = left;
    left = null;
    return next;
  };
};
