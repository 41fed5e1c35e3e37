import { LadderError, rangeShardOf, shardOf, type SortKey } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ProjectedChange, RankList } from '../ranks/rank-projection.js';
import { isEntryValue, sortKeyOfIndexValue, versionOfIndexValue } from '../redis/redis-index-value.js';
import { chunksOf, groupBy, sumOverChunks } from '../redis/chunks.js';
import { RangeEpochs } from './range-epochs.js';
import {
  isCrossing,
  movesOf,
  putsOf,
  removalsOf,
  versionOf,
  type ClaimedChange,
  type Move,
  type ShardWritesOfMoves,
} from './range-moves.js';
import type { RunShards } from '../hash-shards/redis-rank-pages.js';
import {
  acknowledgeEntries,
  claimChanges,
  newestOfEach,
  readPending,
  readPlaces,
  restoreEntries,
  settleChanges,
  writeShard,
  type ApplyOptions,
  type Claim,
  type PendingEntry,
} from './range-writer.js';
import { allShards } from '../redis/redis-keys.js';
import { CHECKPOINT_CHANGES_MAX, type ShardCall } from '../hash-shards/redis-shard-calls.js';
import { beingBroughtBack } from '../hash-shards/redis-shard-reads.js';

/** What is done for a shard beside its changes. */
export interface ShardCare {
  /** Gives all its keys a later expiry. */
  extendExpiry: (list: RankList, shard: number, keepUntilMs: number) => Promise<void>;
  /** Has it brought back, because it has lost a key. */
  noteLost: (list: RankList, shard: number) => Promise<void>;
}

/** Claims of one call. */
const CLAIM_CHUNK = 500;
/** A shard's epoch can end between claim and write, and a player's places be full: rarely twice in a row. */
const ROUNDS_MAX = 10;

/**
 * Writes to lists whose shards are by score, where an entry's index and the entry lie in different slots and an entry can
 * go from one shard to another. Steps: claim (index), put (new shard), remove (old shards), settle (index) and
 * acknowledge (new shard). Whoever stops between two of them leaves it to the next: each can be repeated, and what is
 * unfinished is known to the index. See docs/adr/0012-range-sharding.md.
 */
export class RangeApplier {
  private readonly epochs: RangeEpochs;

  /**
   * @param care what is done for a shard beside its changes
   * @param session counts what may have lost writes; see RedisConnection
   */
  constructor(
    private readonly run: RunShards,
    private readonly care: ShardCare,
    private readonly session: () => number,
    private readonly checkpointChangesMax = CHECKPOINT_CHANGES_MAX,
  ) {
    this.epochs = new RangeEpochs(run, care.extendExpiry);
  }

  /** See `RankProjection.apply`; `home` is the players' home. */
  async apply(
    list: RankList,
    home: number,
    changes: readonly ProjectedChange[],
    options: ApplyOptions,
  ): Promise<number> {
    return sumOverChunks(chunksOf(newestOfEach(changes), CLAIM_CHUNK), (chunk) =>
      this.applyChunk(list, home, chunk, options),
    );
  }

