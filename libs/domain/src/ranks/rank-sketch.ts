import { compareSortKeys, type SortKey } from '../boards/sort-key.js';

/** About how many marks a list has: at most twice as many, and the last entry of each shard. */
export const SKETCH_MARKS_MAX = 1000;

/** A shard seen through some of its entries: those at the 0-based indexes 0, `step`, 2 × `step` …, and the last. */
export interface ShardMarks {
  /** How many entries the shard has. */
  total: number;
  step: number;
  /** In order. */
  keys: SortKey[];
}

/** A count that certainly lies between `low` and `high`. */
export interface CountEstimate {
  low: number;
  high: number;
  likely: number;
}

/** Which entry of the sketched list is a player's own. */
export type OwnEntry = { kind: 'none' } | { kind: 'at'; key: SortKey } | { kind: 'unknown'; likely: SortKey | null };

/** How far off the estimate can be. */
export const errorBoundOf = ({ low, high, likely }: CountEstimate): number => Math.max(likely - low, high - likely);

/** How many indexes lie between two marks of a list with `total` entries. */
export const markStepOf = (total: number, marksMax: number): number => Math.max(1, Math.floor(total / marksMax));

/** How many marks a shard of `total` entries has. */
export function markCountOf(total: number, step: number): number {
  if (total === 0) return 0;
  const wholeSteps = Math.floor((total - 1) / step);
  return wholeSteps + 1 + (wholeSteps * step === total - 1 ? 0 : 1);
}

type PlayerIdOf = (member: Buffer) => string;

/**
 * A quantile sketch of a list: the marks of all shards, at equal distances, merged, with sums of what is certain
 * between each two. A mark before a key proves that all entries up to it are before the key; the next mark of its shard
 * proves that all entries from it on are not. What lies between is interpolated by score. The bounds hold for the list
 * as the marks were read. Ties need no care, because marks are whole sort keys.
 *
 * One binary search answers, however many shards there are.
 */
export class RankSketch {
  readonly total: number;
  /** Whether every entry is a mark: then every answer is exact. */
  readonly isWhole: boolean;
  private readonly scores: Float64Array;
  /** The members of all marks in one buffer; `offsets` says where each begins. */
  private readonly members: Buffer;
  private readonly offsets: Uint32Array;
  /**
   * For a key in the stretch before each mark, or behind the last one: how many entries are before it, at least and at
   * most.
   */
  private readonly lows: Float64Array;
  private readonly highs: Float64Array;
  /** How many entries are probably before a key at the beginning of the stretch, and before one at its end. */
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  private players: Map<string, number> | null = null;

  /** @param doubt how many entries may be missing in all shards, or counted in two */
  constructor(
    shards: readonly ShardMarks[],
    private readonly doubt = 0,
  ) {
    const marks = shards
      .flatMap(({ keys }, shard) => keys.map((key) => ({ key, shard })))
      .sort((a, b) => compareSortKeys(a.key, b.key));
    this.total = shards.reduce((sum, { total }) => sum + total, 0);
    this.isWhole = marks.length === this.total && doubt === 0;
    this.scores = Float64Array.from(marks, ({ key }) => key.score);
    this.members = Buffer.concat(marks.map(({ key }) => key.member));
    this.offsets = new Uint32Array(marks.length + 1);
    for (const [at, { key }] of marks.entries()) this.offsets[at + 1] = this.offsets[at]! + key.member.length;
    const stretches = (): Float64Array => new Float64Array(marks.length + 1);
    [this.lows, this.highs, this.starts, this.ends] = [stretches(), stretches(), stretches(), stretches()];
    this.measure(
      shards.map((shard) => new ShardStretch(shard)),
      marks.map(({ shard }) => shard),
    );
  }

  /** How many entries stand before the key. */
  estimate(key: SortKey): CountEstimate {
    const { low, high, likely } = this.seen(key);
    return { low: Math.max(0, low - this.doubt), high: high + this.doubt, likely };
  }

  /** How many entries the shards held before the key when their marks were read. */
  private seen(key: SortKey): CountEstimate {
    const at = this.marksBefore(key);
    if (this.isMark(at, key)) return this.beforeMark(at);
    const [low, high, start, end] = [this.lows[at]!, this.highs[at]!, this.starts[at]!, this.ends[at]!];
    if (low === high) return { low, high, likely: low };
    const part = at === 0 || at === this.scores.length ? 0.5 : this.partOf(at, key.score);
    return { low, high, likely: within(low, high, Math.round(start + (end - start) * part)) };
  }

  /** How many entries stand before the key, the player's own not counted. */
  estimateOthers(key: SortKey, own: OwnEntry): CountEstimate {
    const { low, high, likely } = this.estimate(key);
    if (own.kind === 'none') return { low, high, likely };
    const ownKey = own.kind === 'at' ? own.key : own.likely;
    const counted = ownKey !== null && compareSortKeys(ownKey, key) < 0 ? 1 : 0;
    if (own.kind === 'at') return { low: low - counted, high: high - counted, likely: likely - counted };
    const least = Math.max(0, low - 1);
    return { low: least, high, likely: within(least, high, likely - counted) };
  }

