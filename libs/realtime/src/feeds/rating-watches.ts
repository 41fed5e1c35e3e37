import { assertMayRead } from '@laddercast/identity';
import {
  isCorrectedAfter,
  poolNotFound,
  poolsByUid,
  PostgresDatabase,
  RatingAlgorithms,
  requirePool,
  watchedRatings,
  type Pool,
  type WatchedChange,
} from '@laddercast/ledger';
import { CoalescedCall, RateLimitedLog } from '@laddercast/platform';
import type { Announcement } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import { gameFrame, GAMES_TOLD_MAX, RatingWatch, type RatingSubscription } from '../channels/rating-channel.js';
import { WatchBudget } from '../channels/watch-budget.js';
import { LiveOptions } from '../live-options.js';
import type { Sight } from '../protocol/client-messages.js';
import { asLadderError } from '../protocol/problems.js';

/** The most watches that one statement reads. */
const READ_AT_ONCE = 500;
/** Readings are at least so far apart: the further the more there was to read. */
const GATHER = { eachMs: 5, mostMs: 100 };
/** How often what a reader missed is looked up anew because more came meanwhile. */
const RESUME_TRIES = 3;
const SIGHTS: readonly Sight[] = ['all', 'unlisted', 'listed'];

/**
 * The ratings that this process watches, each once for all who may see the same of it. Announcements say whose ratings
 * changed; what changed is read from PostgreSQL, of all watches together. They can be lost: all watches are also read
 * every `pollEveryMs`, when changed definitions and deleted pools show, too.
 */
