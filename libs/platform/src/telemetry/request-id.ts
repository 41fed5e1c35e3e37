import { randomBytes } from 'node:crypto';

/** What may stand in logs and headers as it is. */
const SAFE = /^[\w.:+=@/-]{1,128}$/;

/** A prefix for this process. With a number behind it, an id costs a twentieth of a random one. */
const PREFIX = randomBytes(9).toString('base64url');
let made = 0;

/** The id that a client gave its request by `X-Request-Id`, where that is 1-128 letters, digits or `_.:+=@/-`; else a new one. */
export function requestIdOf(headers: Record<string, string | string[] | undefined>): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && SAFE.test(given)) return given;
  made += 1;
  return `${PREFIX}-${made.toString(36)}`;
}
