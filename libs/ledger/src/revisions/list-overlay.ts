import { compareSortKeys, encodeSortKey, playerOfKey, sharesRank, type BoardOrdering } from '@laddercast/domain';

/** What a row of standings says beside its ranks. */
export interface StandingValues {
  /** The guild's id for a guild. */
  player_id: string;
  score: number;
  columns: number[];
  achieved_at_ms: number;
  /** JSON text. */
  metadata: string | null;
  scopes: number[];
  /** Of the run that it rests on, as it was when the edition was made; null where none is kept. */
  verified: boolean | null;
  proof: string | null;
  /** null: not a guild. */
  members: number | null;
}

/** A row's ranks. */
export interface StandingPlace {
  ordinal: number;
  competition: number;
  dense: number;
}

/** A row of the base that is not shown. */
export interface StruckRow {
  ordinal: number;
  competition: number;
  /** The ordinal of the last row with its value. */
  last: number;
}

/** A row that the base does not have, and where it would stand there. */
export interface LaidRow extends StandingValues {
  /** How many rows of the base stand before it, how many are better, and how many are not worse. */
  before: number;
  better: number;
  notWorse: number;
  /** How many values of the base are better. */
  betterValues: number;
}

/** What is laid over one list of a base: at most one row is struck, and one laid, of each player. */
export interface ListChanges {
  struck: readonly StruckRow[];
  laid: readonly LaidRow[];
}

export type PlacedRow = LaidRow & StandingPlace;

/** Where a place of the revised list is found: among the rows that were laid, or at an ordinal of the base. */
export type PlaceSource = { laid: PlacedRow } | { base: number };

/**
 * One list of a base edition with its changes laid over it: who stands where, without reading the base. Ordinal ranks are
 * those of the base, less what is struck before, plus what is laid before; the competition style counts only better rows,
 * the dense style only values that vanished or came.
 */
export class ListOverlay {
  private readonly struck: readonly number[];
  /** Values of the base of which no row is left: the competition ranks of their rows. */
  private readonly vanished: readonly number[];
  /** Values that the base does not have: the number of better rows in the base. */
  private readonly came: readonly number[];
  private readonly laid: readonly PlacedRow[];
  private readonly ordinalsLaid: readonly number[];
  private readonly before: readonly number[];
  private readonly notWorse: readonly number[];
  private readonly byPlayer: ReadonlyMap<string, PlacedRow>;

  constructor(ordering: BoardOrdering, { struck, laid }: ListChanges) {
    this.struck = struck.map(({ ordinal }) => ordinal).sort(ascending);
    this.vanished = vanishedValues(struck, laid);
    const keyed = laid.map((row) => ({ row, key: encodeSortKey(ordering, valuesOf(row), row.player_id) }));
    const inOrder = keyed.sort((a, b) => compareSortKeys(a.key, b.key)).map(({ row }) => row);
    const came: number[] = [];
    this.laid = this.placed(inOrder, came);
    this.came = came;
    this.ordinalsLaid = this.laid.map(({ ordinal }) => ordinal);
    this.before = this.laid.map(({ before }) => before);
    this.notWorse = this.laid.map(({ notWorse }) => notWorse);
    this.byPlayer = new Map(this.laid.map((row) => [row.player_id, row]));
  }

  /** The ordinals of the base's rows that are not shown, and the players of those that it does not have. */
  get changes(): { struck: readonly number[]; laid: readonly string[] } {
    return { struck: this.struck, laid: this.laid.map(({ player_id }) => playerOfKey(player_id)) };
  }

  /** By how much the list is longer than that of the base. */
  get longer(): number {
    return this.laid.length - this.struck.length;
  }

  /** The row laid of a player, or of the key of a run's entry. */
  laidOf(playerId: string): PlacedRow | undefined {
    return this.byPlayer.get(playerId);
  }

  /** The keys of rows laid of a player where each run is an entry. */
  keysLaidOf(playerId: string): string[] {
    return [...this.byPlayer.keys()].filter((key) => key !== playerId && playerOfKey(key) === playerId);
  }

  isStruck(ordinal: number): boolean {
    return this.struck[countBelow(this.struck, ordinal)] === ordinal;
  }

  /** The present ranks of a row of the base that is not struck. */
  placeOf({ ordinal, competition, dense }: StandingPlace): StandingPlace {
    return {
      ordinal: ordinal - countBelow(this.struck, ordinal) + countBelow(this.before, ordinal),
      competition: competition - countBelow(this.struck, competition) + countBelow(this.notWorse, competition),
      dense: dense - countBelow(this.vanished, competition) + countBelow(this.came, competition),
    };
  }

  /** What stands at an ordinal of the revised list, from 1 to its length. */
  at(ordinal: number): PlaceSource {
    const laidBefore = countBelow(this.ordinalsLaid, ordinal);
    const laid = this.laid[laidBefore];
    if (laid?.ordinal === ordinal) return { laid };
    const shownBefore = ordinal - laidBefore - 1;
    // Before the struck row at an index stand as many shown rows of the base as its ordinal says, less 1, less the index.
    const struckBefore = firstIndex(this.struck.length, (at) => this.struck[at]! - 1 - at > shownBefore);
    return { base: shownBefore + struckBefore + 1 };
  }

  /** Notes in `came` what values the base does not have. */
  private placed(inOrder: readonly LaidRow[], came: number[]): PlacedRow[] {
    let [laidBetter, cameBetter] = [0, 0];
    return inOrder.map((row, index) => {
      const previous = inOrder[index - 1];
      if (previous === undefined || !sharesRank(previous, row)) {
        [laidBetter, cameBetter] = [index, came.length];
        if (row.better === row.notWorse) came.push(row.better);
      }
      return {
        ...row,
        ordinal: 1 + row.before - countBelow(this.struck, row.before + 1) + index,
        competition: 1 + row.better - countBelow(this.struck, row.better + 1) + laidBetter,
        dense: 1 + row.betterValues - countBelow(this.vanished, row.better + 1) + cameBetter,
      };
    });
  }
}

const ascending = (a: number, b: number): number => a - b;

const valuesOf = ({ score, columns, achieved_at_ms }: StandingValues) => ({
  score,
  columns,
  achievedAtMs: achieved_at_ms,
});

/** The competition ranks of values all rows of which are struck, and that no laid row has. */
function vanishedValues(struck: readonly StruckRow[], laid: readonly LaidRow[]): number[] {
  const left = new Map<number, number>();
  for (const { competition, last } of struck) {
    left.set(competition, (left.get(competition) ?? last - competition + 1) - 1);
  }
  for (const { better, notWorse } of laid) if (notWorse > better) left.delete(better + 1);
  return [...left]
    .filter(([, rows]) => rows === 0)
    .map(([competition]) => competition)
    .sort(ascending);
}

/** How many of the ascending numbers are below another. */
const countBelow = (numbers: readonly number[], limit: number): number =>
  firstIndex(numbers.length, (at) => numbers[at]! >= limit);

/** The first index for which the condition holds, which holds for all behind it; the length, where there is none. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
