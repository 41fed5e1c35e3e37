import {
  escapePointer,
  faultOfAttributeName,
  faultOfScopeValue,
  isCleanText,
  validationFailed,
  type Fault,
} from '@laddercast/domain';
import type { PlayerProfile } from '@laddercast/ledger';
import { unknownFields } from './body-faults.js';

export const DISPLAY_NAME_LENGTH_MAX = 64;
export const AVATAR_URL_LENGTH_MAX = 512;
export const ATTRIBUTES_MAX = 16;

/**
 * The profile behind a body: what is absent, or null, is the default.
 * @throws VALIDATION_FAILED with every fault
 */
export function parsePlayer(body: unknown): PlayerProfile {
  const { displayName, region, avatarUrl, attributes, listed, ...unknown } = fieldsOf(body);
  const faults = [
    ...unknownFields(unknown),
    ...faultsOfText('/displayName', displayName, faultOfDisplayName),
    ...faultsOfText('/region', region, faultOfScopeValue),
    ...faultsOfText('/avatarUrl', avatarUrl, faultOfAvatarUrl),
    ...faultsOfAttributes(attributes ?? {}),
  ];
  if (typeof (listed ?? true) !== 'boolean') faults.push({ pointer: '/listed', message: 'must be true or false' });
  if (faults.length > 0) throw validationFailed(faults);
  return {
    displayName: (displayName ?? null) as string | null,
    region: (region ?? null) as string | null,
    avatarUrl: (avatarUrl ?? null) as string | null,
    attributes: { ...((attributes ?? {}) as Record<string, string>) },
    listed: (listed ?? true) as boolean,
  };
}

/**
 * A guild's name; null for none.
 * @throws VALIDATION_FAILED
 */
export function parseGuild(body: unknown): { displayName: string | null } {
  const { displayName, ...unknown } = fieldsOf(body);
  const faults = [...unknownFields(unknown), ...faultsOfText('/displayName', displayName, faultOfDisplayName)];
  if (faults.length > 0) throw validationFailed(faults);
  return { displayName: (displayName ?? null) as string | null };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw validationFailed([{ pointer: '', message: 'must be a JSON object' }]);
}

function faultsOfText(pointer: string, value: unknown, faultOf: (text: string) => string | null): Fault[] {
  if (value === undefined || value === null) return [];
  const message = typeof value === 'string' ? faultOf(value) : 'must be a string';
  return message === null ? [] : [{ pointer, message }];
}

function faultOfDisplayName(name: string): string | null {
  if (name.trim() === '') return 'must not be empty';
  if (!isCleanText(name)) return 'must not hold control characters or lone surrogates';
  return [...name].length > DISPLAY_NAME_LENGTH_MAX ? `must be at most ${DISPLAY_NAME_LENGTH_MAX} characters` : null;
}

function faultOfAvatarUrl(text: string): string | null {
  if (text.length > AVATAR_URL_LENGTH_MAX) return `must be at most ${AVATAR_URL_LENGTH_MAX} characters`;
  const isAddress = isCleanText(text) && /^https?:\/\/[^\s"<>\\^`{|}]+$/i.test(text) && URL.canParse(text);
  return isAddress ? null : 'must be an http or https address';
}

function faultsOfAttributes(attributes: unknown): Fault[] {
  const pointer = '/attributes';
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    return [{ pointer, message: 'must be an object of strings' }];
  }
  const entries = Object.entries(attributes as Record<string, unknown>);
  const faults = entries.flatMap(([name, value]): Fault[] => {
    const at = `${pointer}/${escapePointer(name)}`;
    const fault = faultOfAttributeName(name);
    if (fault !== null) return [{ pointer: at, message: `the name ${fault}` }];
    const message = typeof value === 'string' ? faultOfScopeValue(value) : 'must be a string';
    return message === null ? [] : [{ pointer: at, message }];
  });
  if (entries.length > ATTRIBUTES_MAX) {
    faults.unshift({ pointer, message: `must have at most ${ATTRIBUTES_MAX}, not ${entries.length}` });
  }
  return faults.slice(0, FAULTS_SHOWN_MAX);
}

/** A body can hold far more faults than anybody reads. */
const FAULTS_SHOWN_MAX = 50;
