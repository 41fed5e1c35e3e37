import 'reflect-metadata';
import { GAME_WEIGHT, LadderError, type PlayerStatus } from '@laddercast/domain';
import type { RecordedPlayer } from '@laddercast/ledger';
import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsIn, IsInt, IsNumber, IsObject, Max, Min, ValidateNested } from 'class-validator';
import { InSchema, IsReason, MayBeAbsent } from './body-rules.js';
import { compiledBody, HasFormat, IsIdOfClient, itemsOf } from './compiled-body.js';

export const GAMES_BATCH_MAX = 1000;

const STATUSES: readonly PlayerStatus[] = ['played', 'disqualified', 'absent'];

/** A player of a game as it was reported. */
export class GamePlayerBody {
  @IsIdOfClient()
  playerId!: string;

  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  @InSchema({
    description: '1 is best; equal places are a draw; only the order counts. Of those who played, and only of them.',
  })
  place?: number;

  @MayBeAbsent()
  @IsIdOfClient()
  @InSchema({ description: 'Who play together have one team and one place; without, the player is a side.' })
  team?: string;

  @MayBeAbsent()
  @IsBoolean()
  @InSchema({ description: "Adds the pool's homeAdvantage to the side for this game. Default false." })
  home?: boolean;

  @MayBeAbsent()
  @IsIn(STATUSES)
  @InSchema({ description: 'disqualified: sent off; absent: did not show up. Default played.' })
  status?: PlayerStatus;

  @MayBeAbsent()
  @IsNumber()
  @InSchema({ description: 'Kept and shown; it rates nothing.' })
  score?: number;
}

/** A player as a game is kept with it. */
export const recordedPlayer = ({ playerId, place, team, home, status, score }: GamePlayerBody): RecordedPlayer => ({
  playerId,
  status: status ?? 'played',
  place: place ?? null,
  team: team ?? null,
  isHome: home ?? false,
  score: score ?? null,
});

/** A game as the client sent it; well formed, not yet checked against its pool. */
export class GameBody {
  @MayBeAbsent()
  @IsIdOfClient()
  @InSchema({
    description: 'Makes retries safe: unique in its pool, and remembered as long as the game. Default: a new one.',
  })
  gameId?: string;

  @HasFormat('named-id')
  pool!: string;

  @MayBeAbsent()
  @HasFormat('timestamp')
  @InSchema({ description: 'RFC 3339; default: now, by the database.' })
  playedAt?: string;

  @MayBeAbsent()
  @IsNumber()
  @InSchema({ exclusiveMinimum: GAME_WEIGHT.min, maximum: GAME_WEIGHT.max, description: 'Multiplies K. Default 1.' })
  weight?: number;

  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => GamePlayerBody)
  @InSchema({ description: 'At most 500, on as many sides as the pool takes.' })
  players!: GamePlayerBody[];

  @MayBeAbsent()
  @IsObject()
  @InSchema({ description: 'At most 1,024 bytes of JSON.' })
  metadata?: Record<string, unknown>;
}

/** The result that a recorded game really had. */
export class GameResultBody {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => GamePlayerBody)
  @InSchema({ description: 'As if the game were recorded anew: who played, and how.' })
  players!: GamePlayerBody[];

  @IsReason()
  reason!: string;
}

/** @throws VALIDATION_FAILED; NOT_SUPPORTED for a weight of a player */
export const parseGameResult = namingWeights(compiledBody(GameResultBody));

/** @throws VALIDATION_FAILED; NOT_SUPPORTED for a weight of a player */
export const parseGame = namingWeights(compiledBody(GameBody));

/** A parser that answers to a weight of a player that there is no such thing here, and not that it was never heard of. */
function namingWeights<Body>(parse: (body: unknown) => Body): (body: unknown) => Body {
  return (body) => {
    try {
      return parse(body);
    } catch (error) {
      const players: unknown = (body as { players?: unknown } | null)?.players;
      const at = Array.isArray(players) ? players.findIndex(hasWeight) : -1;
      if (at < 0) throw error;
      const detail = `/players/${at}/weight: openskill 5.0.1 takes weights of players and ignores them; leave it out.`;
      throw new LadderError('NOT_SUPPORTED', detail, { option: 'weight' });
    }
  };
}

const hasWeight = (player: unknown): boolean => typeof player === 'object' && player !== null && 'weight' in player;

/**
 * The games of a batch, not yet looked into; null for a body that is one game.
 * @throws VALIDATION_FAILED when the batch itself is not well formed
 */
export const gamesOfBatch = (body: unknown): unknown[] | null =>
  typeof body === 'object' && body !== null && 'games' in body ? itemsOf(body, 'games', GAMES_BATCH_MAX) : null;
