import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { LadderError, validationFailed } from '@laddercast/domain';
import { NO_SNIFFING } from './security-headers.js';

/** The address was not read, or not to its end. */
const UNREAD_PATH = '/';

/** What Node says of bytes that it could not read as a request. */
type ClientError = Error & { code?: string };

/**
 * Answers what never became a request (headers without end, bytes that are not HTTP) with problem+json, as everything
 * else is answered, and closes the connection: nobody knows where the next request would begin.
 */
export function answerClientErrors(server: Server): void {
  // Fastify's own listener answers with a body of another shape.
  server.removeAllListeners('clientError');
  server.on('clientError', (failure: ClientError, socket: Socket) => {
    if (failure.code === 'ECONNRESET' || socket.destroyed) return;
    if (socket.writable) socket.write(answerOf(errorOf(failure)));
    socket.destroySoon();
  });
}

function errorOf({ code }: ClientError): LadderError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new LadderError('HEADERS_TOO_LARGE', 'The address and the headers together may have at most 16 KiB.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new LadderError('REQUEST_TIMEOUT', 'The request did not arrive in time; send it at once, and whole.');
    default:
      return validationFailed([{ pointer: '', message: 'must be a request of HTTP/1.1' }]);
  }
}

function answerOf(error: LadderError): string {
  const body = JSON.stringify(error.toProblem(UNREAD_PATH));
  const headers = {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...NO_SNIFFING,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
}
