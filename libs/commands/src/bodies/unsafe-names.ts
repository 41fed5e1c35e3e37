import { escapePointer, type Fault } from '@laddercast/domain';

/** Deeper than any accepted body. */
const DEPTH_MAX = 64;

const MESSAGE = 'is a name that is not taken: it would change what an object is for whoever copies it';

/**
 * Whether a field of that name could change objects that it is copied into: `__proto__`, and a `constructor` with a
 * `prototype`.
 */
export function isUnsafeName(name: string, value: unknown): boolean {
  if (name === '__proto__') return true;
  return name === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** The fault of the first field of a JSON value whose name {@link isUnsafeName}; null when there is none. */
export function faultOfUnsafeName(value: unknown, pointer = '', depth = 0): Fault | null {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return null;
  for (const [name, field] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(name)}`;
    const fault = isUnsafeName(name, field) ? { pointer: at, message: MESSAGE } : null;
    const found = fault ?? faultOfUnsafeName(field, at, depth + 1);
    if (found) return found;
  }
  return null;
}
