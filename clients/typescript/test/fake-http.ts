import type { Clock, HttpAnswer } from '../src/world.js';

/** A request as it reached the fake service. */
export interface FakeRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
  at: number;
}

/** An answer to give; `null`: the connection breaks. */
export type FakeAnswer = { status?: number; body?: unknown; text?: string; headers?: Record<string, string> } | null;

type Answerer = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

/** A service that a test writes: it answers what it is told to, and remembers what it was asked. */
export class FakeHttp {
  readonly requests: FakeRequest[] = [];
  /** Answers to give first, one for each request. */
  readonly next: FakeAnswer[] = [];
  answer: Answerer = () => ({ body: {} });
  /** How far the clock of the service is ahead, ms. */
  aheadMs = 0;
  sendsDate = true;

  constructor(private readonly clock: Clock) {}

  readonly fetch = async (url: string, init: object): Promise<HttpAnswer> => {
    const { method, headers, body, signal } = init as {
      method: string;
      headers: Record<string, string>;
      body?: string;
      signal: AbortSignal;
    };
    const { pathname, searchParams } = new URL(url);
    const request: FakeRequest = {
      method,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers,
      body: body === undefined ? undefined : JSON.parse(body),
      at: this.clock.now(),
    };
    this.requests.push(request);
    const given = this.next.length > 0 ? this.next.shift()! : this.answer(request);
    const answer = await Promise.race([given, aborted(signal)]);
    if (answer === null) throw new TypeError('fetch failed');
    const { status = 200 } = answer;
    const date = new Date(this.clock.now() + this.aheadMs).toUTCString();
    const all: Record<string, string> = { ...(this.sendsDate && { date }), ...answer.headers };
    return {
      ok: status >= 200 && status < 300,
      status,
      headers: { get: (name) => all[name.toLowerCase()] ?? null },
      text: async () => answer.text ?? JSON.stringify(answer.body ?? {}),
    };
  };

  get last(): FakeRequest {
    return this.requests.at(-1)!;
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

/** A refusal as the service sends it. */
export const problem = (
  code: string,
  status: number,
  headers: Record<string, string> = {},
  more: object = {},
): FakeAnswer => ({
  status,
  headers,
  body: { type: `urn:laddercast:problem:${code}`, title: code, status, detail: 'Because.', code, ...more },
});

/** A token as a player's is made; nothing signs it. */
export function playerToken(sub: string, expiresAtMs: number, more: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'HS256' }), part({ sub, exp: Math.floor(expiresAtMs / 1000), ...more }), 'c2ln'].join('.');
}
