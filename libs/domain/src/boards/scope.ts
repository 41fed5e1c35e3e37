import { faultOfOpaqueId, isCleanText } from '../ids.js';

/** A way to split a board's players into lists of their own. */
export type ScopeSpec = 'global' | 'region' | 'guild' | { attribute: string };

/** What decides the scopes of a player's entries. */
export interface ScopeValues {
  region: string | null;
  guildId: string | null;
  attributes: Record<string, string>;
}

/** The number of the global scope in keys, events and tables. Other scopes get theirs from the ledger. */
export const GLOBAL_SCOPE = 0;
/** The number of the list whose entries are guilds. */
export const GUILDS_SCOPE = 1;
/** The number of a scope in which nothing was ever ranked: its list is empty. */
export const NEVER_USED_SCOPE = -1;

/**
 * The number of a patch's list, of boards with decay: that of the patch, negative, so that it needs none of its own. Runs stand
 * in it as they were, untaxed.
 */
export const patchScopeOf = (patch: number): number => NEVER_USED_SCOPE - patch;
/** Whether a list is that of a patch. */
export const isPatchScope = (scope: number): boolean => scope < NEVER_USED_SCOPE;
/** The patch of a patch's list. */
export const patchOfScope = (scope: number): number => NEVER_USED_SCOPE - scope;

export const NOBODY_IN_PARTICULAR: ScopeValues = { region: null, guildId: null, attributes: {} };

export const ATTRIBUTE_NAME_PATTERN = '^[a-z][a-z0-9_-]{0,31}$';
const ATTRIBUTE_NAME = new RegExp(ATTRIBUTE_NAME_PATTERN);
/** Names that already have a meaning in `scope=`. */
const RESERVED_ATTRIBUTES = ['global', 'region', 'guild', 'guilds', 'patch'];
/** The longest region or attribute value, in bytes of UTF-8. */
export const SCOPE_VALUE_BYTES_MAX = 64;

/** What is wrong with the name of an attribute, or null when it is fine. */
export function faultOfAttributeName(name: string): string | null {
  if (!ATTRIBUTE_NAME.test(name)) return 'must be 1-32 of a-z, 0-9, "_", "-", and begin with a letter';
  return RESERVED_ATTRIBUTES.includes(name) ? `must not be "${name}"` : null;
}

/** What is wrong with a region or the value of an attribute, or null when it is fine. */
export function faultOfScopeValue(value: string): string | null {
  if (value === '') return 'must not be empty';
  if (!isCleanText(value)) return 'must not hold control characters or lone surrogates';
  if (Buffer.byteLength(value) > SCOPE_VALUE_BYTES_MAX)
    return `must be at most ${SCOPE_VALUE_BYTES_MAX} bytes of UTF-8`;
  return null;
}

/** What is wrong with the text of a scope such as `region:EU`, or null when it is well formed. */
export function faultOfScope(scope: string): string | null {
  if (scope === 'global') return null;
  const separator = scope.indexOf(':');
  if (separator < 1 || scope.startsWith('global:')) {
    return 'must be global, region:…, guild:… or an attribute such as country:US';
  }
  const value = scope.slice(separator + 1);
  return scope.startsWith('guild:') ? faultOfOpaqueId(value) : faultOfScopeValue(value);
}

/** The scopes of a player on a board beside `global`: `region:EU`, `guild:red`, `country:US`. */
export function scopeNamesOf(scopes: readonly ScopeSpec[], values: ScopeValues): string[] {
  return scopes.flatMap((scope) => {
    if (scope === 'global') return [];
    const kind = typeof scope === 'object' ? scope.attribute : scope;
    const value = valueOf(scope, values);
    return value === null ? [] : [`${kind}:${value}`];
  });
}

function valueOf(scope: Exclude<ScopeSpec, 'global'>, { region, guildId, attributes }: ScopeValues): string | null {
  if (scope === 'region') return region;
  if (scope === 'guild') return guildId;
  // An attribute may be called like a property that every object has.
  return Object.hasOwn(attributes, scope.attribute) ? attributes[scope.attribute]! : null;
}

/** The kinds that a board's `scope=` takes: `region`, `guild`, `country`. */
export const scopeKindsOf = (scopes: readonly ScopeSpec[]): string[] =>
  scopes.map((scope) => (typeof scope === 'object' ? scope.attribute : scope));

/** Whether the board has any scope beside the global one. */
export const hasCircles = (scopes: readonly ScopeSpec[]): boolean => scopes.some((scope) => scope !== 'global');

/** `guild:red` → `red`; null for other scopes. */
export const guildOfScope = (name: string): string | null => (name.startsWith('guild:') ? name.slice(6) : null);
