import {
  Checked,
  InSchema,
  IsNumbersByName,
  IsReason,
  IsText,
  MayBeAbsent,
  OPAQUE_ID_SCHEMA,
  parseTimestamp,
  Passes,
  RefusedAs,
  type JsonSchema,
} from '@laddercast/commands';
import {
  faultOfOpaqueId,
  GAME_PLAYERS_MAX,
  SHARDS_MAX,
  WINDOW_ID_LENGTH_MAX,
  type Fault,
  type RankAccuracy,
} from '@laddercast/domain';
import {
  FLAG_DECISIONS,
  KEY_SCOPES,
  LANES_MAX,
  OVERLAP_SECONDS_MAX,
  type FlagDecision,
  type KeyScope,
} from '@laddercast/ledger';
import { ArrayMinSize, IsArray, IsBoolean, IsIn, IsInt, IsNumber, IsOptional, Max, Min } from 'class-validator';
import { ACCURACIES, LOOKUPS_MAX } from './parameters.js';

const KEY_NAME_LENGTH_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 3600;

/** What is wrong with a time that {@link IsEnd} refuses. */
export const NO_TIME = 'must be an RFC 3339 time, or null';
/** A time at which something ends. */
export const IsEnd = (): PropertyDecorator =>
  Passes((text) => (parseTimestamp(text) === null ? NO_TIME : null), { format: 'timestamp' });

/** Unix ms of a time that was taken; null and undefined stay what they are. */
export const endMsOf = <Absent extends null | undefined>(end: string | Absent): number | null | Absent =>
  typeof end === 'string' ? parseTimestamp(end) : end;

/** The body that makes an API key. */
export class NewApiKeyBody {
  @IsText(KEY_NAME_LENGTH_MAX)
  name!: string;

  @RefusedAs(`must be an array of ${KEY_SCOPES.join(', ')}`)
  @IsArray()
  @ArrayMinSize(1)
  @IsIn(KEY_SCOPES, { each: true })
  scopes!: KeyScope[];

  @IsOptional()
  @RefusedAs(NO_TIME)
  @IsEnd()
  @InSchema({ description: 'RFC 3339, in the future. Default: null, never.' })
  expiresAt: string | null = null;
}

/** The body that raises the number of lanes. */
export class LanesBody {
  @RefusedAs(`must be a whole number from 1 to ${LANES_MAX}`)
  @IsInt()
  @Min(1)
  @Max(LANES_MAX)
  @InSchema({ description: 'How many there are to be: a multiple of how many there are.' })
  lanes!: number;
}

/** The body that rotates an API key; `{}` is one. */
export class KeyRotationBody {
  @MayBeAbsent()
  @RefusedAs(`must be 0-${OVERLAP_SECONDS_MAX}`)
  @IsInt()
  @Min(0)
  @Max(OVERLAP_SECONDS_MAX)
  @InSchema({
    description: `How long the secret of now still works (default ${OVERLAP_SECONDS_DEFAULT}); with 0 all earlier ones end at once.`,
  })
  overlapSeconds: number = OVERLAP_SECONDS_DEFAULT;

  @IsOptional()
  @RefusedAs(NO_TIME)
  @IsEnd()
  @InSchema({ description: 'When the key ends from now on; null: never. Default: as before.' })
  expiresAt?: string | null;
}

const IsWindowName = (): PropertyDecorator =>
  IsText(WINDOW_ID_LENGTH_MAX, 'must be the id of a window, such as season:s1, or daily');

/** The body of `POST …/close-window`. */
export class WindowToCloseBody {
  @IsWindowName()
  @InSchema({ description: 'A full id such as `season:s1`, or the name of a running window: `daily`.' })
  window!: string;
}

/** The body of `POST …/boundaries`. */
export class ShardsToBoundBody {
  @RefusedAs(`must be 2-${SHARDS_MAX}`)
  @IsInt()
  @Min(2)
  @Max(SHARDS_MAX)
  @InSchema({ description: 'How many shards there are to be.' })
  shards!: number;

  @MayBeAbsent()
  @IsWindowName()
  @InSchema({ description: 'The window whose entries are looked at. Default: alltime, or the first of the board.' })
  window?: string;
}

/** The body that sets an entry by hand. */
export class EntryOverrideBody {
  @RefusedAs('must be a finite number')
  @IsNumber()
  score!: number;

  @MayBeAbsent()
  @IsNumbersByName()
  columns: Record<string, number> = {};

  @IsReason()
  reason!: string;
}

/** The body of `PUT …/submissions/{submission}/verification`. */
export class RunVerificationBody {
  @IsBoolean()
  verified!: boolean;

  @IsReason()
  reason!: string;
}

function faultsOfPlayerIds(ids: unknown, idsMax = LOOKUPS_MAX): Fault[] {
  if (!Array.isArray(ids) || ids.length < 1 || ids.length > idsMax) {
    return [{ pointer: '', message: `must be an array of 1-${idsMax} ids` }];
  }
  return ids.flatMap((id: unknown, index): Fault[] => {
    const message = typeof id === 'string' ? faultOfOpaqueId(id) : 'must be a string';
    return message === null ? [] : [{ pointer: `/${index}`, message }];
  });
}

