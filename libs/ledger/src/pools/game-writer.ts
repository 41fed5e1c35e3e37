import { LadderError } from '@laddercast/domain';
import { Environment, metrics, monotonicMs, sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';
import {
  commitHalves,
  RETRY_EVERY_MS,
  unavailable,
  WRITE_DEADLINE_MS,
  type AwaitedCommit,
  type WriteWords,
} from '../lanes/commit-tries.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { isOfEarlierMap, Lanes, type Place } from '../lanes/lanes.js';
import { Ledger } from '../writes/ledger.js';
import { RatingAlgorithms } from './rating-algorithms.js';
import { recordGames, type GameReceipt, type GameResult, type GameWrite } from './recorded-games.js';

/** The most games in one transaction, and about the most players in them: their rows hold the lane. */
const BATCH_GAMES_MAX = 512;
const BATCH_PLAYERS_MAX = 2000;
/** The most players of games that wait in one lane: a game may have hundreds. */
const WAITING_PLAYERS_MAX = 200_000;

/**
 * Games that are recorded together, in the order of these calls: the pools in which one of them failed for what passes, with
 * the failure. Later ones of such a pool fail with it, so that sending all of them again records them in their order.
 */
export type HeldPools = Map<string, LadderError>;

interface PendingGame extends AwaitedCommit {
  write: GameWrite;
  held: HeldPools;
  resolve(receipt: GameReceipt): void;
  reject(error: unknown): void;
}

/** Games in the order in which they are recorded: all of a pool, as long as one of it waits, whatever becomes of the lanes. */
interface GameQueue {
  waiting: PendingGame[];
  /** Of all that wait. */
  players: number;
  isDraining: boolean;
}

/**
 * Records games, each in the lane of its pool: whatever waits when the lane is free is committed together. Games share
 * with submissions the lane's lock, its positions and its turn, and none of the work: no board, window or entry is looked at.
 */
@Injectable()
export class GameWriter {
  private readonly ofLanes: GameQueue[] = [];
  /** Pools of which games wait, or are on their way. */
  private readonly ofPools = new Map<string, { queue: GameQueue; games: number }>();

  constructor(
    private readonly ledger: Ledger,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly algorithms: RatingAlgorithms,
    @Inject(Environment) private readonly limits: Pick<Environment, 'LANE_QUEUE_MAX'>,
  ) {}

  /**
   * Resolves once the game is durable with its event. Games of a pool are recorded in the order of these calls.
   * @param held shared by the games that come together
   * @throws OVERLOADED, OUTBOX_FULL, LEDGER_UNAVAILABLE, and what the game itself is refused for
   */
  async record(write: GameWrite, held: HeldPools = new Map()): Promise<GameReceipt> {
    const fail = (error: unknown): unknown => {
      if (error instanceof LadderError && error.retriable) held.set(write.poolId, error);
      return error;
    };
    try {
      this.ledger.assertTakes();
      this.assertRoom(write);
    } catch (error) {
      throw fail(error);
    }
    const { queue, settled } = this.enter(write.poolId);
    return new Promise<GameReceipt>((resolve, reject) => {
      const expiresAtMs = monotonicMs() + WRITE_DEADLINE_MS;
      // Noted at once: what waits behind it may be committed before anybody has heard of the failure.
      queue.waiting.push({
        write,
        held,
        expiresAtMs,
        unsettled: false,
        resolve,
        reject: (error) => reject(fail(error)),
      });
      queue.players += write.players.length;
      if (!queue.isDraining) void this.drain(queue);
    }).finally(settled);
  }

  private queueOf(poolId: string): GameQueue {
    const lane = this.lanes.of(poolId);
    this.ofLanes[lane] ??= { waiting: [], players: 0, isDraining: false };
    return this.ofPools.get(poolId)?.queue ?? this.ofLanes[lane];
  }

  /** The queue of a pool's game, and what to call once the game is settled. */
  private enter(poolId: string): { queue: GameQueue; settled: () => void } {
    const pool = this.ofPools.get(poolId) ?? { queue: this.queueOf(poolId), games: 0 };
    pool.games += 1;
    this.ofPools.set(poolId, pool);
    const settled = (): void => {
      pool.games -= 1;
      if (pool.games === 0) this.ofPools.delete(poolId);
    };
    return { queue: pool.queue, settled };
  }

  /** @throws OVERLOADED */
  private assertRoom({ poolId }: GameWrite): void {
    const queue = this.queueOf(poolId);
    if (queue.waiting.length < this.limits.LANE_QUEUE_MAX && queue.players < WAITING_PLAYERS_MAX) return;
    const detail = 'Too many games are waiting; send it again shortly, with the same gameId.';
    throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 1 });
  }

  private async drain(queue: GameQueue): Promise<void> {
    queue.isDraining = true;
    // Everything that arrives in this turn of the event loop goes along.
    await Promise.resolve();
    while (queue.waiting.length > 0) await this.commit(queue, nextBatch(queue));
    // In the same turn as the last look at the queue, or a game could slip in between and wait for ever.
    queue.isDraining = false;
  }

  /** Settles every game of the batch, whatever happens: those of each lane together. */
  private async commit(queue: GameQueue, taken: PendingGame[]): Promise<void> {
    const places = this.lanes.sorted(taken, ({ write }) => write.poolId);
    for (const { place, things } of places) await this.commitAt(queue, place, things);
  }

  private async commitAt(queue: GameQueue, place: Place, taken: PendingGame[]): Promise<void> {
    const batch = taken.filter((pending) => !isHeldUp(pending));
    if (batch.length === 0) return;
    try {
      const results = await this.work.holding(place, async (transaction) => {
        const recorded = await recordGames(
          transaction,
          place.lane,
          batch.map(({ write }) => write),
          this.algorithms,
        );
        // What follows is the commit: should nobody answer it, a game that is found next time is this one.
        const answered = recorded.map((result, index) => asFirstAnswer(result, batch[index]!));
        batch.forEach((pending, index) => (pending.unsettled ||= isNew(recorded[index]!)));
        return answered;
      });
      batch.forEach((pending, index) => settle(pending, results[index]!));
    } catch (error) {
      if (isDatabaseUnavailable(error)) return this.retryUntilDeadline(queue, batch, error);
      if (isOfEarlierMap(error)) return this.placeAnew(queue, place, batch, error);
      if (error instanceof LadderError) return batch.forEach(({ reject }) => reject(error));
      if (batch.length === 1) return batch[0]!.reject(error);
      return commitHalves(batch, (half) => this.commit(queue, inTime(half, error)));
    }
  }

  /** Lanes were raised: nothing of the batch was recorded. */
  private async placeAnew(queue: GameQueue, at: Place, batch: PendingGame[], refusal: unknown): Promise<void> {
    try {
      await this.lanes.refresh(this.database);
      // A server that lacks the raise has taken over.
      if (this.lanes.number === at.map) throw refusal;
    } catch (error) {
      return this.retryUntilDeadline(queue, batch, error);
    }
    await this.commit(queue, batch);
  }

  private async retryUntilDeadline(queue: GameQueue, batch: PendingGame[], cause: unknown): Promise<void> {
    const left = inTime(batch, cause);
    // What waits behind the batch has waited for the same server.
    queue.waiting = inTime(queue.waiting, cause);
    queue.players = playersOf(queue.waiting);
    if (left.length === 0) return;
    await sleep(RETRY_EVERY_MS);
    await this.commit(queue, left);
  }
}

