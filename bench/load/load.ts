import { Agent, request } from 'node:http';

/**
 * Sends requests over so many connections, each taking the next as soon as its last was answered.
 * @param next gives the next request `{ method, path, body }`, or null when there are no more
 * @returns `{ seconds, count, msOf(quantile) }`: how long it took, and how long single requests did
 * @throws Error for the first answer that is not 200 or 201
 */
export async function runLoad({ url, key, connections, next }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);
  const latencies = [];
  const startedAt = performance.now();
  const worker = async () => {
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
  const msOf = (quantile) => latencies[Math.min(latencies.length - 1, Math.floor(quantile * latencies.length))];
  return { seconds, count: latencies.length, msOf };
}

function send({ agent, hostname, port, key, method, path, body }) {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const headers = { authorization: `Bearer ${key}` };
    if (payload !== null) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(payload);
    }
    const outgoing = request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** A `next` for `runLoad` that gives one request. */
export const once = (call) => {
  let left = call;
  return () => {
    const next = left;
    left = null;
    return next;
  };
};
