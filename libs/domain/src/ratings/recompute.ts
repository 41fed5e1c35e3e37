import { LadderError } from '../errors.js';
import { rateGame, type RatedGame, type RatingChange } from './fold.js';
import type { PoolGame } from './game.js';
import { PositionHeap } from './position-heap.js';
import type { RatingPool } from './pool.js';
import { isSameState, type RatingState } from './rating-algorithm.js';
import { DifferingPlayers, type DifferingStates, type RecomputedRefund, type Refund } from './refund.js';

/** So many players a game, on average, may have those that come out differently: they are held until they are written. */
const PLAYERS_PER_GAME_MAX = 12;

/** What is stored of a pool that rates with each game, as a recompute asks for it: all from one moment. */
export interface RatedHistory {
  /** The game at this position with what it did. */
  gameAt(position: number): Promise<RatedGame>;

  /**
   * The position of the first game after this one that names the player, or null. Void games are left out, and games with
   * too few sides may be. Games that were refused as `NUMERIC` are not: with other states they may be rated.
   */
  nextPosition(playerId: string, position: number): Promise<number | null>;

  /** The player's state before this position: after its last rated game before it, else a newcomer's. */
  stateBefore(playerId: string, position: number): Promise<RatingState>;

  /** All refunds of the player, in their order. */
  refundsOf(playerId: string): Promise<readonly Refund[]>;
}

/** What is changed, by position: a game that takes the place of the one there, or null where it is void. */
export type Corrections = ReadonlyMap<number, PoolGame | null>;

/** A game that a recompute came to. */
export interface RecomputedGame {
  readonly before: RatedGame;
  /** null where it is void. */
  readonly after: RatedGame | null;
}

/** What corrections come to: what a replay of all games with them would be, as far as it is not what is stored. */
export interface Recomputation {
  /** In the order of positions; the corrected ones always, the others where they come out differently. */
  readonly games: readonly RecomputedGame[];
  /** How many games were computed again, those included that came out the same. */
  readonly gamesReached: number;
  /** Those that were given from another state than they were. */
  readonly refunds: readonly RecomputedRefund[];
  /** Whose rating is another now. */
  readonly players: ReadonlyMap<string, DifferingStates>;
  /** Whose counts and peak may be others now: everybody in `games`. */
  readonly touched: ReadonlySet<string>;
}

/**
 * Ratings as they would be had the corrected games never been, or been as they are said now: to the last bit, as long as
 * the engine is the one that rated. Only those are followed whose states differ from what is stored, game by game in the
 * order of positions; who comes out with the stored bits again is left alone.
 * @throws RECOMPUTE_TOO_LARGE where more than `gamesMax` games are reached, corrected ones included, or those that come out
 *   differently have more than {@link PLAYERS_PER_GAME_MAX} times as many players
 */
export async function recompute(
  pool: RatingPool,
  history: RatedHistory,
  corrections: Corrections,
  gamesMax: number,
): Promise<Recomputation> {
  const run = new Recompute(pool, history, corrections, gamesMax);
  for (let position = run.next(); position !== null; position = run.next()) {
    if (run.gamesReached === gamesMax) throw recomputeTooLarge(gamesMax);
    await run.step(position);
  }
  const players = await run.players.end();
  const { games, gamesReached, touched } = run;
  return { games, gamesReached, refunds: run.players.refunds, players, touched };
}

/** More games are reached than may be computed again. */
export const recomputeTooLarge = (gamesMax: number): LadderError =>
  new LadderError('RECOMPUTE_TOO_LARGE', `More than ${gamesMax} games would be computed again.`, { gamesMax });

/** Their games come out differently, and would have to be held all at once. */
function playersTooMany(gamesMax: number): LadderError {
  const detail = `Games with more than ${PLAYERS_PER_GAME_MAX * gamesMax} players in all would come out differently.`;
  return new LadderError('RECOMPUTE_TOO_LARGE', detail, { gamesMax });
}

/** Goes from game to game, holding whose states differ from what is stored. */
class Recompute {
  readonly games: RecomputedGame[] = [];
  readonly players: DifferingPlayers;
  readonly touched = new Set<string>();
  gamesReached = 0;

  private readonly open: PositionHeap;
  private playersHeld = 0;

  constructor(
    private readonly pool: RatingPool,
    private readonly history: RatedHistory,
    private readonly corrections: Corrections,
    private readonly gamesMax: number,
  ) {
    this.open = new PositionHeap(corrections.keys());
    this.players = new DifferingPlayers(history);
  }

  next(): number | null {
    return this.open.take();
  }

  async step(position: number): Promise<void> {
    this.gamesReached++;
    const before = await this.history.gameAt(position);
    const correction = this.corrections.get(position);
    const game = correction === undefined ? before.game : correction;
    const named = new Set([...before.game.players, ...(game?.players ?? [])].map(({ playerId }) => playerId));
    await this.players.reach(named, position);
    const stored = await this.storedStates(before, named);
    const stateOf = (playerId: string): RatingState =>
      this.players.get(playerId)?.after ?? stored.get(playerId)!.before;
    const after = game === null ? null : rateGame(this.pool, game, stateOf);
    const rated = new Map(after?.changes.map((change) => [change.playerId, change]));
    for (const playerId of named) {
      const state = rated.get(playerId)?.after ?? stateOf(playerId);
      if (!this.players.put(playerId, position, stored.get(playerId)!.after, state)) continue;
      const next = await this.history.nextPosition(playerId, position);
      if (next !== null) this.open.add(next);
    }
    if (correction === undefined && isSameRating(before, after!)) return;
    this.playersHeld += named.size;
    const isTooMuch = this.playersHeld > PLAYERS_PER_GAME_MAX * this.gamesMax;
    if (isTooMuch && this.games.length > 0) throw playersTooMany(this.gamesMax);
    this.games.push({ before, after });
    for (const playerId of named) this.touched.add(playerId);
  }

  /** What is stored of each player around the game, also of those whom it did not rate. */
  private async storedStates(
    { game, changes }: RatedGame,
    named: ReadonlySet<string>,
  ): Promise<Map<string, Pick<RatingChange, 'before' | 'after'>>> {
    const states = new Map<string, Pick<RatingChange, 'before' | 'after'>>(
      changes.map((change) => [change.playerId, change]),
    );
    for (const playerId of named) {
      if (states.has(playerId)) continue;
      // Not touched by the game: what was stored before it is stored after it.
      const state = this.players.get(playerId)?.before ?? (await this.history.stateBefore(playerId, game.position));
      states.set(playerId, { before: state, after: state });
    }
    return states;
  }
}

function isSameRating(a: RatedGame, b: RatedGame): boolean {
  const isSameChange = (change: RatingChange, other: RatingChange | undefined): boolean =>
    other !== undefined &&
    change.playerId === other.playerId &&
    change.outcome === other.outcome &&
    Object.is(change.expected, other.expected) &&
    Object.is(change.k, other.k) &&
    isSameState(change.before, other.before) &&
    isSameState(change.after, other.after);
  return (
    a.unrated === b.unrated &&
    a.changes.length === b.changes.length &&
    a.changes.every((change, at) => isSameChange(change, b.changes[at]))
  );
}
