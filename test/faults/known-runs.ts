import { compareValues, naiveEntries, type NaiveBoard, type NaiveRun } from '../e2e/naive-board.js';
import { FAULT_BOARDS, type FaultBoard } from './boards.js';
import type { SentRuns } from './sent-runs.js';

/** A row of a list as it was shown. */
export interface ShownRow {
  rank: number;
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt: string;
}

/** A list, or a part of one, as it was shown. */
export interface ShownList {
  board: FaultBoard;
  windowId: string;
  total: number;
  rows: readonly ShownRow[];
  /** The instant whose board this is, at the earliest: when it was asked for, or its `asOf` where that is before. */
  notBeforeMs: number;
  /** How far off its ranks and its total are at most; 0 where they are exact. */
  errorBound?: number;
  /** `exact` where it is not said. */
  accuracy?: string | undefined;
}

interface Seen {
  atMs: number;
  run: NaiveRun;
}

/** How many of a player's states are remembered: the snapshot that an answer comes from is seconds old at most. */
const STATES_MAX = 400;

/**
 * Judges lists while the boards are being written, by what is certain: an entry is one that its player's submissions can
 * have made, and no older than one that was shown before. So there is a lowest and a highest true rank of every row.
 */
export class KnownRuns {
  /** By list and player: the states that were shown, in order; what a board shows of a player never goes back. */
  private readonly seen = new Map<string, Map<string, Seen[]>>();

  constructor(private readonly sent: SentRuns) {}

  /**
   * What of it cannot be true, in words. What it shows counts as known from now on, where it is exact: an estimate shows a
   * run that is claimed, and that lists by ranges do not have yet.
   */
  judge(list: ShownList): string[] {
    const rows = list.rows.map((row) => ({ ...runOf(row), rank: row.rank }));
    const wrong = [...this.misshapen(list, rows), ...this.impossible(list, rows), ...this.misplaced(list, rows)];
    if (list.accuracy !== 'estimated') for (const row of rows) this.remember(list, row);
    return wrong.map((what) => `${list.board} ${list.windowId}, ${what}`);
  }

  /** Whether a player must be on a list that was read at that time or later. */
  isOn(board: FaultBoard, windowId: string, playerId: string, atMs: number): boolean {
    return this.known(board, windowId, playerId, atMs) !== null;
  }

  /** What is wrong with a number of entries of that time or later, in words. */
  miscounted({ board, windowId, total, notBeforeMs, errorBound = 0 }: Omit<ShownList, 'rows'>): string[] {
    const shown = this.seen.get(nameOf(board, windowId)) ?? new Map<string, Seen[]>();
    const least = [...shown.values()].filter((states) => lastBefore(states, notBeforeMs) !== null).length;
    const most = this.sent.players(board).size;
    if (total >= least - errorBound && total <= most + errorBound) return [];
    return [`total ${total} ± ${errorBound}, and there are ${least} to ${most}`];
  }

  private misshapen(list: ShownList, rows: readonly (NaiveRun & { rank: number })[]): string[] {
    const wrong = this.miscounted(list);
    const names = rows.map(({ playerId }) => playerId);
    if (new Set(names).size < names.length) return [...wrong, `a player twice: ${names.join()}`];
    const sorted = naiveEntries(boardOf(list.board), rows).map(({ playerId }) => playerId);
    if (sorted.join() !== names.join()) wrong.push(`out of order: ${names.join()}`);
    const gap = rows.findIndex(({ rank }, at) => rank !== rows[0]!.rank + at);
    if (gap >= 0) wrong.push(`rank ${rows[gap]!.rank} after ${rows[gap - 1]!.rank}`);
    return wrong;
  }

  private impossible({ board, windowId, notBeforeMs }: ShownList, rows: readonly NaiveRun[]): string[] {
    return rows.flatMap((row) => {
      if (!this.sent.canBe(board, windowId, row)) return [`nobody sent ${JSON.stringify(row)}`];
      const known = this.known(board, windowId, row.playerId, notBeforeMs);
      if (known === null || !this.sent.isLater(board, known, row)) return [];
      return [`${JSON.stringify(row)} after ${JSON.stringify(known)}`];
    });
  }

