import { HOUR_MS, windowAt, type FedValue } from '@laddercast/domain';

/** What a board shows of a player; the columns are games, wins, win rate and peak. */
export interface FedOracleRow {
  window: string;
  playerId: string;
  score: number;
  columns: number[];
  achievedAtMs: number;
}

/** By which rules a pool feeds a board. */
export interface FedBoardRules {
  windows: readonly ('alltime' | 'daily' | 'weekly')[];
  /** The hours of its rolling windows, the running one among them. */
  rolling?: readonly number[];
  /** Now, for these. */
  nowMs?: number;
  gamesMin: number;
  provisionalGames: number;
  /** For how long after its end a window takes games that were played in it, 0 where it is not said. */
  graceSeconds?: number;
}

/** A game of two that was reported. */
export interface PlayedGame {
  winner: string;
  loser: string;
  isDraw: boolean;
  playedAtMs: number;
  /** Unix ms; where it is not said, no window was over. */
  recordedAtMs?: number;
}

/** A game that was made void later, its loser getting its points back. */
export interface RefundedGame {
  refundOf: PlayedGame;
}

/** A game as one of its players sees it. */
export interface EloStep {
  before: number;
  after: number;
  isWin: boolean;
  playedAtMs: number;
  recordedAtMs: number;
  /** The games of the player up to this one. */
  games: number;
}

/** All that happened by Elo, one after the other, as anybody would write it down. */
export function eloSteps(moves: readonly (PlayedGame | RefundedGame)[]): {
  steps: Map<string, EloStep[]>;
  /** Where each player ends, refunds included. */
  ratings: Map<string, number>;
} {
  const ratings = new Map<string, number>();
  const deltas = new Map<PlayedGame, number>();
  const steps = new Map<string, EloStep[]>();
  const add = (playerId: string, step: Omit<EloStep, 'games'>): void => {
    const known = steps.get(playerId) ?? [];
    ratings.set(playerId, step.after);
    steps.set(playerId, [...known, { ...step, games: known.length + 1 }]);
  };
  const of = (playerId: string): number => ratings.get(playerId) ?? 1500;
  for (const move of moves) {
    if ('refundOf' in move) {
      const delta = deltas.get(move.refundOf)!;
      const { winner, loser } = move.refundOf;
      const poorer = delta > 0 ? loser : winner;
      ratings.set(poorer, of(poorer) + Math.abs(delta));
      continue;
    }
    const { winner, loser, isDraw, playedAtMs, recordedAtMs = 0 } = move;
    const [a, b] = [of(winner), of(loser)];
    const expected = 1 / (1 + 10 ** ((b - a) / 400));
    const delta = 32 * ((isDraw ? 0.5 : 1) - expected);
    deltas.set(move, delta);
    add(winner, { before: a, after: a + delta, isWin: !isDraw, playedAtMs, recordedAtMs });
    add(loser, { before: b, after: b - delta, isWin: false, playedAtMs, recordedAtMs });
  }
  return { steps, ratings };
}

/**
 * The entry that a player's games in a window make; undefined: none.
 * @param rating where the player stands at the end of the window: refunds count for all time alone
 */
function entryOf(
  value: FedValue,
  steps: readonly EloStep[],
  rating: number,
  provisionalGames: number,
): Omit<FedOracleRow, 'window' | 'playerId'> | undefined {
  const counting = steps.filter(({ games }) => games >= provisionalGames);
  const best = counting.reduce<EloStep | undefined>((a, b) => (a && a.after >= b.after ? a : b), undefined);
  const first = steps[0]!;
  const wins = steps.filter(({ isWin }) => isWin).length;
  const scores: Record<FedValue, number | undefined> = {
    rating,
    conservative: rating,
    peak: best?.after,
    gain: rating - first.before,
    games: steps.length,
    wins,
  };
  const score = scores[value];
  if (score === undefined) return undefined;
  const latest = Math.max(...steps.map(({ playedAtMs }) => playedAtMs));
  return {
    score,
    columns: [steps.length, wins, wins / steps.length, best?.after ?? rating],
    achievedAtMs: value === 'peak' ? best!.playedAtMs : latest,
  };
}

/**
 * The entries of a board in all its windows: of an Elo pool with K 32, out of all that happened to it, games that are void
 * left out.
 */
export function fedBoardOracle(
  value: FedValue,
  moves: readonly (PlayedGame | RefundedGame)[],
  { windows, gamesMin, provisionalGames, rolling = [], nowMs = 0, graceSeconds = 0 }: FedBoardRules,
): FedOracleRow[] {
  const rows: FedOracleRow[] = [];
  const { steps: byPlayer, ratings } = eloSteps(moves);
  for (const [playerId, steps] of byPlayer) {
    if (steps.length < gamesMin) continue;
    const byWindow = new Map<string, EloStep[]>();
    for (const step of steps) {
      for (const spec of windows) {
        const { id, endsAtMs } = windowAt(spec, 'UTC', step.playedAtMs)!;
        if (endsAtMs !== null && step.recordedAtMs >= endsAtMs + 1000 * graceSeconds) continue;
        byWindow.set(id, [...(byWindow.get(id) ?? []), step]);
      }
    }
    for (const hours of rolling) {
      const first = Math.floor(nowMs / HOUR_MS) - hours + 1;
      const held = steps.filter(({ playedAtMs }) => Math.floor(playedAtMs / HOUR_MS) >= first);
      if (held.length > 0) byWindow.set(`rolling:${hours}h`, held);
    }
    for (const [window, ofWindow] of byWindow) {
      const rating = window === 'alltime' ? ratings.get(playerId)! : ofWindow.at(-1)!.after;
      const entry = entryOf(value, ofWindow, rating, provisionalGames);
      if (entry) rows.push({ window, playerId, ...entry });
    }
  }
  return rows.sort(byPlace);
}

const byPlace = (a: FedOracleRow, b: FedOracleRow): number =>
  `${a.window} ${a.playerId}` < `${b.window} ${b.playerId}` ? -1 : 1;
