import {
  errorBoundOf,
  isPerRun,
  memberColumnBytes,
  playerIdIn,
  type CountEstimate,
  type RankStyle,
  type SortKey,
  NEVER_USED_SCOPE,
} from '@laddercast/domain';
import {
  NoReplica,
  RankProjection,
  ReplicaReads,
  saysRanks,
  SketchCache,
  type ListSketch,
  type RankList,
  type Reading,
  type SortKeysReading,
} from '@laddercast/projections';
import { Injectable, Optional } from '@nestjs/common';
import { boardVersionOf } from './board-version.js';
import { inOrder } from './entries-in-order.js';
import { type ResolvedList } from './list-resolver.js';
import { lackedBy } from './own-worlds.js';
import { SketchWithEntries, type RankEstimator } from './sketch-with-entries.js';

/** The sketch of a list, for who reads it. */
export type SketchRead = Omit<ListSketch, 'sketch'> & { sketch: RankEstimator };

/** What an answer says of ranks that were estimated. */
export interface EstimatedRank {
  /** 1-based, in the style that was asked for. */
  rank: number;
  /** How far off it is at most, for the list as of `asOfMs` of its sketch. */
  errorBound: number;
}

export interface PlayerEstimate extends EstimatedRank {
  key: SortKey;
}

/** Players' places in a list as it was sketched. */
export interface EstimateReading {
  sketched: SketchRead;
  /** Entries of the list; a player who came since stands in it, too. */
  total: number;
  /** In the order asked, null where there is no entry. */
  players: (PlayerEstimate | null)[];
  /** The version of the list when the players' keys were read, after it was sketched; null where it is not known. */
  readVersion: number | null;
}

/** How a rank is read. */
export interface EstimateOptions {
  style: RankStyle;
  minVersion?: number | undefined;
}

/** Ranks out of the sketches in memory: of lists that are read from the projection, in the styles that a sketch knows. */
@Injectable()
export class RankEstimates {
  constructor(
    private readonly projection: RankProjection,
    private readonly sketches: SketchCache,
    @Optional() private readonly replica: ReplicaReads = new NoReplica(),
  ) {}

  /**
   * The list's sketch; null where its ranks are not estimated: it is read from standings, there is no sketch now, or none
   * that is as new as `minVersion`, or it is of an empty list, which may have been filled since. Then they are to be counted.
   */
  async sketchOf(resolved: ResolvedList, options: EstimateOptions): Promise<SketchRead | null> {
    const sketched = await this.newestSketchOf(resolved, options);
    return sketched !== null && saysRanks(sketched) ? sketched : null;
  }

  /** As {@link sketchOf}, also of an empty list. */
  async newestSketchOf(resolved: ResolvedList, { style, minVersion = 0 }: EstimateOptions): Promise<SketchRead | null> {
    const { list, edition } = resolved;
    if (edition !== null || list.scope === NEVER_USED_SCOPE || style === 'dense') return null;
    const sketched = await this.sketches.get(list);
    if (!sketched || boardVersionOf(resolved, sketched.listVersion, resolved.atMs) < minVersion) return null;
    return this.asSeen(resolved, sketched);
  }

  /** The sketch with the entries in it that only the reader's list has. */
  private async asSeen({ list, everybodys, ownEntries = [] }: ResolvedList, sketched: ListSketch): Promise<SketchRead> {
    if (!everybodys) return sketched;
    const { sketch } = sketched;
    const { ordering } = list;
    const lacking = inOrder(ordering, await lackedBy({ list, ranks: everybodys }, ownEntries));
    // It may be of a moment at which everybody's list had them.
    const own = lacking.filter(
      ({ playerId, key }) => sketch.ownEntry(playerId, (member) => playerIdIn(ordering, member), [key]).kind !== 'at',
    );
    return {
      ...sketched,
      sketch: new SketchWithEntries(
        sketch,
        own.map(({ key }) => key),
      ),
    };
  }

  /**
   * Estimates the ranks of players by one look-up of each.
   * @returns null as {@link sketchOf}, and where each run is an entry: which of them are a player's the sketch does not know
   * @throws PROJECTION_UNAVAILABLE
   */
  async ofPlayers(
    resolved: ResolvedList,
    playerIds: readonly string[],
    options: EstimateOptions,
  ): Promise<EstimateReading | null> {
    const sketched = isPerRun(resolved.board.definition) ? null : await this.newestSketchOf(resolved, options);
    if (sketched === null) return null;
    const { keys, listVersion } = await this.sortKeys(resolved.list, playerIds, options);
    if (!saysRanks(sketched) && keys.some((key) => key !== null)) return null;
    const own = new Map(
      inOrder(resolved.list.ordering, resolved.ownEntries ?? []).map(({ playerId, key }) => [playerId, key]),
    );
    const players = playerIds.map((playerId, at) => {
      const key = keys[at] ?? own.get(playerId) ?? null;
      return key && estimateOf(resolved, sketched, playerId, key, options.style);
    });
    const total = players.reduce((most, one) => Math.max(most, one?.rank ?? 0), sketched.sketch.total);
    return { sketched, total, players, readVersion: listVersion };
  }

  /** Who waited for a version is told of no earlier one. */
  private sortKeys(
    list: RankList,
    playerIds: readonly string[],
    { minVersion }: EstimateOptions,
  ): Promise<SortKeysReading> {
    const ofMaster = (): Promise<SortKeysReading> => this.projection.sortKeys(list, playerIds);
    if (minVersion !== undefined) return this.replica.ofMaster('key', list, ofMaster);
    return this.replica.read('key', list, ({ ranks }) => ranks.sortKeys(list, playerIds), ofMaster);
  }
}

/** Where a player's key stands; what the list held of the player as it was sketched is not counted. */
function estimateOf(
  { list: { ordering } }: ResolvedList,
  { sketch }: SketchRead,
  playerId: string,
  key: SortKey,
  style: RankStyle,
): PlayerEstimate {
  const own = sketch.ownEntry(playerId, (member) => playerIdIn(ordering, member), [key]);
  return { key, ...rankOf(sketch.estimateOthers(counted(key, memberColumnBytes(ordering), style), own)) };
}

/** What stands before it is better: in the competition style by score and columns alone. */
const counted = (key: SortKey, columnBytes: number, style: RankStyle): SortKey =>
  style === 'competition' ? { score: key.score, member: key.member.subarray(0, columnBytes) } : key;

/** The rank behind so many entries. */
export const rankOf = (before: CountEstimate): EstimatedRank => ({
  rank: before.likely + 1,
  errorBound: errorBoundOf(before),
});

/** Whether an answer was counted, or estimated and how far off it can be. */
export type Accuracy = { accuracy: 'exact' } | { accuracy: 'estimated'; errorBound: number };

/** What a reading says of its ranks. */
export const accuracyOf = ({ accuracy, errorBound = 0 }: Reading): Accuracy =>
  accuracy === 'estimated' ? { accuracy, errorBound } : { accuracy: 'exact' };
