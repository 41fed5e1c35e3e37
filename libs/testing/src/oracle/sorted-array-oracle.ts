import type { BoardOrdering, RankStyle } from '@laddercast/domain';

/** What an entry's place depends on, with its player. */
export interface OracleValues {
  playerId: string;
  score: number;
  columns: number[];
  achievedAtMs: number;
}

export interface OracleEntry extends OracleValues {
  version: number;
}

/**
 * A ranked list as plainly as it can be said: an array, sorted by comparing values, without sort keys and shards.
 * What the ranks in a store are checked against.
 */
export class SortedArrayOracle {
  private readonly states = new Map<string, { version: number; entry: OracleEntry | null }>();
  private inOrder: OracleEntry[] | null = null;

  constructor(private readonly ordering: BoardOrdering) {}

  /** Applies an entry's new state, or its removal, unless a newer one is known. */
  apply(playerId: string, version: number, values: Omit<OracleValues, 'playerId'> | null): boolean {
    const known = this.states.get(playerId);
    if (known && known.version >= version) return false;
    this.states.set(playerId, { version, entry: values === null ? null : { ...values, playerId, version } });
    this.inOrder = null;
    return true;
  }

  get entries(): readonly OracleEntry[] {
    this.inOrder ??= [...this.states.values()]
      .flatMap(({ entry }) => (entry === null ? [] : [entry]))
      .sort((a, b) => this.compare(a, b));
    return this.inOrder;
  }

  /** The version of a player's entry or of its removal. */
  versionOf(playerId: string): number | null {
    return this.states.get(playerId)?.version ?? null;
  }

  /** The 0-based index of a player's entry, −1 when there is none. */
  indexOf(playerId: string): number {
    return this.entries.findIndex((entry) => entry.playerId === playerId);
  }

  /** The 1-based rank of the entry at an index. */
  rankAt(index: number, style: RankStyle): number {
    return style === 'ordinal' ? index + 1 : this.rankOf(this.entries[index]!, style);
  }

  /** The 1-based rank that an entry with these values would get, beside all that is there. */
  rankOf(values: OracleValues, style: RankStyle): number {
    if (style === 'ordinal') return this.countBefore(values) + 1;
    const better = this.entries.filter((entry) => this.compareScores(entry, values) < 0);
    if (style === 'competition') return better.length + 1;
    return better.filter((entry, at) => at === 0 || this.compareScores(better[at - 1]!, entry) !== 0).length + 1;
  }

  /** How many entries stand before the values, the entry of one player left out. */
  countBefore(values: OracleValues, without: string | null = null): number {
    return this.entries.filter((entry) => entry.playerId !== without && this.compare(entry, values) < 0).length;
  }

  compare(a: OracleValues, b: OracleValues): number {
    const byScore = this.compareScores(a, b);
    if (byScore !== 0) return byScore;
    const byTime = a.achievedAtMs - b.achievedAtMs;
    if (this.ordering.tiebreak === 'earliest' && byTime !== 0) return byTime;
    if (this.ordering.tiebreak === 'latest' && byTime !== 0) return -byTime;
    return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
  }

  private compareScores(a: OracleValues, b: OracleValues): number {
    if (a.score !== b.score) return a.score < b.score === (this.ordering.order === 'asc') ? -1 : 1;
    for (const [at, { order }] of this.ordering.columns.entries()) {
      const [left, right] = [a.columns[at]!, b.columns[at]!];
      if (left !== right) return left < right === (order === 'asc') ? -1 : 1;
    }
    return 0;
  }
}
