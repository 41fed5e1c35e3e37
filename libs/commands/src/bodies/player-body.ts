import {
  ATTRIBUTE_NAME_PATTERN,
  AVATAR_URL_LENGTH_MAX,
  CLEAN_TEXT_PATTERN,
  escapePointer,
  faultOfAttributeName,
  faultOfAvatarUrl,
  faultOfScopeValue,
  isCleanText,
  SCOPE_VALUE_BYTES_MAX,
  type Fault,
} from '@laddercast/domain';
import type { PlayerProfile } from '@laddercast/ledger';
import { IsBoolean, IsOptional } from 'class-validator';
import { Checked, InSchema, Passes, textSchema } from './body-rules.js';

const DISPLAY_NAME_LENGTH_MAX = 64;
/** What `trim` takes off, control characters apart, as a part of a class in a pattern. */
const SPACES = ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';
const ATTRIBUTES_MAX = 16;

/** Something in it can be seen: in every dialect of patterns, whichever spaces it counts as such. */
const DISPLAY_NAME_SCHEMA = {
  ...textSchema(DISPLAY_NAME_LENGTH_MAX),
  pattern: `^(?=.*[^${SPACES}])${CLEAN_TEXT_PATTERN.slice(1)}`,
};

const SCOPE_VALUE_SCHEMA = {
  ...textSchema(SCOPE_VALUE_BYTES_MAX),
  format: 'scope-value',
  description: `1-${SCOPE_VALUE_BYTES_MAX} bytes of UTF-8 without control characters or lone surrogates.`,
};

/** The body of `PUT /v1/players/{player}`. */
export class PlayerBody implements PlayerProfile {
  @IsOptional()
  @Passes(faultOfDisplayName, DISPLAY_NAME_SCHEMA)
  displayName: string | null = null;

  @IsOptional()
  @Passes(faultOfScopeValue, SCOPE_VALUE_SCHEMA)
  region: string | null = null;

  @IsOptional()
  @Passes(faultOfAvatarUrl, { format: 'http-url', pattern: '^https?://', maxLength: AVATAR_URL_LENGTH_MAX })
  avatarUrl: string | null = null;

  @IsOptional()
  @Checked(faultsOfAttributes, {
    type: 'object',
    maxProperties: ATTRIBUTES_MAX,
    propertyNames: { pattern: ATTRIBUTE_NAME_PATTERN },
    additionalProperties: SCOPE_VALUE_SCHEMA,
  })
  attributes: Record<string, string> = {};

  @IsOptional()
  @IsBoolean()
  @InSchema({ description: 'Whether others see the player in lists.' })
  listed: boolean = true;
}

/** The body of `PUT /v1/guilds/{guild}`. */
export class GuildBody {
  @IsOptional()
  @Passes(faultOfDisplayName, DISPLAY_NAME_SCHEMA)
  displayName: string | null = null;
}

function faultOfDisplayName(name: string): string | null {
  if (name.trim() === '') return 'must not be empty';
  if (!isCleanText(name)) return 'must not hold control characters or lone surrogates';
  return [...name].length > DISPLAY_NAME_LENGTH_MAX ? `must be at most ${DISPLAY_NAME_LENGTH_MAX} characters` : null;
}

function faultsOfAttributes(attributes: unknown): Fault[] {
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    return [{ pointer: '', message: 'must be an object of strings' }];
  }
  const entries = Object.entries(attributes as Record<string, unknown>);
  const faults = entries.flatMap(([name, value]): Fault[] => {
    const at = `/${escapePointer(name)}`;
    const fault = faultOfAttributeName(name);
    if (fault !== null) return [{ pointer: at, message: `the name ${fault}` }];
    const message = typeof value === 'string' ? faultOfScopeValue(value) : 'must be a string';
    return message === null ? [] : [{ pointer: at, message }];
  });
  if (entries.length > ATTRIBUTES_MAX) {
    faults.unshift({ pointer: '', message: `must have at most ${ATTRIBUTES_MAX}, not ${entries.length}` });
  }
  return faults.slice(0, FAULTS_SHOWN_MAX);
}

/** A body can hold far more faults than anybody reads. */
const FAULTS_SHOWN_MAX = 50;