/** Takes from the front what goes into one transaction: at least one. */
function nextBatch(queue: GameQueue): PendingGame[] {
  const { waiting } = queue;
  let count = 0;
  let players = 0;
  while (count < Math.min(waiting.length, BATCH_GAMES_MAX)) {
    players += waiting[count]!.write.players.length;
    if (count > 0 && players > BATCH_PLAYERS_MAX) break;
    count += 1;
  }
  const batch = waiting.splice(0, count);
  queue.players -= playersOf(batch);
  return batch;
}

const playersOf = (games: readonly PendingGame[]): number =>
  games.reduce((sum, { write }) => sum + write.players.length, 0);

/** The games that have time left; those that waited too long for PostgreSQL are refused. */
function inTime(games: readonly PendingGame[], cause: unknown): PendingGame[] {
  const now = monotonicMs();
  return games.filter((pending) => {
    if (pending.expiresAtMs > now) return true;
    pending.reject(unavailable(pending, cause, WORDS));
    return false;
  });
}

/** Rejects a game whose pool is held up by an earlier one that came with it. */
function isHeldUp({ write, held, reject }: PendingGame): boolean {
  const failure = held.get(write.poolId);
  if (failure) reject(failure);
  return failure !== undefined;
}

const isNew = (result: GameResult): boolean => 'receipt' in result && !result.receipt.replayed;

/** A game whose own commit went unanswered finds itself: that is its first answer, not a replay. */
const asFirstAnswer = (result: GameResult, { unsettled }: PendingGame): GameResult =>
  'receipt' in result && unsettled ? { receipt: { ...result.receipt, replayed: false } } : result;

function settle({ resolve, reject }: PendingGame, result: GameResult): void {
  if ('error' in result) return reject(result.error);
  if (!result.receipt.replayed) metrics.gamesRecorded.inc();
  resolve(result.receipt);
}

const WORDS: WriteWords = { notKnown: 'the game was recorded', id: 'gameId' };
