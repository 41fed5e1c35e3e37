import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../redis/redis-connection.js';
import { RedisLostShards } from '../redis/redis-lost-shards.js';
import type { ShardCall } from './redis-shard-calls.js';
import { ShardCounters } from './shard-counters.js';

/** Says whether the store is whole; see ProjectionWatch. */
export interface ReadGuard {
  /** @throws PROJECTION_UNAVAILABLE while the shards must not be read */
  assertWhole(): void;
  /** Resolves when the store was whole after all that was sent to it before. @throws PROJECTION_UNAVAILABLE when not */
  prove(): Promise<void>;
}

/** A guard for those who know that nothing is lost. */
export const UNGUARDED: ReadGuard = { assertWhole: () => undefined, prove: async () => undefined };

/** A loss is reported once in this time by a process. */
const REPORT_EVERY_MS = 500;
const REPORTS_MAX = 1000;
/** What scripts say of a shard that has lost a key: its counter's key, and what the counter says; the server adds where. */
const LOST = /^LOST (\S+) (\S*)/;

/**
 * The one place where shards are read. An answer counts only when the marks of the lanes were there after it, when the keys
 * of its shard fit each other, which the scripts look at, and when the shard's counter is not below one that this process
 * had seen before it asked. Else the reading is refused, and the shard is reported, to be brought back.
 */
export class ShardReads {
  private readonly reportedAtMs = new LRUCache<string, number>({ max: REPORTS_MAX });
  private readonly lost: RedisLostShards;

  constructor(
    private readonly redis: RedisConnection,
    readonly guard: ReadGuard = UNGUARDED,
    private readonly counters = new ShardCounters(),
  ) {
    this.lost = new RedisLostShards(redis);
  }

  /** @throws PROJECTION_UNAVAILABLE */
  readonly run = async <Answer>(calls: readonly ShardCall<Answer>[]): Promise<Answer[]> => {
    if (calls.length === 0) return [];
    this.guard.assertWhole();
    const known = calls.map(({ call, counterIn }) => (counterIn ? this.counters.of(call.keys[1]!) : 0));
    const [answered, proof] = await Promise.allSettled([
      this.redis.run(calls.map(({ call }) => call)),
      this.guard.prove(),
    ]);
    // First what the whole store has lost: then a shard that is empty is no loss of its own.
    if (proof.status === 'rejected') throw proof.reason;
    if (answered.status === 'rejected') throw await this.failureOf(answered.reason);
    for (const [at, raw] of answered.value.entries()) {
      const { call, counterIn } = calls[at]!;
      if (counterIn) await this.assertNotBehind(call.keys[1]!, counterIn(raw), known[at]!);
    }
    return answered.value.map((raw, at) => calls[at]!.read(raw));
  };

  private async assertNotBehind(key: string, counter: number, known: number): Promise<void> {
    if (counter < known) {
      await this.report(key, counter === 0 ? '' : String(counter));
      throw beingBroughtBack();
    }
    this.counters.note(key, counter);
  }

  private async failureOf(error: unknown): Promise<unknown> {
    const [, key, state] = LOST.exec(messageOf(error)) ?? [];
    if (key === undefined) return error;
    await this.report(key.slice(this.redis.namespace.length), state!);
    return beingBroughtBack();
  }

  /** Whoever reads the shard next reports it again, if this fails. */
  private async report(counter: string, state: string): Promise<void> {
    // What was lost is judged on the master.
    if (this.redis.isReplica) return;
    const loss = `${counter} ${state}`;
    const now = monotonicMs();
    if (now - (this.reportedAtMs.get(loss) ?? -Infinity) < REPORT_EVERY_MS) return;
    this.reportedAtMs.set(loss, now);
    await this.lost.report(counter, state).catch(() => this.reportedAtMs.delete(loss));
  }
}

/** Changes and readings of a shard that has lost a key wait until it is filled anew. */
export const beingBroughtBack = (): LadderError =>
  new LadderError(
    'PROJECTION_UNAVAILABLE',
    'Ranks of this list were lost and are being brought back from PostgreSQL.',
    {
      retryAfterSeconds: 1,
    },
  );

const messageOf = (error: unknown): string =>
  error instanceof LadderError && error.cause instanceof Error ? error.cause.message : '';
