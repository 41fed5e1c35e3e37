import {
  fedEntry,
  momentOf,
  rankabilityOf,
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

export const keyOfStretch = ({ playerId, startsAtMs, endsAtMs }: StretchOfPlayer): string =>
  `${startsAtMs}/${endsAtMs}/${playerId}`;

/** What of a player is to be read for a place; null: nothing but its rating, since the window is all time. */
export function stretchOf({ playerId, window: { startsAtMs, endsAtMs } }: PlaceOfEntry): StretchOfPlayer | null {
  return startsAtMs === null || endsAtMs === null ? null : { playerId, startsAtMs, endsAtMs };
}

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
    const stretch = stretchOf(place);
    const games = stretch ? this.gamesIn(stretch) : this.allGamesOf(player);
    return games && fedEntry(this.pool, place.board.feed!, games);
  }

  rankabilityOf({ rating }: RatedPlayer): ReturnType<typeof rankabilityOf> {
    return rankabilityOf(this.pool, rating, momentOf(this.pool, this.state.nowMs));
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