  /** @returns how many changes, of one player each, were newer than what was there */
  private async applyChunk(
    list: RankList,
    home: number,
    changes: readonly ProjectedChange[],
    options: ApplyOptions,
  ): Promise<number> {
    let newer = 0;
    let left = changes;
    for (let round = 0; left.length > 0; round += 1) {
      if (round === ROUNDS_MAX) {
        const detail = 'The shards of a list change faster than entries can be moved between them.';
        throw new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 1 });
      }
      const session = this.session();
      if (options.recovery) await this.epochs.beginFor(options.recovery, list, session, options.keepUntilMs);
      // Before the claim: what is learnt later proves nothing for these changes.
      const epochs = await this.epochs.of(list);
      const claims = await this.claim(list, home, left, options);
      this.assertSame(session);
      newer += claims.filter(({ state }) => state === 'first' || state === 'newer').length;
      const claimed = left.map((change, at): ClaimedChange => ({ change, claim: claims[at]! })).slice(0, claims.length);
      const restored = options.recovery && (await this.restore(list, claimed, epochs, options));
      const again = await this.carryOut(list, home, movesOf(list, restored?.left ?? claimed, options), epochs, options);
      left = restored ? [...again, ...restored.stale] : again;
    }
    return newer;
  }

  /**
   * What was claimed before the store forgot something, and is written after, would be in nobody's index.
   * @throws PROJECTION_UNAVAILABLE
   */
  private assertSame(session: number): void {
    if (this.session() === session) return;
    const detail = 'The connection to the store was replaced between two steps of a change.';
    throw new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 1 });
  }

  /**
   * Puts what comes back of players who have no old places, where shards have nothing else to think of.
   * @returns `left`: what takes the usual steps; `stale`: what has to be claimed again
   */
  private async restore(
    list: RankList,
    claimed: readonly ClaimedChange[],
    epochs: readonly string[],
    { keepUntilMs }: ApplyOptions,
  ): Promise<{ left: ClaimedChange[]; stale: ProjectedChange[] }> {
    const isRestored = ({ change, claim }: ClaimedChange): boolean =>
      (claim.state === 'first' || claim.state === 'finished') && change.key !== null && !list.dense;
    const byShard = groupBy(claimed.filter(isRestored), ({ change }) =>
      rangeShardOf(list.boundaries!, change.key!.score),
    );
    const left = claimed.filter((one) => !isRestored(one));
    const stale: ProjectedChange[] = [];
    const shards = [...byShard];
    const keysOf = (some: readonly ClaimedChange[]): SortKey[] => some.map(({ change }) => change.key!);
    const answers = await this.run(
      shards.map(([shard, some]) => restoreEntries(list, shard, keysOf(some), epochs[shard]!, keepUntilMs)),
    );
    for (const [at, { outcome, epoch, wantsLaterExpiry }] of answers.entries()) {
      const [shard, some] = shards[at]!;
      this.epochs.learn(list, shard, epoch);
      if (wantsLaterExpiry) await this.care.extendExpiry(list, shard, keepUntilMs!);
      if (outcome === 'lost') await this.waitFor(list, shard);
      if (outcome === 'busy') left.push(...some);
      if (outcome === 'epoch') stale.push(...some.map(({ change }) => change));
    }
    return { left, stale };
  }

  /** See `RankProjection.finishMoves`. */
  async finish(list: RankList, keepUntilMs: number | null, olderThanMs: number): Promise<number> {
    const pending = await this.run(allShards(list).map((shard) => readPending(list, shard)));
    let finished = 0;
    for (const [shard, entries] of pending.entries()) {
      const left = entries.filter(({ sinceMs }) => sinceMs <= nowMs() - olderThanMs);
      for (const [home, ofHome] of groupBy(left, ({ playerId }) => shardOf(playerId, list.shards))) {
        finished += await this.finishIn(list, shard, home, ofHome, keepUntilMs);
      }
    }
    return finished;
  }

  private async finishIn(
    list: RankList,
    shard: number,
    home: number,
    entries: readonly PendingEntry[],
    keepUntilMs: number | null,
  ): Promise<number> {
    const ids = entries.map(({ playerId }) => playerId);
    const [places] = await this.run([readPlaces(list, home, ids)]);
    // A home that lost its index has it brought back by recovery, which finishes what it claims.
    const known = entries.flatMap((entry, at) => {
      const { value } = places![at]!;
      return value === null ? [] : [{ entry, change: changeOf(entry.playerId, value) }];
    });
    if (known.length === 0) return 0;
    const changes = known.map(({ change }) => change);
    await this.apply(list, home, changes, { keepUntilMs });
    // The index's change is finished: nothing of an older one stands anywhere but in its place.
    const acknowledged = known.map(({ entry }) => entry);
    await this.run([acknowledgeEntries(list, shard, acknowledged)]);
    return known.length;
  }

  private async claim(
    list: RankList,
    home: number,
    changes: readonly ProjectedChange[],
    options: ApplyOptions,
  ): Promise<Claim[]> {
    const [answer] = await this.run([claimChanges(list, home, changes, options)]);
    if (answer!.isLost) await this.care.noteLost(list, home);
    if (answer!.wantsLaterExpiry) await this.care.extendExpiry(list, home, options.keepUntilMs!);
    return answer!.claims;
  }

  /** Entries whose shard has lost a key are claimed already: they come again when the list is closed, or filled. */
  private async waitFor(list: RankList, shard: number): Promise<never> {
    await this.care.noteLost(list, shard);
    throw beingBroughtBack();
  }

  /** @returns changes that have to be claimed again */
  private async carryOut(
    list: RankList,
    home: number,
    moves: readonly Move[],
    epochs: readonly string[],
    options: ApplyOptions,
  ): Promise<ProjectedChange[]> {
    const write = (step: ShardWritesOfMoves): Promise<Map<Move, 'done' | 'overtaken' | 'stale'>> =>
      this.write(list, step, epochs, options);
    const outcomes = await write(putsOf(moves.filter(({ isFinished }) => !isFinished)));
    const isPut = (move: Move): boolean => (outcomes.get(move) ?? 'done') === 'done';
    const removals = await write(removalsOf(moves.filter((move) => !move.isFinished && isPut(move))));
    for (const [move, outcome] of removals) outcomes.set(move, outcome);
    const complete = moves.filter(isPut);
    const settled = complete.filter(({ isFinished }) => !isFinished).map(versionOf);
    const crossed = complete.filter((move) => move.target !== null && (move.isFinished || isCrossing(move)));
    const calls: ShardCall<number>[] = [...groupBy(crossed, ({ target }) => target!)].map(([shard, ofShard]) =>
      acknowledgeEntries(list, shard, ofShard.map(versionOf)),
    );
    if (settled.length > 0) calls.push(settleChanges(list, home, settled));
    await this.run(calls);
    return moves
      .filter((move) => outcomes.get(move) === 'stale' || (move.isAgain && isPut(move)))
      .map(({ change }) => change);
  }

  /** Writes to several shards; a move that goes to more than one is as far as the least of them. */
  private async write(
    list: RankList,
    step: ShardWritesOfMoves,
    epochs: readonly string[],
    options: ApplyOptions,
  ): Promise<Map<Move, 'done' | 'overtaken' | 'stale'>> {
    const shards = [...step];
    const answers = await this.run(
      shards.map(([shard, writes]) =>
        writeShard(
          list,
          shard,
          writes.map(([, one]) => one),
          epochs[shard]!,
          options,
          this.checkpointChangesMax,
        ),
      ),
    );
    const outcomes = new Map<Move, 'done' | 'overtaken' | 'stale'>();
    for (const [at, answer] of answers.entries()) {
      const [shard, writes] = shards[at]!;
      if (answer.isLost) await this.waitFor(list, shard);
      this.epochs.learn(list, shard, answer.epoch);
      if (answer.wantsLaterExpiry) await this.care.extendExpiry(list, shard, options.keepUntilMs!);
      for (const [index, [move]] of writes.entries()) {
        const outcome = answer.done === null ? 'stale' : answer.done[index]! ? 'done' : 'overtaken';
        // What is stale is claimed again, and whether it was overtaken shows then.
        if (outcomes.get(move) !== 'stale' && outcome !== 'done') outcomes.set(move, outcome);
        else if (!outcomes.has(move)) outcomes.set(move, outcome);
      }
    }
    return outcomes;
  }
}

const changeOf = (playerId: string, value: Buffer): ProjectedChange => ({
  playerId,
  version: versionOfIndexValue(value),
  key: isEntryValue(value) ? sortKeyOfIndexValue(value, playerId) : null,
});
