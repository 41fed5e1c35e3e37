import { LadderError, validationFailed } from '@laddercast/domain';
import type { FastifyRequest } from 'fastify';

/** The longest address, in bytes of its percent-encoded form. */
export const URL_LENGTH_MAX = 8192;
/** The most query parameters; no route knows half as many. */
export const QUERY_PARAMETERS_MAX = 64;

/** What is wrong with a request before its body is read, or null. */
export function refusalOfRequest({ raw, headers }: FastifyRequest): LadderError | null {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    return validationFailed([{ pointer: '', message: 'a request of HTTP/1.1 needs a Host header' }]);
  }
  const url = raw.url ?? '';
  if (url.length > URL_LENGTH_MAX) {
    return new LadderError('URI_TOO_LONG', `An address may have at most ${URL_LENGTH_MAX} bytes.`);
  }
  const encoding = headers['content-encoding'];
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (encoding !== undefined && hasBody && encoding.toLowerCase() !== 'identity') {
    return new LadderError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as it is, without a Content-Encoding.');
  }
  const queryAt = url.indexOf('?');
  // The router looks at the path; what reads the query would take wrong percent-encoding as it stands.
  if (queryAt >= 0 && !isDecodable(url.slice(queryAt))) return notUtf8();
  return queryAt >= 0 && hasMore(url, '&', queryAt, QUERY_PARAMETERS_MAX - 1)
    ? validationFailed([{ pointer: '', message: `a query may have at most ${QUERY_PARAMETERS_MAX} parameters` }])
    : null;
}

/** An address that is not percent-encoded UTF-8. */
export const notUtf8 = (): LadderError =>
  validationFailed([{ pointer: '', message: 'the address is not percent-encoded UTF-8' }]);

function isDecodable(text: string): boolean {
  if (!text.includes('%')) return true;
  try {
    // Looked at, or the bundler takes it for a call without effect, and leaves it out.
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

function hasMore(text: string, what: string, from: number, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf(what, from); at >= 0; at = text.indexOf(what, at + 1)) if (++count > most) return true;
  return false;
}
