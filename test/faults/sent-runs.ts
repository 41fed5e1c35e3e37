import type { NaiveRun } from '../e2e/naive-board.js';
import { FAULT_BOARDS, type FaultBoard } from './boards.js';

/** A submission as a client sends it. */
export interface SentRun {
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt?: string;
}

/** What was sent of a player to a board, whether it was answered or not. */
interface SentOfPlayer {
  /** In the order of being sent, which is that of the times they name. */
  runs: NaiveRun[];
  /** By what an entry shows of a run: when the first such run was sent. */
  firstAtMs: Map<string, number>;
  total: number;
  highest: number;
}

/** Everything that was ever sent to the boards: what an entry shows must be made of it. */
export class SentRuns {
  private readonly sent = new Map<FaultBoard, Map<string, SentOfPlayer>>();
  /** When each window that ended did so. */
  readonly endsAtMs = new Map<string, number>();

  /** To be called before the run is sent for the first time. */
  add(board: FaultBoard, { playerId, score, columns = {}, achievedAt }: SentRun): void {
    const players = this.sent.get(board) ?? new Map<string, SentOfPlayer>();
    this.sent.set(board, players);
    const of = players.get(playerId) ?? { runs: [], firstAtMs: new Map<string, number>(), total: 0, highest: 0 };
    players.set(playerId, of);
    const run = { playerId, score, columns, atMs: achievedAt ? Date.parse(achievedAt) : 0 };
    const shown = shownOf(board, run);
    if (!of.firstAtMs.has(shown)) of.firstAtMs.set(shown, Date.now());
    if (FAULT_BOARDS[board].operator === 'latest') of.runs.push(run);
    of.total += score;
    of.highest = Math.max(of.highest, score);
  }

  players(board: FaultBoard): ReadonlyMap<string, SentOfPlayer> {
    return this.sent.get(board) ?? new Map();
  }

  /** Whether the player's submissions can have made this entry. */
  canBe(board: FaultBoard, windowId: string, entry: NaiveRun): boolean {
    const of = this.players(board).get(entry.playerId);
    if (!of) return false;
    if (FAULT_BOARDS[board].operator === 'sum') return entry.score > 0 && entry.score <= of.total;
    const firstAtMs = of.firstAtMs.get(shownOf(board, entry));
    return firstAtMs !== undefined && firstAtMs < (this.endsAtMs.get(windowId) ?? Infinity);
  }

  /** States between which, in the order of the board, all lie that an entry can have had since the known one. */
  statesSince(board: FaultBoard, { runs, total, highest }: SentOfPlayer, known: NaiveRun | null): NaiveRun[] {
    const best = { playerId: '', columns: {}, atMs: 0 };
    switch (FAULT_BOARDS[board].operator) {
      case 'sum':
        return [...(known ? [known] : []), { ...best, score: total }];
      case 'best':
        return [...(known ? [known] : []), { ...best, score: highest }];
      default:
        return known === null ? runs : runs.slice(1 + runs.findLastIndex(({ atMs }) => atMs < known.atMs));
    }
  }

  /** Whether an entry that shows the one state is further than one that shows the other. */
  isLater(board: FaultBoard, one: NaiveRun, other: NaiveRun): boolean {
    return FAULT_BOARDS[board].operator === 'latest' ? one.atMs > other.atMs : one.score > other.score;
  }
}

/** What an entry shows of a run; the service itself says when a run was achieved that does not say it. */
const shownOf = (board: FaultBoard, { score, columns, atMs }: NaiveRun): string =>
  FAULT_BOARDS[board].operator === 'latest' ? `${score} ${JSON.stringify(columns)} ${atMs}` : `${score}`;