@Injectable()
export class RatingWatches {
  private readonly watches = new Map<string, RatingWatch>();
  private readonly budget: WatchBudget;
  private readonly failures = new RateLimitedLog(RatingWatches.name);
  private readonly reading = new CoalescedCall(() => this.readDue(), GATHER);
  private due = new Set<RatingWatch>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly options: LiveOptions,
    private readonly algorithms: RatingAlgorithms,
  ) {
    this.budget = new WatchBudget(options.watchedRatingsMax, 'ratings');
  }

  start(): void {
    this.timer ??= setInterval(() => this.look(this.watches.values()), this.options.pollEveryMs);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  /** Reads what is announced to have changed; null: anything may have. */
  hear(announcement: Announcement | null): void {
    if (this.watches.size === 0) return;
    if (announcement === null) return this.look(this.watches.values());
    if (announcement.kind === 'ratings') {
      const { poolUid, ids } = announcement;
      return this.look(ids.flatMap((id) => this.of(poolUid, id)));
    }
    if (announcement.kind !== 'players' || announcement.isGuild) return;
    const changed = new Set(announcement.ids);
    this.look([...this.watches.values()].filter((watch) => changed.has(watch.of.playerId)));
  }

  /**
   * Serves a subscription: its snapshot, then each game; a resume (with `seq`) the games since then in place of the
   * snapshot, where there are some, and not too many.
   * @throws POOL_NOT_FOUND, ALGORITHM_MISSING, UNAUTHENTICATED, FORBIDDEN, SUBSCRIPTION_LIMIT
   */
  async join(subscription: RatingSubscription, seq?: number): Promise<void> {
    const { socket, request } = subscription;
    const pool = await requirePool(this.database, request.pool);
    assertMayRead(socket.identity, pool);
    this.algorithms.poolOf(pool.definition);
    const watch = this.watchOf(pool.uid, request.playerId, request.sightOf(socket.identity), socket.party);
    const isWanted = (): boolean =>
      socket.isOpen &&
      socket.subscriptions.get(subscription.id) === subscription &&
      this.watches.get(watch.of.key) === watch;
    watch.joining += 1;
    try {
      this.due.add(watch);
      await this.reading.ask();
      // The pool went in the meantime.
      if (watch.position === null) throw poolNotFound(request.pool);
      const missed = seq === undefined ? [] : await this.missed(watch, seq);
      if (!isWanted()) return;
      watch.subscribers.add(subscription);
      subscription.channel = watch;
      // Only games that end where the watch stands lead the reader to it.
      if (missed.at(-1)?.change.position !== watch.position) return subscription.sendSnapshot(watch.snapshot());
      for (const { change, nowMs } of missed) subscription.sendDelta(gameFrame(change, nowMs));
    } finally {
      watch.joining -= 1;
      this.dropUnused(watch);
    }
  }

  /** To be called when the identity of a socket changed: what it may not see any more ends, or is seen with others' eyes. */
  async identityChanged(subscription: RatingSubscription): Promise<void> {
    const watch = subscription.channel;
    if (!(watch instanceof RatingWatch)) return;
    const { socket, request } = subscription;
    if (watch.of.sight === request.sightOf(socket.identity)) return this.look([watch]);
    subscription.detach();
    await this.join(subscription).catch((error: unknown) => subscription.refuse(asLadderError(error)));
  }

  /** The games after `seq` up to where the watch stands; none where a snapshot is due. */
  private async missed(watch: RatingWatch, seq: number): Promise<{ change: WatchedChange; nowMs: number }[]> {
    for (let tries = 0; tries < RESUME_TRIES && seq < watch.position!; tries += 1) {
      const { poolUid, playerId } = watch.of;
      const asked = [{ poolUid, playerId, afterPosition: seq }];
      const [read] = await watchedRatings(this.database, asked, GAMES_TOLD_MAX + 1);
      const { changes, nowMs } = read!;
      // Asked after them: of what is corrected later the watch tells. Corrected games lead to each other, and not from what
      // the reader has.
      const isCorrected = await isCorrectedAfter(this.database, poolUid, seq);
      if (isCorrected || changes.length > GAMES_TOLD_MAX) return [];
      // While it was read the watch may have gone on.
      if ((changes.at(-1)?.position ?? 0) < watch.position!) continue;
      const told = changes.filter(({ position }) => position <= watch.position!);
      return told.map((change) => ({ change, nowMs }));
    }
    return [];
  }

  private look(watches: Iterable<RatingWatch>): void {
    for (const watch of watches) this.due.add(watch);
    if (this.due.size === 0) return;
    this.reading.ask().catch((error: unknown) => this.failures.warn('Watched ratings cannot be read', error));
  }

  private async readDue(): Promise<void> {
    const due = [...this.due];
    this.due = new Set();
    for (let start = 0; start < due.length; start += READ_AT_ONCE) {
      await this.read(due.slice(start, start + READ_AT_ONCE));
    }
  }

  private async read(watches: readonly RatingWatch[]): Promise<void> {
    const found = await poolsByUid(this.database, [...new Set(watches.map(({ of }) => of.poolUid))]);
    const pools = new Map(found.map((pool) => [pool.uid, pool]));
    const asked = watches.map(({ of: { poolUid, playerId }, readFrom }) => ({
      poolUid,
      playerId,
      afterPosition: readFrom,
    }));
    const reads = await watchedRatings(this.database, asked, GAMES_TOLD_MAX + 1);
    for (const [index, watch] of watches.entries()) {
      const pool = pools.get(watch.of.poolUid);
      endForbidden(watch, pool, this.algorithms);
      if (!pool || !this.algorithms.has(pool.definition)) continue;
      watch.advance(reads[index]!, pool, this.algorithms.poolOf(pool.definition));
    }
  }

  /** The watches of a player in a pool. */
  private of(poolUid: number, playerId: string): RatingWatch[] {
    return SIGHTS.flatMap((sight) => this.watches.get(keyOf(poolUid, playerId, sight)) ?? []);
  }

  /** @throws SUBSCRIPTION_LIMIT */
  private watchOf(poolUid: number, playerId: string, sight: Sight, party: string | null): RatingWatch {
    const key = keyOf(poolUid, playerId, sight);
    const known = this.watches.get(key);
    if (known) return known;
    this.budget.take(party);
    const watch = new RatingWatch({ key, poolUid, playerId, sight, party }, (left) => this.dropUnused(left));
    this.watches.set(key, watch);
    return watch;
  }

  private dropUnused(watch: RatingWatch): void {
    if (watch.subscribers.size > 0 || watch.joining > 0 || this.watches.get(watch.of.key) !== watch) return;
    this.watches.delete(watch.of.key);
    this.due.delete(watch);
    this.budget.give(watch.of.party);
  }
}

const keyOf = (poolUid: number, playerId: string, sight: Sight): string => `${poolUid} ${sight} ${playerId}`;

/** Ends the subscriptions of those who may not read the pool any more, or cannot; undefined: it is gone. */
function endForbidden({ subscribers }: RatingWatch, pool: Pool | undefined, algorithms: RatingAlgorithms): void {
  for (const subscription of [...subscribers]) {
    try {
      if (!pool) throw poolNotFound(subscription.request.pool);
      assertMayRead(subscription.socket.identity, pool);
      algorithms.poolOf(pool.definition);
    } catch (error) {
      subscription.refuse(asLadderError(error));
    }
  }
}
