import type { Schemas } from '../api.js';
import { LadderProblem, clientProblem } from '../rest/problem.js';
import type { RestCore } from '../rest/rest.js';
import { claimsOf } from '../rest/tokens.js';
import { jitter } from '../world.js';
import type { Items, QueueItem } from './items.js';
import type { Settled } from './queue.js';

const BATCH_MAX = 100;
const FIRST_DELAY_MS = 1000;
const DELAY_MAX_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
/** So many answers say what time it is, whatever those before said: most of the last five. */
const CLOCK_TRIES = 3;
/** A service that answered so long ago is asked first whether it is there. */
const MET_WITHIN_MS = 5000;

type Kept = [key: string, item: QueueItem];
type Results = Schemas['SubmissionResults']['results'];

export interface SenderOptions {
  core: RestCore;
  items: Items;
  daysRemembered: number;
  tell: (settled: Settled) => void;
  onProblem: (problem: LadderProblem) => void;
}

/** Sends what waits, and decides what becomes of it. */
export interface Sender {
  /**
   * Tries each item that is due, once.
   * @param force also those that were to wait
   * @param renew is called before each request
   */
  sendDue(force: boolean, renew: () => Promise<void>): Promise<void>;
  /** When the next item is due, by the clock of this device; null: nothing waits. */
  nextAt(): number | null;
}

