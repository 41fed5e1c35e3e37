import { jitter, world, type Clock, type HttpAnswer } from '../world.js';
import { clientProblem, LadderProblem } from './problem.js';
import type { ServerTime } from './server-time.js';
import type { Tokens } from './tokens.js';

const RETRIES_MAX = 4;
const FIRST_DELAY_MS = 250;
const DELAY_MAX_MS = 8000;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** What is sent with a call. */
export interface CallOptions {
  /** Values that are null or undefined are left out. */
  query?: Query;
  /** Sent as JSON; a promise as what it comes to. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** How often the call may be sent again: by default 4 times, and never where it could count twice. */
  retries?: number;
  /** Hears before each further try which one it is, 1 at first, and why. */
  onRetry?: (tries: number, problem: LadderProblem) => void;
}

/** The parts of the world, and of the client, that calls are made of. */
export interface HttpOptions {
  url: string;
  fetch: (url: string, init: object) => Promise<HttpAnswer>;
  clock: Clock;
  random: () => number;
  timeoutMs: number;
}

/** Makes one call: with the token, sent again where that is safe and can help, within the time. @throws LadderProblem */
export type Call = <Answer>(method: string, path: string, options?: CallOptions) => Promise<Answer>;

type Within = <One>(one: Promise<One>) => Promise<One>;

/**
 * Does what takes no longer than `ms`: `within` ends the wait for one thing then, and `signal` aborts.
 * @throws UNREACHABLE when the time is over
 */
export async function inTime<Answer>(
  clock: Clock,
  ms: number,
  work: (within: Within, signal: object) => Promise<Answer>,
): Promise<Answer> {
  const abort = new world.AbortController();
  let end: unknown;
  const isOver = new Promise<never>((_resolve, reject) => {
    const over = (): void => {
      reject(clientProblem('UNREACHABLE', `No answer came within ${ms} ms`));
      abort.abort();
    };
    end = clock.setTimeout(over, ms);
  });
  try {
    return await work((one) => Promise.race([one, isOver]), abort.signal);
  } finally {
    clock.clearTimeout(end);
  }
}

export function createCall(options: HttpOptions, tokens: Tokens, time: ServerTime): Call {
  const { clock, random, timeoutMs } = options;
  const base = options.url.replace(/\/+$/, '');

  /** One try. @throws LadderProblem */
  async function send<Answer>(url: string, init: object): Promise<Answer> {
    const askedAt = clock.now();
    try {
      const answer = await options.fetch(url, init);
      const { ok, status, headers } = answer;
      const body = parsed(await answer.text(), ok);
      // What a cache kept would tell the time of then.
      if (body && !headers.get('cache-control')?.includes('public'))
        time.observe(headers.get('date'), askedAt, clock.now());
      if (ok) return body as Answer;
      throw new LadderProblem(
        { title: `The service answered ${status}`, ...body, status },
        retryAfter(headers, time.now()),
      );
    } catch (cause) {
      if (cause instanceof LadderProblem) throw cause;
      throw clientProblem('UNREACHABLE', 'The service cannot be reached', 0, cause);
    }
  }

  /** A new token is worth one more try, once. */
  async function identified<Answer>(url: string, init: object, headers: object, within: Within): Promise<Answer> {
    for (let tries = 0; ; tries += 1) {
      const token = await within(tokens.get());
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
      try {
        return await within(send<Answer>(url, { ...init, headers: { ...headers, ...authorization } }));
      } catch (error) {
        if ((error as LadderProblem).status !== 401 || token === null) throw error;
        tokens.refused(token);
        if (tries > 0 || (await within(tokens.get())) === token) throw error;
      }
    }
  }

  return (method, path, { query, body, headers, retries, onRetry } = {}) =>
    inTime(clock, timeoutMs, async (within, signal) => {
      const untilMs = clock.now() + timeoutMs;
      const json = JSON.stringify(await within(Promise.resolve(body)));
      const all = { accept: 'application/json', ...(json && { 'content-type': 'application/json' }), ...headers };
      const init = { method, signal, ...(json && { body: json }) };
      const left = retries ?? (method === 'POST' ? 0 : RETRIES_MAX);
      for (let tries = 0; ; tries += 1) {
        try {
          return await identified(`${base}${path}${queryText(query)}`, init, all, within);
        } catch (error) {
          if (!(error instanceof LadderProblem) || !error.isRetriable || tries >= left) throw error;
          const delayMs = error.retryAfterMs ?? jitter(random, FIRST_DELAY_MS, tries, DELAY_MAX_MS);
          if (clock.now() + delayMs >= untilMs) throw error;
          onRetry?.(tries + 1, error);
          await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs));
        }
      }
    });
}

/** null also where a refusal is not JSON. @throws LadderProblem where an answer is not: then it is not the service's */
function parsed(text: string, isAnswer: boolean): object | null {
  try {
    return text === '' ? null : (JSON.parse(text) as object);
  } catch (cause) {
    if (!isAnswer) return null;
    throw clientProblem('UNREADABLE', 'The answer is not JSON', 0, cause);
  }
}

/** In seconds, or the time of the service. */
function retryAfter(headers: HttpAnswer['headers'], nowMs: number): number | null {
  const stated = headers.get('retry-after');
  if (stated === null) return null;
  const ms = /^\d+$/.test(stated) ? Number(stated) * 1000 : Date.parse(stated) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

export function queryText(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0 ? '' : `?${new world.URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
