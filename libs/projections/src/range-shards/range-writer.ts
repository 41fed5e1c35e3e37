import { randomInt } from 'node:crypto';
import { counterStart, memberColumnBytes, memberPrefixBytes, rangeShardOf, type SortKey } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ProjectedChange, RankList, RecoveryRun } from '../ranks/rank-projection.js';
import {
  indexValueBytes,
  packIndexValue,
  packVersion,
  scoreOfIndexValue,
  versionOfIndexValue,
} from '../redis/redis-index-value.js';
import { PackedArray } from '../redis/redis-packed-array.js';
import { counterKey, partsKey, rangeKeys, shardHead } from '../redis/redis-keys.js';
import { callOf, redisScripts } from '../redis/redis-scripts.js';
import {
  CHECKPOINT_CHANGES_MAX,
  KeyNumbers,
  isLostWord,
  NO_COLUMNS,
  type ShardCall,
} from '../hash-shards/redis-shard-calls.js';

/** What a home says of a change that it is given, by the letters of range-claim.lua. */
const CLAIM_STATES = { f: 'first', n: 'newer', u: 'unfinished', d: 'finished', o: 'older', l: 'full' } as const;
export type ClaimState = (typeof CLAIM_STATES)[keyof typeof CLAIM_STATES];

export interface Claim {
  state: ClaimState;
  /** The index value of the player now: that of the change, or one to be finished before it; of no meaning where it is older. */
  value: Buffer;
  /** Index values of the places where the player's entry may still stand, oldest first. */
  places: Buffer[];
}

/** What one shard is to hold of a player. */
export interface ShardWrite {
  playerId: string;
  /** An index value; the version alone where nothing is put. */
  value: Buffer;
  /** Index values of what is to be taken out. */
  places: Buffer[];
  /** The entry stands elsewhere, too, until that is acknowledged. */
  isPending: boolean;
  /** The entry comes from no other shard, or goes to none. */
  isNoCrossing: boolean;
}

export interface ShardWritten {
  epoch: string;
  /** For each write whether it was done: not when the shard had seen something newer, or was retired; null in another epoch. */
  done: boolean[] | null;
  /** Of how many of the writes an entry went from this shard. */
  went: number;
  wantsLaterExpiry: boolean;
  /** See `ShardApplied`. */
  isLost: boolean;
}

/** An entry that was put into a shard, and not acknowledged yet. */
export interface PendingEntry {
  playerId: string;
  version: Buffer;
  sinceMs: number;
}

/** When keys may go, and the run that brings lost changes back; see `RankProjection.apply`. */
export interface ApplyOptions {
  keepUntilMs: number | null;
  recovery?: RecoveryRun | undefined;
}

/** Changes of one player that begin before an earlier one is finished; then that has to be finished first. */
const PLACES_MAX = 32;
/** An epoch of a shard ends after writes to so many players: each takes some 60 bytes until then. */
const EPOCH_PLAYERS_MAX = 8192;
const EPOCH_IDLE_MS = 60_000;
const PENDING_READ_MAX = 256;
const NO_PLACES: Buffer[] = [];
const NOTHING = Buffer.alloc(0);
const [ZERO, TWO] = ['0', '2'].map((digit) => digit.charCodeAt(0));
/** What range-claim.lua says of a home that has lost a key. */
const LOST = -1;
const DIGITS_OF_PROCESS = String(randomInt(10 ** 12)).padStart(12, '0');
let epochsNamed = 0;

/** The version of an index value, as the one of a removal. */
export const versionBytes = (value: Buffer): Buffer => packVersion(versionOfIndexValue(value));

export function claimChanges(
  list: RankList,
  home: number,
  changes: readonly ProjectedChange[],
  { keepUntilMs, recovery }: ApplyOptions,
): ShardCall<{ claims: Claim[]; wantsLaterExpiry: boolean; isLost: boolean }> {
  const { unfinished } = rangeKeys(list, home);
  const keys = new KeyNumbers(list, home, [counterKey(list, home), unfinished, partsKey(list, home)]);
  const prefixBytes = memberPrefixBytes(list.ordering);
  const values = changes.map(packIndexValue);
  const packed = new PackedArray(3 * changes.length);
  for (const [at, { playerId }] of changes.entries()) {
    packed.number(keys.numberOf(playerId));
    packed.text(playerId);
    packed.bytes(values[at]!);
  }
  const args = [
    untilOf(keepUntilMs),
    counterStart(list, nowMs()),
    recovery ? 1 : 0,
    prefixBytes,
    PLACES_MAX,
    packed.packed(),
  ];
  return {
    call: callOf(redisScripts.rangeClaim, keys.keys, args),
    read: (raw) => {
      const [wantsLater, letters, ...details] = raw as [number, Buffer?, ...Buffer[]];
      let next = 0;
      const claims = Array.from(letters?.toString('latin1') ?? '', (letter, at): Claim => {
        const state = CLAIM_STATES[letter as keyof typeof CLAIM_STATES];
        if (state === 'first' || state === 'older') return { state, value: values[at]!, places: NO_PLACES };
        const claim = { state, value: details[next]!, places: valuesIn(details[next + 1]!, prefixBytes) };
        next += 2;
        return claim;
      });
      return { wantsLaterExpiry: wantsLater === 1, isLost: wantsLater === LOST, claims };
    },
  };
}

