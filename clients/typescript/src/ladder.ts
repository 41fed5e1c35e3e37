import { Connection, type LiveState } from './live/connection.js';
import { createLiveBoard, type LiveBoard } from './live/watches.js';
import { createQueue, type Queue } from './queue/queue.js';
import { defaultStorage } from './queue/storage.js';
import type { LadderProblem } from './rest/problem.js';
import { createCore, type Rest, type RestOptions } from './rest/rest.js';
import type { RestBoard } from './rest/rest-board.js';
import { world, type Storage } from './world.js';

const IDEMPOTENCY_DAYS = 7;

/** Where the service is, who asks, and the parts of the world that can be replaced. */
export interface LadderOptions extends RestOptions {
  /** Default: `url` with `ws` for `http`, and `/v1/live`. */
  liveUrl?: string | undefined;
  /** Node 20 has none of its own: pass that of the package `ws`. */
  WebSocket?: (new (url: string, protocols: string[]) => object) | undefined;
  /** Where the queue keeps scores. Default: IndexedDB, else localStorage, else memory. `fileStorage` is for Node. */
  storage?: Storage | undefined;
  /** For how many days the service remembers the ids of submissions (SUBMISSION_ID_DAYS); default 7. */
  idempotencyDays?: number | undefined;
  /**
   * Hears what went wrong where no call can tell it. `fatal`: what it is about has ended; the code `unauthorized` is
   * about the live connection, everything else about one list that is watched. What is not fatal passes by itself.
   */
  onProblem?: ((problem: LadderProblem, about: { fatal: boolean }) => void) | undefined;
  /** Hears each new state of the live connection, for whoever shows it. */
  onLive?: ((state: LiveState) => void) | undefined;
  /**
   * Hears the text of each frame of the live connection, before the client takes it. One comes every 5 s at least: the
   * `ping`, whose `asOf` is the moment that the service knows all lists of.
   */
  onFrame?: ((text: string) => void) | undefined;
}

/** A board over REST, and live. */
export type LadderBoard = RestBoard & LiveBoard;

/** The client. */
export interface Ladder extends Rest {
  board(board: string): LadderBoard;
  /** The live connection as it is now. */
  readonly live: LiveState;
  /** Scores that wait for the network, over the end of the program. */
  readonly queue: Queue;
  /** Ends what is watched, the socket and the timers. What is in the queue stays, for the next time. */
  close(): void;
}

/** Makes a client. Nothing is connected before something is watched; scores that wait in the queue are sent. */
export function createLadder(options: LadderOptions): Ladder {
  const core = createCore(options);
  const { call, clock, random, tokens, time } = core;
  const onProblem: NonNullable<LadderOptions['onProblem']> = (...about) => options.onProblem?.(...about);
  const connection = new Connection({
    url: options.liveUrl ?? liveUrlOf(options.url),
    ...{ tokens, clock, random, onProblem },
    onLive: (state) => options.onLive?.(state),
    onFrame: (text) => options.onFrame?.(text),
    now: time.now,
    Socket: options.WebSocket ?? world.WebSocket,
  });
  const queue = createQueue({
    core,
    name: options.url,
    storage: options.storage ?? defaultStorage(),
    daysRemembered: options.idempotencyDays ?? IDEMPOTENCY_DAYS,
    onProblem: (problem) => onProblem(problem, { fatal: false }),
  });
  return {
    board: (id) => ({ ...core.board(id), ...createLiveBoard(id, connection, onProblem) }),
    call,
    now: time.now,
    get live() {
      return connection.state;
    },
    queue,
    close() {
      connection.close();
      queue.close();
    },
  };
}

function liveUrlOf(url: string): string {
  const whole = url.startsWith('http') ? url : `${world.location?.origin}${url}`;
  return `${whole.replace(/^http/, 'ws').replace(/\/+$/, '')}/v1/live`;
}
