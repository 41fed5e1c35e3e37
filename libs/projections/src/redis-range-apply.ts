import { LadderError, shardOf } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ProjectedChange, RankList } from './rank-projection.js';
import { isEntryValue, sortKeyOfIndexValue, versionOfIndexValue } from './redis-index-value.js';
import { sumOverChunks, chunksOf } from './chunks.js';
import type { RunShards } from './redis-rank-pages.js';
import {
  acknowledgeEntries,
  claimChanges,
  nameOfList,
  newestOfEach,
  raiseCounter,
  readEpoch,
  readPending,
  readPlaces,
  settleChanges,
  shardOfValue,
  versionBytes,
  writeShard,
  type ApplyOptions,
  type Claim,
  type PendingEntry,
  type ShardWrite,
  type ShardWritten,
} from './redis-range-writes.js';
import { CHECKPOINT_CHANGES_MAX, type ShardCall } from './redis-shard-calls.js';

/** Claims of one call. */
const CLAIM_CHUNK = 500;
/** A shard's epoch can end between claim and write, and a player's places be full: rarely twice in a row. */
const ROUNDS_MAX = 10;
/** Lists whose epochs are remembered. */
const LISTS_MAX = 1000;

/** A claimed change on its way through the shards. */
interface Move {
  change: ProjectedChange;
  /** The index value that was claimed: that of the change, or the one to be finished before it. */
  value: Buffer;
  /** The shard that the entry goes to; null: it is removed. */
  target: number | null;
  /** Old places by their shards. */
  places: Map<number, Buffer[]>;
  isFirst: boolean;
  /** What there is to do is to acknowledge. */
  isFinished: boolean;
  /** The change itself is still to be claimed. */
  isAgain: boolean;
}

/**
 * Writes to lists whose shards are by score, where an entry's index and the entry lie in different slots and an entry can
 * go from one shard to another. Steps: claim (index), put (new shard), remove (old shards), settle (index) and
 * acknowledge (new shard). Whoever stops between two of them leaves it to the next: each can be repeated, and what is
 * unfinished is known to the index. See docs/adr/0012-range-sharding.md.
 */
export class RangeApplier {
  private readonly epochs = new Map<string, string[]>();

  /** @param extendExpiry gives all keys of a shard a later expiry */
  constructor(
    private readonly run: RunShards,
    private readonly extendExpiry: (list: RankList, shard: number, keepUntilMs: number) => Promise<void>,
    private readonly checkpointChangesMax = CHECKPOINT_CHANGES_MAX,
  ) {}