export function writeShard(
  list: RankList,
  shard: number,
  writes: readonly ShardWrite[],
  epoch: string,
  { keepUntilMs, recovery }: ApplyOptions,
  checkpointChangesMax = CHECKPOINT_CHANGES_MAX,
): ShardCall<ShardWritten> {
  const { state, pending, written } = rangeKeys(list, shard);
  const atMs = nowMs();
  const args: (string | number | Buffer)[] = [
    untilOf(keepUntilMs),
    counterStart(list, atMs),
    recovery ? 1 : 0,
    list.dense ? memberColumnBytes(list.ordering) : NO_COLUMNS,
    atMs,
    Math.ceil(checkpointChangesMax / list.shards),
    epoch,
    memberPrefixBytes(list.ordering),
    EPOCH_PLAYERS_MAX,
    EPOCH_IDLE_MS,
  ];
  const packed = new PackedArray(4 * writes.length);
  for (const { playerId, value, places, isPending, isNoCrossing } of writes) {
    packed.text(playerId);
    packed.bytes(value);
    packed.text(`${isPending ? 'p' : ''}${isNoCrossing ? 'u' : ''}`);
    packed.bytes(places.length === 0 ? NOTHING : Buffer.concat(places));
  }
  args.push(packed.packed(), newEpoch());
  return {
    call: callOf(
      redisScripts.rangeWrite,
      [...shardHead(list, shard), state, pending, written, partsKey(list, shard)],
      args,
    ),
    read: (raw) => {
      const [now, wantsLater, digits] = raw as [Buffer?, number?, Buffer?];
      const isLost = isLostWord(now);
      // The shard was retired: whatever is written is as if it were older than what is there.
      if (now === undefined || isLost) {
        return { epoch: '', done: writes.map(() => false), went: 0, wantsLaterExpiry: false, isLost };
      }
      return {
        isLost,
        epoch: now.toString('latin1'),
        done: digits === undefined ? null : Array.from(digits, (digit) => digit !== ZERO),
        went: digits?.filter((digit) => digit === TWO).length ?? 0,
        wantsLaterExpiry: wantsLater === 1,
      };
    },
  };
}

/** The name of an epoch: no process ever gives it again. Scripts of the release before add to it as to a number. */
export const newEpoch = (): string => `${nowMs()}.${DIGITS_OF_PROCESS}${(epochsNamed += 1)}`;

/** Prepares a shard for entries that come back after a loss, which begins an epoch; true: its keys want a later expiry. */
export function beginRecovery(
  list: RankList,
  shard: number,
  epoch: string,
  keepUntilMs: number | null,
): ShardCall<boolean> {
  const args = [untilOf(keepUntilMs), counterStart(list, nowMs()), epoch, EPOCH_IDLE_MS];
  const keys = [counterKey(list, shard), rangeKeys(list, shard).written, partsKey(list, shard)];
  return {
    call: callOf(redisScripts.rangeBegin, keys, args),
    read: (raw) => raw === 1,
  };
}

/** All entries were put, or none: where something else was written since (`busy`), in another epoch, to a closed shard. */
export interface EntriesRestored {
  outcome: 'put' | 'epoch' | 'busy' | 'retired' | 'lost';
  epoch: string;
  wantsLaterExpiry: boolean;
}

/** Puts entries into a shard that come back after a loss, of players who have no old places. */
export function restoreEntries(
  list: RankList,
  shard: number,
  keys: readonly SortKey[],
  epoch: string,
  keepUntilMs: number | null,
): ShardCall<EntriesRestored> {
  const { pending, written } = rangeKeys(list, shard);
  const packed = new PackedArray(2 * keys.length);
  for (const { score, member } of keys) {
    packed.text(String(score));
    packed.bytes(member);
  }
  const [entries, counter, , checkpoints] = shardHead(list, shard);
  const names = [entries!, counter!, checkpoints!, pending, written, partsKey(list, shard)];
  const args = [untilOf(keepUntilMs), counterStart(list, nowMs()), epoch, EPOCH_IDLE_MS, packed.packed(), newEpoch()];
  return {
    call: callOf(redisScripts.rangeRestore, names, args),
    read: (raw) => {
      const [outcome, now, wantsLater] = raw as [Buffer, Buffer, number];
      return {
        outcome: outcome.toString('latin1') as EntriesRestored['outcome'],
        epoch: now.toString('latin1'),
        wantsLaterExpiry: wantsLater === 1,
      };
    },
  };
}

