import { Agent, request as httpRequest } from 'node:http';

/** An answer as it came; status 0: there was none (refused, cut, or not in time). */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  /** How long it took. */
  ms: number;
  /** Why there was no answer. */
  failure?: string;
}

/** As a client with a pool of connections that it keeps. */
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export interface CallOptions {
  method?: string;
  key?: string;
  body?: unknown;
  /** A service that says nothing for so long counts as gone. */
  timeoutMs?: number;
}

/** One request; never throws. */
export function call(
  url: string,
  { method = 'GET', key, body, timeoutMs = 30_000 }: CallOptions = {},
): Promise<Answer> {
  const startedMs = Date.now();
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const none = (failure: string): void =>
      resolve({ status: 0, headers: {}, body: null, ms: Date.now() - startedMs, failure });
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const request = httpRequest(url, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => none(error.message));
      response.on('end', () => {
        // Cut off in the middle: what came is no answer.
        if (!response.complete) return none('the answer was cut off');
        const whole = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: parsed(whole),
          ms: Date.now() - startedMs,
        });
      });
      response.on('close', () => none('the answer was cut off'));
    });
    request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', (error) => none(error.message));
    request.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