  /** See `RankProjection.apply`; `home` is the players' home. */
  async apply(
    list: RankList,
    home: number,
    changes: readonly ProjectedChange[],
    options: ApplyOptions,
  ): Promise<number> {
    const newer = await sumOverChunks(chunksOf(newestOfEach(changes), CLAIM_CHUNK), (chunk) =>
      this.applyChunk(list, home, chunk, options),
    );
    if (options.isRecovery) await this.raiseCounters(list, options.keepUntilMs);
    return newer;
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
      // A copy, from before the claim: what others learn meanwhile proves nothing for these changes.
      const epochs = [...(await this.epochsOf(list))];
      const claims = await this.claim(list, home, left, options);
      newer += claims.filter(({ state }) => state === 'first' || state === 'newer').length;
      left = await this.carryOut(list, home, movesOf(list, left, claims), epochs, options);
    }
    return newer;
  }

  /** See `RankProjection.finishMoves`. */
  async finish(list: RankList, keepUntilMs: number | null, olderThanMs: number): Promise<number> {
    const shards = Array.from({ length: list.shards }, (_, shard) => shard);
    const pending = await this.run(shards.map((shard) => readPending(list, shard)));
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
    await this.apply(list, home, changes, { keepUntilMs, isRecovery: false });
    // The index's change is finished: nothing of an older one stands anywhere but in its place.
    const acknowledged = known.map(({ entry }) => entry);
    await this.run([acknowledgeEntries(list, shard, acknowledged)]);
    return known.length;
  }

  /** All shards that changes went through count in the version of the list, also those in which none of them stayed. */
  private async raiseCounters(list: RankList, keepUntilMs: number | null): Promise<void> {
    const shards = Array.from({ length: list.shards }, (_, shard) => shard);
    const wantLaterExpiry = await this.run(shards.map((shard) => raiseCounter(list, shard, keepUntilMs)));
    for (const shard of shards.filter((each) => wantLaterExpiry[each])) {
      await this.extendExpiry(list, shard, keepUntilMs!);
    }
  }

  private async claim(
    list: RankList,
    home: number,
    changes: readonly ProjectedChange[],
    options: ApplyOptions,
  ): Promise<Claim[]> {
    const [answer] = await this.run([claimChanges(list, home, changes, options)]);
    if (answer!.wantsLaterExpiry) await this.extendExpiry(list, home, options.keepUntilMs!);
    return answer!.claims;
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
      this.learn(list, shard, answer);
      if (answer.wantsLaterExpiry) await this.extendExpiry(list, shard, options.keepUntilMs!);
      for (const [index, [move]] of writes.entries()) {
        const outcome = answer.done === null ? 'stale' : answer.done[index]! ? 'done' : 'overtaken';
        // What is stale is claimed again, and whether it was overtaken shows then.
        if (outcomes.get(move) !== 'stale' && outcome !== 'done') outcomes.set(move, outcome);
        else if (!outcomes.has(move)) outcomes.set(move, outcome);
      }
    }
    return outcomes;
  }

  private async epochsOf(list: RankList): Promise<string[]> {
    const name = nameOfList(list);
    const known = this.epochs.get(name);
    if (known !== undefined) return known;
    const epochs = await this.run(Array.from({ length: list.shards }, (_, shard) => readEpoch(list, shard)));
    if (this.epochs.size >= LISTS_MAX) this.epochs.clear();
    this.epochs.set(name, epochs);
    return epochs;
  }

  private learn(list: RankList, shard: number, { epoch }: ShardWritten): void {
    const known = this.epochs.get(nameOfList(list));
    if (known !== undefined) known[shard] = epoch;
  }
}

type ShardWritesOfMoves = Map<number, [Move, ShardWrite][]>;

const changeOf = (playerId: string, value: Buffer): ProjectedChange => ({
  playerId,
  version: versionOfIndexValue(value),
  key: isEntryValue(value) ? sortKeyOfIndexValue(value, playerId) : null,
});

const versionOf = ({ change: { playerId }, value }: Move): { playerId: string; version: Buffer } => ({
  playerId,
  version: versionBytes(value),
});

/** Whether the entry may stand in other shards than the one it goes to. */
const isCrossing = ({ target, places }: Move): boolean => [...places.keys()].some((shard) => shard !== target);

function movesOf(list: RankList, changes: readonly ProjectedChange[], claims: readonly Claim[]): Move[] {
  return claims.flatMap(({ state, value, places }, at) => {
    if (state === 'older') return [];
    return [
      {
        change: changes[at]!,
        value,
        target: isEntryValue(value) ? shardOfValue(list, value) : null,
        places: groupBy(places, (place) => shardOfValue(list, place)),
        isFirst: state === 'first',
        isFinished: state === 'finished',
        isAgain: state === 'full',
      },
    ];
  });
}

function putsOf(moves: readonly Move[]): ShardWritesOfMoves {
  const puts: ShardWritesOfMoves = new Map();
  for (const move of moves) {
    const { change, value, target, places, isFirst } = move;
    if (target === null) continue;
    pushTo(puts, target, [
      move,
      {
        playerId: change.playerId,
        value,
        places: places.get(target) ?? [],
        isPending: isCrossing(move),
        isNoCrossing: isFirst,
      },
    ]);
  }
  return puts;
}

function removalsOf(moves: readonly Move[]): ShardWritesOfMoves {
  const removals: ShardWritesOfMoves = new Map();
  for (const move of moves) {
    const { change, value, target, places } = move;
    for (const [shard, ofShard] of places) {
      if (shard === target) continue;
      pushTo(removals, shard, [
        move,
        {
          playerId: change.playerId,
          value: versionBytes(value),
          places: ofShard,
          isPending: false,
          isNoCrossing: target === null,
        },
      ]);
    }
  }
  return removals;
}

function groupBy<T>(items: readonly T[], shardOfItem: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) pushTo(groups, shardOfItem(item), item);
  return groups;
}

function pushTo<T>(groups: Map<number, T[]>, shard: number, item: T): void {
  const group = groups.get(shard);
  if (group === undefined) groups.set(shard, [item]);
  else group.push(item);
}
