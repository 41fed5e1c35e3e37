import type { TokenSource } from './tokens.js';
import { claimsOf, createTokens, type Tokens } from './tokens.js';
import { createCall, inTime, type Call } from './http.js';
import { createServerTime, type ServerTime } from './server-time.js';
import { createRestBoard, createVersions, type RestBoard } from './rest-board.js';
import { systemClock, world, type Clock, type HttpAnswer } from '../world.js';

const TIMEOUT_MS = 10_000;

/** Where the service is, who asks, and the parts of the world that can be replaced. */
export interface RestOptions {
  /** `https://ladder.example`, with the path in front of `/v1` where there is one; in a page `''` is its own origin. */
  url: string;
  /**
   * The identity: a player's token, an API key, or a function that gives one. It is asked before the first call, 30 s
   * before a token ends, and after it was refused. In a browser never an API key: everybody can read it there.
   */
  token?: TokenSource | undefined;
  /** Default: the one of the world. */
  fetch?: ((url: string, init: object) => Promise<HttpAnswer>) | undefined;
  clock?: Clock | undefined;
  /** From 0 to below 1, for the spread of retries. */
  random?: (() => number) | undefined;
  /** The time of one call with all its retries and the wait for a token, ms; default 10 s. */
  timeoutMs?: number | undefined;
  /** Whether a list that was read never goes backwards (`minVersion` is sent along); default true. */
  readYourReads?: boolean | undefined;
}

/** The service over REST. */
export interface Rest {
  board(board: string): RestBoard;
  /** Any call of the API: with the token, with retries where it cannot count twice. @throws LadderProblem */
  call: Call;
  /** What time it is for the service, Unix ms: for countdowns. */
  now(): number;
}

/** What the rest of the client is built on. */
export interface RestCore {
  clock: Clock;
  random: () => number;
  tokens: Tokens;
  time: ServerTime;
  call: Call;
  /** The player whose token is in use. @throws TypeError where it is no player's */
  player(): Promise<string>;
  board(board: string): RestBoard;
}

export function createCore(options: RestOptions): RestCore {
  const { url, clock = systemClock, random = Math.random, timeoutMs = TIMEOUT_MS } = options;
  const fetch = options.fetch ?? ((...[to, init]: [string, object]) => world.fetch!(to, init));
  const time = createServerTime(clock);
  const tokens = createTokens(options.token, time.now);
  const call = createCall({ url, fetch, clock, random, timeoutMs }, tokens, time);
  const versions = createVersions(options.readYourReads ?? true);
  const player = async (): Promise<string> => {
    const { sub } = claimsOf(await inTime(clock, timeoutMs, (within) => within(tokens.get()))) ?? {};
    if (sub === undefined) throw new TypeError("playerId is needed: the token is not a player's");
    return sub;
  };
  return { clock, random, tokens, time, call, player, board: (id) => createRestBoard(id, call, player, versions) };
}

/** The client without the live socket and the queue: the smallest part that reads and submits. */
export function createRest(options: RestOptions): Rest {
  const { board, call, time } = createCore(options);
  return { board, call, now: time.now };
}
