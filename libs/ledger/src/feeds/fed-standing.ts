import {
  changesKeptFromMs,
  dueAtMs,
  fedEntry,
  HOUR_MS,
  kindOf,
  momentOf,
  nameOfSpec,
  rankabilityOf,
  rollingHours,
  type Board,
  type FedEntry,
  type RatingPool,
  type StoredWindow,
  type WindowOfGames,
} from '@laddercast/domain';
import type { FedState, RatedPlayer, StretchOfPlayer } from './fed-state.js';

/** Where an entry may be: of a board that a pool feeds. */
export interface PlaceOfEntry {
  readonly board: Board;
  readonly playerId: string;
  readonly window: StoredWindow;
}

export const keyOfStretch = ({ playerId, of }: StretchOfPlayer): string =>
  `${'rollingHours' in of ? `rolling ${of.rollingHours}` : `${of.startsAtMs}-${of.endsAtMs}-${of.recordedBeforeMs}`}/${playerId}`;

/** What of a player is to be read for a place; null: nothing but its rating, since the window is all time. */
export function stretchOf({ board, playerId, window }: PlaceOfEntry): StretchOfPlayer | null {
  const { kind, id, startsAtMs, endsAtMs } = window;
  if (kind === 'rolling') return { playerId, of: { rollingHours: rollingHours(id) } };
  if (startsAtMs === null || endsAtMs === null) return null;
  return { playerId, of: { startsAtMs, endsAtMs, recordedBeforeMs: dueAtMs(window, board.definition.graceSeconds) } };
}

/** The rolling windows of boards: how many hours they hold, each once. */
export const rollingHoursOf = (boards: readonly Board[]): number[] => [
  ...new Set(
    boards.flatMap(({ definition: { windows } }) =>
      windows.filter((spec) => kindOf(spec) === 'rolling').map((spec) => rollingHours(nameOfSpec(spec))),
    ),
  ),
];

/** What was read, as it is asked for. */
export class Standing {
  readonly players: ReadonlyMap<string, RatedPlayer>;
  private readonly stretches: ReadonlyMap<string, FedState['stretches'][number]>;

  constructor(
    readonly pool: RatingPool,
    readonly state: FedState,
    keys: readonly string[],
  ) {
    this.players = new Map(state.players.map((player) => [player.playerId, player]));
    this.stretches = new Map(keys.map((key, index) => [key, state.stretches[index]!]));
  }

  /** From when on all changes of the pool are there, Unix ms. */
  get keptFromMs(): number {
    return changesKeptFromMs(this.state.definition, this.state);
  }

  entryOf(place: PlaceOfEntry): FedEntry | null {
    const player = this.players.get(place.playerId);
    const games = player && this.gamesOf(place, player);
    return games && this.isRankable(place, player) ? fedEntry(this.pool, place.board.feed!, games) : null;
  }

  /** Whether the last game there is longer ago than entries live. */
  isPastLifetime(place: PlaceOfEntry): boolean {
    const { entryLifetimeSeconds } = place.board.definition.limits;
    const player = this.players.get(place.playerId);
    if (entryLifetimeSeconds === null || !player) return false;
    const games = this.gamesOf(place, player);
    const atMs = Math.min(this.state.nowMs, dueAtMs(place.window, place.board.definition.graceSeconds));
    return games !== null && games.lastPlayedAtMs <= atMs - 1000 * entryLifetimeSeconds;
  }

  /** In a window that is over by the last game in it, and the moment at which it took nothing more: as if it had been fed by then. */
  private isRankable(place: PlaceOfEntry, player: RatedPlayer): boolean {
    const overMs = dueAtMs(place.window, place.board.definition.graceSeconds);
    const stretch = stretchOf(place);
    const last = stretch && this.stretches.get(keyOfStretch(stretch));
    if (this.state.nowMs < overMs || !last) return this.rankabilityOf(player).isRankable;
    const { after: state, gamesSoFar: games, lastPlayedAtMs } = last;
    return rankabilityOf(this.pool, { state, games, lastPlayedAtMs }, momentOf(this.pool, overMs)).isRankable;
  }

  rankabilityOf({ rating }: RatedPlayer): ReturnType<typeof rankabilityOf> {
    return rankabilityOf(this.pool, rating, momentOf(this.pool, this.state.nowMs));
  }

  /**
   * When the entries of a player who stays idle change by themselves, Unix ms: it is not rankable any more, or its first
   * game leaves a rolling window of so many hours; null: never.
   */
  endOf(player: RatedPlayer, rolling: readonly number[]): number | null {
    const { isRankable, untilMs } = this.rankabilityOf(player);
    const leaving = rolling.flatMap((hours) => {
      const games = this.stretches.get(keyOfStretch({ playerId: player.playerId, of: { rollingHours: hours } }));
      return isRankable && games ? [(Math.floor(games.firstPlayedAtMs / HOUR_MS) + hours) * HOUR_MS] : [];
    });
    const ends = untilMs === null ? leaving : [...leaving, untilMs];
    return ends.length === 0 ? null : Math.min(...ends);
  }

  private gamesOf(place: PlaceOfEntry, player: RatedPlayer): WindowOfGames | null {
    const stretch = stretchOf(place);
    return stretch ? this.gamesIn(stretch) : this.allGamesOf(player);
  }

  private gamesIn(stretch: StretchOfPlayer): WindowOfGames | null {
    const found = this.stretches.get(keyOfStretch(stretch));
    return found ? { ...found, state: found.after } : null;
  }

  private allGamesOf({ rating, before, peak }: RatedPlayer): WindowOfGames {
    const { state, games, wins, lastPlayedAtMs } = rating;
    const best = this.pool.provisional === null ? rating.peak : peak;
    return { state, games, wins, before, peak: best, lastPlayedAtMs: lastPlayedAtMs! };
  }
}
