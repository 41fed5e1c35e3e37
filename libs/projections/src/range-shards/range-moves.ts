import type { ProjectedChange, RankList } from '../ranks/rank-projection.js';
import { isEntryValue } from '../redis/redis-index-value.js';
import { groupBy, pushTo } from '../redis/chunks.js';
import {
  shardOfValue,
  versionBytes,
  type ApplyOptions,
  type Claim,
  type ShardWrite,
  type VersionOfPlayer,
} from './range-writer.js';

/** A change, and what its home said of it. */
export interface ClaimedChange {
  change: ProjectedChange;
  claim: Claim;
}

/** A claimed change on its way through the shards. */
export interface Move {
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

export type ShardWritesOfMoves = Map<number, [Move, ShardWrite][]>;

export const versionOf = ({ change: { playerId }, value }: Move): VersionOfPlayer => ({
  playerId,
  version: versionBytes(value),
});

/** Whether the entry may stand in other shards than the one it goes to. */
export const isCrossing = ({ target, places }: Move): boolean => [...places.keys()].some((shard) => shard !== target);

export function movesOf(list: RankList, claimed: readonly ClaimedChange[], { recovery }: ApplyOptions): Move[] {
  return claimed.flatMap(({ change, claim: { state, value, places } }) => {
    if (state === 'older') return [];
    return [
      {
        change,
        value,
        target: isEntryValue(value) ? shardOfValue(list, value) : null,
        places: groupBy(places, (place) => shardOfValue(list, place)),
        isFirst: state === 'first',
        // What is finished may have been lost since.
        isFinished: state === 'finished' && recovery === undefined,
        isAgain: state === 'full',
      },
    ];
  });
}

export function putsOf(moves: readonly Move[]): ShardWritesOfMoves {
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

export function removalsOf(moves: readonly Move[]): ShardWritesOfMoves {
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
