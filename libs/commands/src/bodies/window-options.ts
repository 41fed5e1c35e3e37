import {
  CALENDAR_KINDS,
  escapePointer,
  faultOfAttributeName,
  faultOfCron,
  faultOfNamedId,
  faultOfRolling,
  kindOf,
  nameOfSpec,
  type Fault,
  type ScopeSpec,
  type WindowSpec,
} from '@laddercast/domain';
import { parseTimestamp } from './compiled-body.js';

/** The most windows, and the most scopes, of one board. */
export const WINDOWS_MAX = 32;
export const SCOPES_MAX = 8;
/** The years that a season may lie in, as Unix ms. */
const SEASON_MS_MAX = Date.UTC(2200, 0, 1);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a board's `windows`. */
export function faultsOfWindows(windows: readonly unknown[]): Fault[] {
  const faults = windows.flatMap((window, index) => faultsOfWindow(window, `/windows/${index}`));
  if (faults.length > 0) return faults;
  const specs = windows as WindowSpec[];
  const names = specs.map(nameOfSpec);
  return names.flatMap((name, index) => {
    if (names.indexOf(name) === index) return [];
    const message =
      kindOf(specs[index]!) === 'cron' ? 'a board has at most one cron window' : `the window "${name}" is there twice`;
    return [{ pointer: `/windows/${index}`, message }];
  });
}

function faultsOfWindow(window: unknown, pointer: string): Fault[] {
  if (typeof window === 'string' && (CALENDAR_KINDS as readonly string[]).includes(window)) return [];
  if (isObject(window)) {
    if ('season' in window) return faultsOfSeason(window, pointer);
    if ('rolling' in window) return faultsOfText(window, 'rolling', faultOfRolling, pointer);
    if ('cron' in window) return faultsOfText(window, 'cron', faultOfCron, pointer);
  }
  const known = CALENDAR_KINDS.map((kind) => `"${kind}"`).join(', ');
  return [{ pointer, message: `must be one of ${known}, or an object with "season", "rolling" or "cron"` }];
}

function faultsOfText(
  window: Record<string, unknown>,
  name: string,
  faultOf: (text: string) => string | null,
  pointer: string,
): Fault[] {
  const value = window[name];
  const message = typeof value === 'string' ? faultOf(value) : 'must be a string';
  return [...faultsOfOthers(window, [name], pointer), ...(message ? [{ pointer: `${pointer}/${name}`, message }] : [])];
}

function faultsOfSeason(window: Record<string, unknown>, pointer: string): Fault[] {
  const faults = faultsOfOthers(window, ['season', 'startsAt', 'endsAt', 'freezeAt'], pointer);
  const { season, freezeAt } = window;
  const fault = typeof season === 'string' ? faultOfNamedId(season) : 'must be a string';
  if (fault) faults.push({ pointer: `${pointer}/season`, message: fault });
  const times: Record<string, number> = {};
  for (const name of freezeAt == null ? ['startsAt', 'endsAt'] : ['startsAt', 'endsAt', 'freezeAt']) {
    const value = window[name];
    const ms = typeof value === 'string' ? parseTimestamp(value) : null;
    if (value === undefined) faults.push({ pointer: `${pointer}/${name}`, message: 'is required' });
    else if (ms === null || ms > SEASON_MS_MAX) {
      const message = 'must be an RFC 3339 time such as 2026-11-20T18:00:00.000Z, from 1970 to 2199';
      faults.push({ pointer: `${pointer}/${name}`, message });
    } else times[name] = ms;
  }
  if (faults.length > 0) return faults;
  const { startsAt, endsAt, freezeAt: freezesAt } = times as { startsAt: number; endsAt: number; freezeAt?: number };
  if (endsAt <= startsAt) faults.push({ pointer: `${pointer}/endsAt`, message: 'must lie after startsAt' });
  else if (freezesAt !== undefined && (freezesAt < startsAt || freezesAt >= endsAt)) {
    faults.push({
      pointer: `${pointer}/freezeAt`,
      message: 'must not lie before startsAt, and must lie before endsAt',
    });
  }
  return faults;
}

/** What is wrong with a board's `scopes`. */
export function faultsOfScopes(scopes: readonly unknown[]): Fault[] {
  const faults = scopes.flatMap((scope, index): Fault[] => {
    const pointer = `/scopes/${index}`;
    if (scope === 'global' || scope === 'region' || scope === 'guild') return [];
    if (!isObject(scope) || !('attribute' in scope)) {
      return [{ pointer, message: 'must be "global", "region", "guild", or an object with "attribute"' }];
    }
    const { attribute } = scope;
    const message = typeof attribute === 'string' ? faultOfAttributeName(attribute) : 'must be a string';
    const others = faultsOfOthers(scope, ['attribute'], pointer);
    return message ? [...others, { pointer: `${pointer}/attribute`, message }] : others;
  });
  if (faults.length > 0) return faults;
  const names = (scopes as ScopeSpec[]).map((scope) => (typeof scope === 'object' ? scope.attribute : scope));
  if (!names.includes('global')) faults.push({ pointer: '/scopes', message: 'must hold "global"' });
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0) faults.push({ pointer: `/scopes/${twice}`, message: `"${names[twice]}" is there twice` });
  return faults;
}

const faultsOfOthers = (value: object, known: string[], pointer: string): Fault[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => ({ pointer: `${pointer}/${escapePointer(name)}`, message: 'is not a known field' }));