  private misplaced(list: ShownList, rows: readonly (NaiveRun & { rank: number })[]): string[] {
    const definition = boardOf(list.board);
    const { ofPlayers, bests, worsts } = this.possible(list, definition);
    const bound = list.errorBound ?? 0;
    return rows.flatMap((row) => {
      const own = ofPlayers.get(row.playerId);
      const isNotWorse = (run: NaiveRun): boolean => compareValues(definition, run, row) <= 0;
      const isBetter = (run: NaiveRun): boolean => compareValues(definition, run, row) < 0;
      const most = countFirst(bests, isNotWorse) + (own && isNotWorse(own.best) ? 0 : 1);
      const least = countFirst(worsts, isBetter) + (own?.worst && isBetter(own.worst) ? 0 : 1);
      if (row.rank >= least - bound && row.rank <= most + bound) return [];
      return [`rank ${row.rank} ± ${bound} of ${row.playerId}, which is ${least} to ${most}`];
    });
  }

  /** The best that each player can have had on a list, and the worst of those who are known to be on it; the best first. */
  private possible(
    { board, windowId, notBeforeMs }: ShownList,
    definition: NaiveBoard,
  ): { ofPlayers: Map<string, { best: NaiveRun; worst: NaiveRun | null }>; bests: NaiveRun[]; worsts: NaiveRun[] } {
    const ofPlayers = new Map<string, { best: NaiveRun; worst: NaiveRun | null }>();
    const byValues = (one: NaiveRun, other: NaiveRun): number => compareValues(definition, one, other);
    for (const [playerId, sent] of this.sent.players(board)) {
      const known = this.known(board, windowId, playerId, notBeforeMs);
      const states = this.sent.statesSince(board, sent, known);
      const best = states.reduce((one, other) => (byValues(other, one) < 0 ? other : one), known ?? states[0]!);
      const worst = known && states.reduce((one, other) => (byValues(other, one) > 0 ? other : one), known);
      ofPlayers.set(playerId, { best, worst });
    }
    const all = [...ofPlayers.values()];
    const bests = all.map(({ best }) => best).sort(byValues);
    const worsts = all.flatMap(({ worst }) => worst ?? []).sort(byValues);
    return { ofPlayers, bests, worsts };
  }

  /** The last state of a player that was shown before an instant; null when there was none. */
  private known(board: FaultBoard, windowId: string, playerId: string, atMs: number): NaiveRun | null {
    return lastBefore(this.seen.get(nameOf(board, windowId))?.get(playerId), atMs);
  }

  private remember({ board, windowId }: ShownList, run: NaiveRun): void {
    const list = this.seen.get(nameOf(board, windowId)) ?? new Map<string, Seen[]>();
    this.seen.set(nameOf(board, windowId), list);
    const states = list.get(run.playerId) ?? [];
    list.set(run.playerId, states);
    const last = states.at(-1);
    // What is shown from memory may be older than what is known.
    if (last && !this.sent.isLater(board, run, last.run)) return;
    states.push({ atMs: Date.now(), run });
    if (states.length > STATES_MAX) states.shift();
  }
}

const nameOf = (board: FaultBoard, windowId: string): string => `${board} ${windowId}`;

export const boardOf = (board: FaultBoard): NaiveBoard => ({
  tiebreak: 'earliest',
  columns: [],
  ...(FAULT_BOARDS[board] as unknown as Pick<NaiveBoard, 'order' | 'operator'>),
});

const runOf = ({ playerId, score, columns = {}, achievedAt }: ShownRow): NaiveRun => ({
  playerId,
  score,
  columns,
  atMs: Date.parse(achievedAt),
});

function lastBefore(states: readonly Seen[] | undefined, atMs: number): NaiveRun | null {
  return states?.findLast((state) => state.atMs < atMs)?.run ?? null;
}

/** How many there are before the first of which it is false; it is true of none behind that. */
function countFirst<T>(sorted: readonly T[], isTrue: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrue(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