export function createSender({ core, items, daysRemembered, tell, onProblem }: SenderOptions): Sender {
  const { clock, random, time, tokens, call } = core;
  const takesTime = new Map<string, boolean>();
  let batchMax = BATCH_MAX;
  /** No request at all before: the last one failed as a whole. */
  let pausedUntil = 0;
  /** When the service answered last. */
  let metAt = -Infinity;

  async function settle([key, item]: Kept, how: Omit<Settled, 'item'>): Promise<void> {
    // First told, then forgotten: the other way round a crash in between would lose the word.
    tell({ item, ...how });
    await items.remove(key);
  }

  /** Whether the service may have forgotten an id, whose outcome nobody knows. */
  const isForgotten = ({ firstSentAt }: QueueItem): boolean =>
    firstSentAt !== null && time.now() - firstSentAt > (daysRemembered - 1) * DAY_MS;

  /** What may be sent, in the order of queuing; nothing of a board where something waits, so that the order stays. */
  function due(force: boolean, tried: ReadonlySet<string>): Kept[] {
    const now = clock.now();
    const all = items.all();
    const isWaiting = ([key, { notBefore }]: Kept): boolean => tried.has(key) || (!force && notBefore > now);
    const blocked = new Set(all.filter(isWaiting).map(([, { board }]) => board));
    return all.filter(([, { board }]) => !blocked.has(board)).slice(0, batchMax);
  }

  /**
   * Reads a board: whether it takes the time of play from players, and whether the service is there at all. What is sent
   * into nothing would count as sent, and nobody would know what became of it.
   * @throws LadderProblem where no answer of the service comes
   */
  async function meet(board: string): Promise<boolean> {
    let isTaken = false;
    try {
      const path = `/v1/boards/${encodeURIComponent(board)}`;
      isTaken = (await call<{ clientTime: boolean }>('GET', path, { retries: 0 })).clientTime;
    } catch (error) {
      const { isRetriable, code, status } = error as LadderProblem;
      // Who is not known was not told. A key that may not read the board may send to it all the same.
      if (!(error instanceof LadderProblem) || isRetriable || code === 'UNREADABLE' || status === 401) throw error;
    }
    takesTime.set(board, isTaken);
    metAt = clock.now();
    return isTaken;
  }

  /** Decides what an item is sent with, for every later try as soon as it may be stored: another body would be refused. */
  async function decide(item: QueueItem, token: string | null): Promise<QueueItem> {
    if (item.timeIsKept !== undefined) return item;
    // Without a token nothing counts: who comes with one meanwhile may be a player.
    const isOfPlayer = token === null || claimsOf(token) !== null;
    const timeIsKept = !isOfPlayer || (takesTime.get(item.board) ?? (await meet(item.board)));
    const playedAt = item.achievedAt ?? item.queuedAt + (time.ahead() ?? 0);
    return { ...item, timeIsKept, achievedAt: Math.min(playedAt, time.now()) };
  }

  const bodyOf = ({ board, submissionId, body, achievedAt, timeIsKept }: QueueItem): object => ({
    ...body,
    board,
    submissionId,
    ...(timeIsKept && { achievedAt: new Date(achievedAt!).toISOString() }),
  });

  /** They stay, those of a board as long as each other. @returns when the first may be sent again */
  async function stay(kept: readonly Kept[], { retryAfterMs }: LadderProblem): Promise<number> {
    const times = new Map<string, number>();
    for (const [key, item] of kept) {
      const delayMs = retryAfterMs ?? jitter(random, FIRST_DELAY_MS, item.tries, DELAY_MAX_MS);
      const notBefore = times.get(item.board) ?? clock.now() + delayMs;
      times.set(item.board, notBefore);
      await items.change(key, { ...item, tries: item.tries + 1, notBefore });
    }
    return Math.min(...times.values());
  }

  /**
   * The request failed as a whole.
   * @param sent as they left; null: they did not
   * @returns whether the next part may be tried at once
   */
  async function failed(
    before: readonly Kept[],
    sent: readonly Kept[] | null,
    problem: LadderProblem,
  ): Promise<boolean> {
    const { status } = problem;
    metAt = -Infinity;
    // Nothing of it was stored: what was never sent before still was not, and what it is sent with is open again.
    const isSurelyNot = status >= 400 && status < 500 && status !== 408;
    // Some may have ended before the storage failed.
    const kept = (isSurelyNot ? before : (sent ?? before)).filter(([key]) => items.has(key));
    if (sent !== null && (status === 400 || status === 413 || status === 422)) {
      if (kept.length > 1) {
        // One of them is to blame, and is found by halving.
        for (const [key, item] of kept) await items.change(key, item);
        batchMax = kept.length >> 1;
      } else if (problem.code === 'UNREADABLE') {
        // What a proxy says refuses no score: it waits, and only its board with it.
        await stay(kept, problem);
        batchMax = 2;
        onProblem(problem);
      } else for (const one of kept) await settle(one, { outcome: 'refused', problem });
      return true;
    }
    if (status === 429) batchMax = Math.max(1, kept.length >> 1);
    pausedUntil = await stay(kept, problem);
    if (!problem.isRetriable) onProblem(problem);
    return false;
  }

  async function answered(before: readonly Kept[], sent: readonly Kept[], results: Results): Promise<void> {
    for (const [at, one] of sent.entries()) {
      const answer = results[at]!;
      if (!('problem' in answer)) {
        await settle(one, { outcome: 'settled', result: answer });
        continue;
      }
      const problem = new LadderProblem(answer.problem);
      const { clockTries = 0 } = one[1];
      if (problem.isRetriable) await stay([one], problem);
      else if (problem.code === 'ACHIEVED_AT_IN_FUTURE' && clockTries < CLOCK_TRIES) {
        // The clock of the device was set, and the next answers say by how much. It was not taken before either.
        const { timeIsKept: _, ...open } = before[at]![1];
        await stay([[one[0], { ...open, firstSentAt: null, clockTries: clockTries + 1 }]], problem);
      } else await settle(one, { outcome: 'refused', problem });
    }
    batchMax = Math.min(BATCH_MAX, batchMax * 2);
    metAt = clock.now();
  }

  /** @returns whether more may be sent */
  async function send(batch: readonly Kept[]): Promise<boolean> {
    let sent = batch;
    let isOut = false;
    try {
      const token = await tokens.get();
      if (clock.now() - metAt >= MET_WITHIN_MS) await meet(batch[0]![1].board);
      const known: Kept[] = [];
      const decided: Kept[] = [];
      for (const one of batch) {
        const [key, item] = one;
        if (isForgotten(item)) {
          await settle(one, { outcome: 'unknown' });
        } else {
          known.push(one);
          decided.push([key, { ...(await decide(item, token)), firstSentAt: item.firstSentAt ?? time.now() }]);
        }
      }
      if (known.length === 0) return true;
      batch = known;
      sent = decided;
      // On the disk before the first byte leaves: after a crash it counts as sent.
      for (const [key, item] of sent) await items.change(key, item);
      const submissions = sent.map(([, item]) => bodyOf(item));
      isOut = true;
      const answer = await call<{ results?: Results }>('POST', '/v1/scores', { body: { submissions }, retries: 0 });
      if (answer?.results?.length !== sent.length) throw clientProblem('UNREADABLE', 'The answer is of something else');
      await answered(batch, sent, answer.results);
      return true;
    } catch (error) {
      const problem =
        error instanceof LadderProblem
          ? error
          : clientProblem('UNREACHABLE', 'There is no token, or no storage', 0, error);
      return failed(batch, isOut ? sent : null, problem);
    }
  }

  return {
    async sendDue(force, renew) {
      if (!force && clock.now() < pausedUntil) return;
      const tried = new Set<string>();
      for (;;) {
        const batch = due(force, tried);
        if (batch.length === 0) return;
        await renew();
        const sizeBefore = batchMax;
        if (!(await send(batch))) return;
        // Those of a batch that was halved are tried again.
        if (batchMax >= sizeBefore) for (const [key] of batch) tried.add(key);
      }
    },
    nextAt() {
      const times = new Map<string, number>();
      for (const [, { board, notBefore }] of items.all()) {
        times.set(board, Math.max(notBefore, times.get(board) ?? 0));
      }
      return times.size === 0 ? null : Math.max(pausedUntil, Math.min(...times.values()));
    },
  };
}
