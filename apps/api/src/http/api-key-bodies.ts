import { parseTimestamp, unknownFields } from '@laddercast/commands';
import { isCleanText, validationFailed, type Fault } from '@laddercast/domain';
import { KEY_SCOPES, OVERLAP_SECONDS_MAX, type KeyRotation, type KeyScope } from '@laddercast/ledger';

const NAME_LENGTH_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 3600;

/** The body that makes a key. @throws VALIDATION_FAILED */
export function parseKey(body: unknown): { name: string; scopes: KeyScope[]; expiresAtMs: number | null } {
  const { name, scopes, expiresAt, ...unknown } = fieldsOf(body);
  const faults = unknownFields(unknown);
  if (typeof name !== 'string' || name === '' || [...name].length > NAME_LENGTH_MAX || !isCleanText(name)) {
    faults.push({ pointer: '/name', message: `must be 1-${NAME_LENGTH_MAX} characters` });
  }
  const known =
    Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => KEY_SCOPES.includes(scope as KeyScope));
  if (!known) faults.push({ pointer: '/scopes', message: `must be an array of ${KEY_SCOPES.join(', ')}` });
  const expiresAtMs = endOf(expiresAt, faults) ?? null;
  if (faults.length > 0) throw validationFailed(faults);
  return { name: name as string, scopes: [...new Set(scopes as KeyScope[])], expiresAtMs };
}

/** The body that rotates one; `{}` is one. @throws VALIDATION_FAILED */
export function parseRotation(body: unknown): KeyRotation {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw validationFailed([{ pointer: '', message: 'must be an object' }]);
  }
  const { overlapSeconds = OVERLAP_SECONDS_DEFAULT, expiresAt, ...unknown } = fieldsOf(body);
  const faults = unknownFields(unknown);
  const isLength = Number.isInteger(overlapSeconds) && (overlapSeconds as number) >= 0;
  if (!isLength || (overlapSeconds as number) > OVERLAP_SECONDS_MAX) {
    faults.push({ pointer: '/overlapSeconds', message: `must be 0-${OVERLAP_SECONDS_MAX}` });
  }
  const expiresAtMs = endOf(expiresAt, faults);
  if (faults.length > 0) throw validationFailed(faults);
  return { overlapSeconds: overlapSeconds as number, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  return (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
}

function endOf(expiresAt: unknown, faults: Fault[]): number | null | undefined {
  if (expiresAt === undefined || expiresAt === null) return expiresAt;
  const atMs = typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : null;
  if (atMs === null) faults.push({ pointer: '/expiresAt', message: 'must be an RFC 3339 time, or null' });
  return atMs;
}
