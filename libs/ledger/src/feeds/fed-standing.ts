import {
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
  `${'rollingHours' in of ? `rolling ${of.rollingHours}` : `${of.startsAtMs}-${of.endsAtMs}`}/${playerId}`;

/** What of a player is to be read for a place; null: nothing but its rating, since the window is all time. */
export function stretchOf({
  playerId,
  window: { kind, id, startsAtMs, endsAtMs },
}: PlaceOfEntry): StretchOfPlayer | null {
  if (kind === 'rolling') return { playerId, of: { rollingHours: rollingHours(id) } };
  return startsAtMs === null || endsAtMs === null ? null : { playerId, of: { startsAtMs, endsAtMs } };
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

  entryOf(place: PlaceOfEntry): FedEntry | null {
    const player = this.players.get(place.playerId);
    if (!player || !this.rankabilityOf(player).isRankable) return null;
    const games = this.gamesOf(place, player);
    return games && fedEntry(this.pool, place.board.feed!, games);
  }

  /** Whether the last game there is longer ago than entries live. */
  isPastLifetime(place: PlaceOfEntry): boolean {
    const { entryLifetimeSeconds } = place.board.definition.limits;
    const player = this.players.get(place.playerId);
    if (entryLifetimeSeconds === null || !player) return false;
    const games = this.gamesOf(place, player);
    return games !== null && games.lastPlayedAtMs <= this.state.nowMs - 1000 * entryLifetimeSeconds;
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