/** The epoch of a shard, empty where there is none. */
export function readEpoch(list: RankList, shard: number): ShardCall<string> {
  return {
    call: callOf(redisScripts.rangeEpoch, [rangeKeys(list, shard).written], []),
    read: (raw) => (raw === null ? '' : (raw as Buffer).toString('latin1')),
  };
}

/** A player, and the version of a change of it. */
export interface VersionOfPlayer {
  playerId: string;
  version: Buffer;
}

export function settleChanges(list: RankList, home: number, changes: readonly VersionOfPlayer[]): ShardCall<number> {
  const keys = new KeyNumbers(list, home, [rangeKeys(list, home).unfinished, partsKey(list, home)]);
  const packed = new PackedArray(3 * changes.length);
  for (const { playerId, version } of changes) {
    packed.number(keys.numberOf(playerId));
    packed.text(playerId);
    packed.bytes(version);
  }
  return { call: callOf(redisScripts.rangeSettle, keys.keys, [packed.packed()]), read: (raw) => raw as number };
}

export function acknowledgeEntries(
  list: RankList,
  shard: number,
  entries: readonly VersionOfPlayer[],
): ShardCall<number> {
  const args = entries.flatMap(({ playerId, version }) => [playerId, version]);
  return {
    call: callOf(redisScripts.rangeAcknowledge, [rangeKeys(list, shard).pending, partsKey(list, shard)], args),
    read: (raw) => raw as number,
  };
}

/** Some of the entries that are crossing into a shard. */
export function readPending(list: RankList, shard: number): ShardCall<PendingEntry[]> {
  return {
    call: callOf(redisScripts.rangePending, [rangeKeys(list, shard).pending], [PENDING_READ_MAX]),
    read: (raw) => {
      const flat = raw as Buffer[];
      return Array.from({ length: flat.length / 2 }, (_, at) => {
        const value = flat[2 * at + 1]!;
        return {
          playerId: flat[2 * at]!.toString(),
          version: versionBytes(value),
          sinceMs: value.readDoubleBE(indexValueBytes(value, 0)),
        };
      });
    },
  };
}

/** Where a player's entry is and may be. */
export interface PlacesOfPlayer {
  /** null: there never was one. */
  value: Buffer | null;
  /** Index values of old places, oldest first; null: nothing is unfinished. */
  places: Buffer[] | null;
}

export function readPlaces(list: RankList, home: number, playerIds: readonly string[]): ShardCall<PlacesOfPlayer[]> {
  const { unfinished } = rangeKeys(list, home);
  const keys = new KeyNumbers(list, home, [unfinished, counterKey(list, home), partsKey(list, home)]);
  const args = playerIds.flatMap((playerId) => [keys.numberOf(playerId), playerId]);
  const prefixBytes = memberPrefixBytes(list.ordering);
  return {
    call: callOf(redisScripts.rangePlaces, keys.keys, args),
    read: (raw) =>
      (raw as [Buffer | null, Buffer | null][]).map(([value, places]) => ({
        value,
        places: places && valuesIn(places, prefixBytes),
      })),
  };
}

/** The shard in which the entry of an index value stands. */
export const shardOfValue = (list: RankList, value: Buffer): number =>
  rangeShardOf(list.boundaries!, scoreOfIndexValue(value));

/** The change of highest version of each player. */
export function newestOfEach(changes: readonly ProjectedChange[]): ProjectedChange[] {
  const newest = new Map<string, ProjectedChange>();
  for (const change of changes) {
    const known = newest.get(change.playerId);
    if (known === undefined || known.version < change.version) newest.set(change.playerId, change);
  }
  return [...newest.values()];
}

/** The version of a player's entry as far as its change is finished; null when there is none. */
export function finishedVersion({ value, places }: PlacesOfPlayer): number | null {
  const finished = places === null ? value : places.at(-1);
  return finished ? versionOfIndexValue(finished) : null;
}

const untilOf = (keepUntilMs: number | null): number | '' => (keepUntilMs === null ? '' : Math.round(keepUntilMs));

function valuesIn(packed: Buffer, prefixBytes: number): Buffer[] {
  const values: Buffer[] = [];
  for (let rest = packed; rest.length > 0; rest = rest.subarray(values.at(-1)!.length)) {
    values.push(rest.subarray(0, indexValueBytes(rest, prefixBytes)));
  }
  return values;
}