  /**
   * Finds the entry that a player had when the marks were read.
   * @param playerIdOf reads the player's id in a member of the list
   * @param candidates sort keys that it may have had, the likeliest first
   */
  ownEntry(playerId: string, playerIdOf: PlayerIdOf, candidates: readonly SortKey[]): OwnEntry {
    if (this.isWhole) {
      const at = this.marksOfPlayers(playerIdOf).get(playerId);
      return at === undefined ? { kind: 'none' } : { kind: 'at', key: this.keyOfMark(at) };
    }
    const key = candidates.find((candidate) => this.isMark(this.marksBefore(candidate), candidate));
    return key ? { kind: 'at', key } : { kind: 'unknown', likely: candidates[0] ?? null };
  }

  /**
   * An entry near the given rank, and how far away it is at most; null for an empty list.
   * @param rank 1-based
   */
  keyAt(rank: number): { key: SortKey; errorBound: number } | null {
    let [first, end] = [0, this.scores.length];
    if (end === 0) return null;
    while (first < end) {
      const middle = (first + end) >>> 1;
      if (this.beforeMark(middle).likely + 1 < rank) first = middle + 1;
      else end = middle;
    }
    const boundOf = (at: number): number => errorBoundOf({ ...this.beforeMark(at), likely: rank - 1 }) + this.doubt;
    const [before, after] = [Math.max(0, first - 1), Math.min(first, this.scores.length - 1)];
    const at = boundOf(before) < boundOf(after) ? before : after;
    return { key: this.keyOfMark(at), errorBound: boundOf(at) };
  }

  /** Walks over all marks in order: each mark moves one shard forward. */
  private measure(stretches: readonly ShardStretch[], shardOfMark: readonly number[]): void {
    const sumOf = (part: (stretch: ShardStretch) => number): number =>
      stretches.reduce((sum, stretch) => sum + part(stretch), 0);
    for (let at = 0; at <= shardOfMark.length; at += 1) {
      const low = sumOf((stretch) => stretch.low);
      const high = sumOf((stretch) => stretch.high);
      this.lows[at] = low;
      this.highs[at] = high;
      this.starts[at] = low === high || at === 0 ? low : sumOf((stretch) => stretch.likelyAt(this.scores[at - 1]!));
      if (at === shardOfMark.length) {
        this.ends[at] = high;
        continue;
      }
      this.ends[at] = low === high ? high : sumOf((stretch) => stretch.likelyAt(this.scores[at]!));
      stretches[shardOfMark[at]!]!.advance();
    }
  }

  private beforeMark(at: number): CountEstimate {
    // In the mark's own shard everything is certain.
    const [low, high] = [this.lows[at + 1]! - 1, this.highs[at]!];
    return { low, high, likely: within(low, high, Math.round(this.ends[at]!)) };
  }

  private partOf(at: number, score: number): number {
    return partBetween(this.scores[at - 1]!, this.scores[at]!, score);
  }

  /** How many marks stand before the key. */
  private marksBefore(key: SortKey): number {
    let [first, end] = [0, this.scores.length];
    while (first < end) {
      const middle = (first + end) >>> 1;
      if (this.compareMark(middle, key) < 0) first = middle + 1;
      else end = middle;
    }
    return first;
  }

  private isMark(at: number, key: SortKey): boolean {
    return at < this.scores.length && this.compareMark(at, key) === 0;
  }

  /** Negative when the mark stands before the key. */
  private compareMark(at: number, { score, member }: SortKey): number {
    const difference = this.scores[at]! - score;
    if (difference !== 0) return difference;
    return this.members.compare(member, 0, member.length, this.offsets[at], this.offsets[at + 1]);
  }

  private keyOfMark(at: number): SortKey {
    return { score: this.scores[at]!, member: this.members.subarray(this.offsets[at], this.offsets[at + 1]) };
  }

  private marksOfPlayers(playerIdOf: PlayerIdOf): ReadonlyMap<string, number> {
    this.players ??= new Map(Array.from(this.scores, (_, at) => [playerIdOf(this.keyOfMark(at).member), at] as const));
    return this.players;
  }
}

/** The place of the walk in one shard: between two of its marks. */
class ShardStretch {
  /** The mark that was passed last; −1: none. */
  private passed = -1;
  /** Entries before a key in the stretch, at least and at most. */
  low = 0;
  high = 0;

  constructor(private readonly shard: ShardMarks) {}

  advance(): void {
    this.low = this.indexOf((this.passed += 1)) + 1;
    this.high = this.passed + 1 < this.shard.keys.length ? this.indexOf(this.passed + 1) : this.shard.total;
  }

  likelyAt(score: number): number {
    const { low, high } = this;
    if (low === high) return low;
    const { keys } = this.shard;
    return low + (high - low) * partBetween(keys[this.passed]!.score, keys[this.passed + 1]!.score, score);
  }

  private indexOf(mark: number): number {
    return mark === this.shard.keys.length - 1 ? this.shard.total - 1 : mark * this.shard.step;
  }
}

/** Which share of the way from one score to the other lies behind a score; a half where both are the same. */
function partBetween(from: number, to: number, score: number): number {
  // Halved, because the distance between two doubles may overflow.
  const part = (score / 2 - from / 2) / (to / 2 - from / 2);
  return Number.isNaN(part) ? 0.5 : within(0, 1, part);
}

const within = (least: number, most: number, value: number): number => Math.min(most, Math.max(least, value));
