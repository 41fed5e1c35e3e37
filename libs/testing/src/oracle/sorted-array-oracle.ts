import type { BoardOrdering, RankStyle } from '@laddercast/domain';

/** What a run counts by. */
export interface OracleRun {
  score: number;
  columns: number[];
  achievedAtMs: number;
}

/** What an entry's place depends on, with its player. */
export interface OracleValues extends OracleRun {
  playerId: string;
}

export interface OracleEntry extends OracleValues {
  version: number;
}

type Values = Pick<OracleRun, 'score' | 'columns'>;

/** Negative where `a` has the better score, or with an equal one the better columns; 0 where they share a rank. */
export function compareValues({ order, columns }: BoardOrdering, a: Values, b: Values): number {
  if (a.score !== b.score) return a.score < b.score === (order === 'asc') ? -1 : 1;
  for (const [at, column] of columns.entries()) {
    const [left, right] = [a.columns[at]!, b.columns[at]!];
    if (left !== right) return left < right === (column.order === 'asc') ? -1 : 1;
  }
  return 0;
}

/** As {@link compareValues}; equal ones by their time, as the tie-break says. */
export function compareRuns(ordering: BoardOrdering, a: OracleRun, b: OracleRun): number {
  const byTime = a.achievedAtMs - b.achievedAtMs;
  return compareValues(ordering, a, b) || { earliest: byTime, latest: -byTime, none: 0 }[ordering.tiebreak];
}

/**
 * A ranked list as plainly as it can be said: an array, sorted by comparing values, without sort keys and shards.
 * What the ranks in a store are checked against.
 */
export class SortedArrayOracle {
  private readonly states = new Map<string, { version: number; entry: OracleEntry | null }>();
  private inOrder: OracleEntry[] | null = null;

  constructor(private readonly ordering: BoardOrdering) {}

  /** The list of these entries. */
  static of(ordering: BoardOrdering, entries: Iterable<OracleValues>): SortedArrayOracle {
    const oracle = new SortedArrayOracle(ordering);
    for (const { playerId, ...values } of entries) oracle.apply(playerId, 1, values);
    return oracle;
  }

  /** Applies an entry's new state, or its removal, unless a newer one is known. */
  apply(playerId: string, version: number, values: OracleRun | null): boolean {
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
    return style === 'ordinal' ? this.countBefore(values) + 1 : this.rankOfValues(values, style);
  }

  /** The 1-based rank that the values share, whatever their time. */
  rankOfValues(values: Values, style: 'competition' | 'dense'): number {
    const better = this.entries.filter((entry) => compareValues(this.ordering, entry, values) < 0);
    if (style === 'competition') return better.length + 1;
    const isFirst = (entry: Values, at: number): boolean =>
      at === 0 || compareValues(this.ordering, better[at - 1]!, entry) !== 0;
    return better.filter(isFirst).length + 1;
  }

  /** How many entries stand before the values, the entry of one player left out. */
  countBefore(values: OracleValues, without: string | null = null): number {
    return this.entries.filter((entry) => entry.playerId !== without && this.compare(entry, values) < 0).length;
  }

  compare(a: OracleValues, b: OracleValues): number {
    return compareRuns(this.ordering, a, b) || Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
  }
}