const playerIds = (idsMax: number): JsonSchema => ({
  type: 'array',
  minItems: 1,
  maxItems: idsMax,
  items: {
    ...OPAQUE_ID_SCHEMA,
    description:
      '1-128 bytes of UTF-8 without control characters or lone surrogates; not ".", ".." or "me"; compared byte by byte.',
  },
});

const ArePlayerIds = (): PropertyDecorator => Checked((ids) => faultsOfPlayerIds(ids), playerIds(LOOKUPS_MAX));

/** The body of `POST …/lookups`. */
export class PlayerLookupBody {
  @ArePlayerIds()
  playerIds!: string[];

  @MayBeAbsent()
  @IsBoolean()
  @InSchema({ description: 'Order the players among themselves.' })
  ranked: boolean = false;

  @MayBeAbsent()
  @RefusedAs('must be exact or estimated')
  @IsIn(ACCURACIES)
  accuracy: RankAccuracy = 'exact';
}

/** The body of `POST /v1/pools/{pool}/lookups`. */
export class RatingLookupBody {
  @ArePlayerIds()
  playerIds!: string[];
}

function faultsOfSides(sides: unknown): Fault[] {
  if (!Array.isArray(sides) || sides.length < 2 || sides.length > GAME_PLAYERS_MAX) {
    return [{ pointer: '', message: `must be an array of 2-${GAME_PLAYERS_MAX} sides, each an array of player ids` }];
  }
  const faults = sides.flatMap((side: unknown, index) =>
    faultsOfPlayerIds(side, GAME_PLAYERS_MAX).map(({ pointer, message }) => ({
      pointer: `/${index}${pointer}`,
      message,
    })),
  );
  if (faults.length > 0) return faults;
  const seen = new Set<string>();
  for (const [index, side] of (sides as string[][]).entries()) {
    for (const [member, playerId] of side.entries()) {
      if (seen.has(playerId)) faults.push({ pointer: `/${index}/${member}`, message: 'must not be named twice' });
      seen.add(playerId);
    }
  }
  if (seen.size > GAME_PLAYERS_MAX) {
    faults.push({ pointer: '', message: `must name ${GAME_PLAYERS_MAX} players at most` });
  }
  return faults;
}

/** The body of `POST …/predictions` that asks what to expect of a game. */
export class PredictionBody {
  @Checked(faultsOfSides, {
    type: 'array',
    minItems: 2,
    maxItems: GAME_PLAYERS_MAX,
    items: playerIds(GAME_PLAYERS_MAX),
    description: 'Who would play together. Nobody is named twice; a player without games is as a newcomer.',
  })
  sides!: string[][];
}

/** The body of `POST …/predictions` that asks for the fairest split. */
export class SplitBody {
  @ArePlayerIds()
  @InSchema({ description: 'At most 12, nobody twice.' })
  players!: string[];

  @RefusedAs('must be how many players a side has: a whole number from 1 on')
  @IsInt()
  @Min(1)
  @InSchema({ description: 'How many players a side has; they must make two or more whole sides.' })
  sidesOf!: number;
}

const VOID_MODES = ['recompute', 'refund', 'keep'] as const;
const VOIDED_IDS_MAX = 1000;

const IsTime = (): PropertyDecorator =>
  Passes((text) => (parseTimestamp(text) === null ? 'must be an RFC 3339 time' : null), { format: 'timestamp' });

const IsVoidMode = (): PropertyDecorator => IsIn(VOID_MODES);

/** The body of `DELETE …/games/{game}`. */
export class GameVoidBody {
  @IsReason()
  reason!: string;

  @MayBeAbsent()
  @RefusedAs(`must be ${VOID_MODES.join(', ')}`)
  @IsVoidMode()
  @InSchema({
    enum: VOID_MODES,
    description:
      'recompute: as if the game had never been; refund: opponents get back what they lost in it; keep: only a mark. ' +
      'Left out: what `onVoid` of the pool says.',
  })
  mode?: (typeof VOID_MODES)[number];
}

/** The body of `POST …/voids`: all games that fit everything that is said. */
export class VoidsBody extends GameVoidBody {
  @MayBeAbsent()
  @Passes(faultOfOpaqueId, OPAQUE_ID_SCHEMA)
  @InSchema({ description: 'Who played in them.' })
  playerId?: string;

  @MayBeAbsent()
  @IsTime()
  @InSchema({ description: 'Played at this time or later.' })
  from?: string;

  @MayBeAbsent()
  @IsTime()
  @InSchema({ description: 'Played before this time.' })
  to?: string;

  @MayBeAbsent()
  @Checked((ids) => faultsOfPlayerIds(ids, VOIDED_IDS_MAX), {
    type: 'array',
    minItems: 1,
    maxItems: VOIDED_IDS_MAX,
    items: OPAQUE_ID_SCHEMA,
    description: 'These games.',
  })
  gameIds?: string[];
}

/** The body of `POST /v1/admin/flags/{flag}`. */
export class FlagDecisionBody {
  @RefusedAs(`must be ${FLAG_DECISIONS.join(', ')}`)
  @IsIn(FLAG_DECISIONS)
  decision!: FlagDecision;

  @IsReason()
  reason!: string;
}
