import type { SubmissionResult, Submission } from '../api.js';
import { clientProblem, type LadderProblem } from '../rest/problem.js';
import type { RestCore } from '../rest/rest.js';
import { newId, onWake, type Storage } from '../world.js';
import { createItems, type QueueItem } from './items.js';
import { createOneFlusher } from './one-flusher.js';
import { createSender, type Sender } from './sender.js';

const STORAGE_AGAIN_AFTER_MS = 60_000;
/** A timer of more than 2^31 - 1 ms ends at once. */
const TIMER_MAX_MS = 1e9;

/** How an item ended. It may be told twice where the program ends in between, and never less than once. */
export interface Settled {
  item: QueueItem;
  /**
   * `settled`: it counted, or is held. `refused`: it will never count, `problem` says why. `unknown`: it was sent so long
   * ago that its id may be forgotten, and nobody knows whether it counted: it is not sent again.
   */
  outcome: 'settled' | 'refused' | 'unknown';
  result?: SubmissionResult;
  problem?: LadderProblem;
}

/** Scores that wait for the network, over the end of the program: at most 1,000, and 512 KB. */
export interface Queue {
  /**
   * Puts a score into the queue; it is stored when this resolves, and sent as soon as that can be. Without `playerId` it
   * is of the player whose token is in use.
   * @throws LadderProblem QUEUE_FULL, and what the storage throws: then it is not in the queue
   */
  submit(board: string, submission: Submission): Promise<QueueItem>;
  /** How many wait, as of the last look. */
  readonly size: number;
  /** Sends what waits, now. Resolves when each was tried; what failed stays. */
  flush(): Promise<void>;
  /** Hears how each item ended. What no listener hears goes to `onProblem`. @returns what ends that */
  onSettled(listener: (settled: Settled) => void): () => void;
}

export interface QueueOptions {
  core: RestCore;
  /** Names the queue in the storage. */
  name: string;
  storage: Storage;
  /** For how many days the service remembers ids. */
  daysRemembered: number;
  onProblem: (problem: LadderProblem) => void;
}

export function createQueue(options: QueueOptions): Queue & { close(): void } {
  const { core, storage, onProblem } = options;
  const { clock, random } = core;
  const items = createItems(storage, `laddercast ${options.name} item `);
  const flusher = createOneFlusher(storage, `laddercast ${options.name} flusher`, clock);
  const listeners = new Set<(settled: Settled) => void>();
  let isClosed = false;
  let timer: unknown = null;
  let running: Promise<void> | null = null;
  let isAskedAgain = false;
  let isForced = false;

  function tell(settled: Settled): void {
    for (const listener of listeners) {
      try {
        listener(settled);
      } catch (error) {
        // It is the listener's, and must not stop the others.
        void Promise.reject(error);
      }
    }
    if (listeners.size > 0 || settled.outcome === 'settled') return;
    onProblem(settled.problem ?? clientProblem('UNREACHABLE', 'Nobody knows whether a score counted'));
  }

  const sender: Sender = createSender({ core, items, daysRemembered: options.daysRemembered, tell, onProblem });

  async function once(): Promise<void> {
    const force = isForced;
    isForced = false;
    await items.read();
    if (items.size === 0) return;
    const waitMs = await flusher.alone(async (renew) => {
      await items.read();
      await sender.sendDue(force, renew);
    });
    const dueAt = waitMs === null ? sender.nextAt() : clock.now() + waitMs * (1 + random());
    if (dueAt !== null) schedule(dueAt - clock.now());
  }

  function schedule(ms: number): void {
    clock.clearTimeout(timer);
    if (!isClosed) timer = clock.setTimeout(() => void run(), Math.min(TIMER_MAX_MS, Math.max(1, ms)));
  }

  /** Never rejects: a storage that fails is told, and tried again later. */
  async function work(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        await once();
      } while (isAskedAgain && !isClosed);
    } catch (cause) {
      onProblem(clientProblem('UNREACHABLE', 'The queue cannot be read', 0, cause));
      schedule(STORAGE_AGAIN_AFTER_MS);
    } finally {
      running = null;
    }
  }

  function run(): Promise<void> {
    isAskedAgain = true;
    running ??= work();
    return running;
  }

  const flush = (): Promise<void> => {
    isForced = true;
    return run();
  };
  const asleep = onWake(() => void flush());
  // What waits from the last time.
  void run();

  return {
    async submit(board, { submissionId = newId(), playerId, achievedAt, ...rest }) {
      const player = playerId ?? (await core.player());
      const queuedAt = clock.now();
      const ahead = core.time.ahead();
      const playedAt = ahead === null ? null : queuedAt + ahead;
      const item: QueueItem = {
        submissionId,
        board,
        body: { ...rest, playerId: player },
        achievedAt: achievedAt === undefined ? playedAt : Date.parse(achievedAt),
        ...{ queuedAt, firstSentAt: null, tries: 0, notBefore: 0 },
      };
      await items.add(item);
      void run();
      return item;
    },
    get size() {
      return items.size;
    },
    flush,
    onSettled(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      asleep();
      clock.clearTimeout(timer);
    },
  };
}
