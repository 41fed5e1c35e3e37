/** Whether a player took part: to the end, sent off, or not at all. */
export type PlayerStatus = 'played' | 'disqualified' | 'absent';

/** What is done with players who did not play to the end: a place behind everybody, or nothing. */
export interface ResultRules {
  readonly disqualified: 'last' | 'unrated';
  readonly absent: 'last' | 'unrated';
}

/** A player in a game, as it was reported. */
export interface GamePlayer {
  readonly playerId: string;
  readonly status: PlayerStatus;
  /** 1 is best; equal places are a draw; gaps mean nothing. null for those who did not play. */
  readonly place: number | null;
  /** null: a side of its own. */
  readonly team: string | null;
  readonly isHome: boolean;
}

/** A game of a pool, with the rules for results that the pool had when it was accepted. */
export interface PoolGame {
  readonly gameId: string;
  /** Its place in the pool's order. */
  readonly position: number;
  readonly playedAtMs: number;
  readonly weight: number;
  readonly players: readonly GamePlayer[];
  readonly results: ResultRules;
}

/** A side with the ids of its members in their order. */
export interface GameSide {
  readonly members: readonly string[];
  /** 1 is best, without gaps. */
  readonly place: number;
  readonly isHome: boolean;
}

/** Behind all that were played. */
const LAST = Infinity;

/** The order of ids that makes the order of naming mean nothing: by UTF-16 units, whatever the locale. */
export const compareIds = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The games of each player, in the order given. */
export function gamesByPlayer<Game extends Pick<PoolGame, 'players'>>(games: readonly Game[]): Map<string, Game[]> {
  const played = new Map<string, Game[]>();
  for (const game of games) {
    for (const { playerId } of game.players) {
      const known = played.get(playerId);
      if (known) known.push(game);
      else played.set(playerId, [game]);
    }
  }
  return played;
}

/** The players as they were named, by side: those of a team together, each other player alone. */
export function namedSides(players: readonly GamePlayer[]): GamePlayer[][] {
  const teams = new Map<string, GamePlayer[]>();
  const sides: GamePlayer[][] = [];
  for (const player of players) {
    const team = player.team === null ? undefined : teams.get(player.team);
    if (team) {
      team.push(player);
      continue;
    }
    const side = [player];
    if (player.team !== null) teams.set(player.team, side);
    sides.push(side);
  }
  return sides;
}

/**
 * The sides that are rated, in the order of their first member's id, with places 1, 2, 3 …; null where fewer than two
 * are left. A team plays with the members who played; where none did, those whose rule is `last` are a side.
 */
export function ratedSides({ players, results }: Pick<PoolGame, 'players' | 'results'>): GameSide[] | null {
  const sides = namedSides(players).flatMap((side) => {
    const played = side.filter(({ status }) => status === 'played');
    const members =
      played.length > 0 ? played : side.filter(({ status }) => status !== 'played' && results[status] === 'last');
    if (members.length === 0) return [];
    return {
      members: members.map(({ playerId }) => playerId).sort(compareIds),
      place: members[0]!.place ?? LAST,
      isHome: members.some(({ isHome }) => isHome),
    };
  });
  if (sides.length < 2) return null;
  const places = [...new Set(sides.map(({ place }) => place))].sort((a, b) => a - b);
  return sides
    .map((side) => ({ ...side, place: places.indexOf(side.place) + 1 }))
    .sort((a, b) => compareIds(a.members[0]!, b.members[0]!));
}
