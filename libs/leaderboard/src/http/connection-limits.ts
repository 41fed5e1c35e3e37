import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { LadderError, validationFailed } from '@laddercast/domain';

/** Address and header fields of a request together, in bytes. */
const HEADER_BYTES_MAX = 16 * 1024;
/** How long a client may take to send a whole request. */
const REQUEST_WITHIN_MS = 30_000;
/** How often it is looked whether somebody takes longer. */
const LOOK_EVERY_MS = 1000;

/** The address was not read, or not to its end. */
const UNREAD_PATH = '/';

/** What Node's HTTP parser reports of a connection. */
interface ConnectionFailure extends Error {
  code?: string;
}

/**
 * What every HTTP server of a process is made with. Node gives a body the larger of the two times, and by itself looks
 * every 30 s only.
 */
export const SERVER_LIMITS = {
  maxHeaderSize: HEADER_BYTES_MAX,
  headersTimeout: REQUEST_WITHIN_MS,
  requestTimeout: REQUEST_WITHIN_MS,
  connectionsCheckingInterval: LOOK_EVERY_MS,
};

/** What holds before a request is one: for Fastify's options. */
export const CONNECTION_LIMITS = {
  // Node's own refusal of a request without a Host has no body: it is refused with the others before they are read.
  http: { ...SERVER_LIMITS, requireHostHeader: false },
  // Fastify sets its own over that of the server.
  requestTimeout: REQUEST_WITHIN_MS,
  clientErrorHandler: answerBrokenRequest,
};

/** Answers what cannot be read as HTTP with a problem, as everything else, and ends the connection. */
function answerBrokenRequest(failure: ConnectionFailure, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const error = errorOf(failure);
  const body = JSON.stringify(error.toProblem(UNREAD_PATH));
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

function errorOf({ code }: ConnectionFailure): LadderError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const detail = `The address and the header fields may have at most ${HEADER_BYTES_MAX} bytes together.`;
    return new LadderError('HEADERS_TOO_LARGE', detail);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new LadderError('REQUEST_TIMEOUT', `The request did not arrive within ${REQUEST_WITHIN_MS / 1000} s.`);
  }
  return validationFailed([{ pointer: '', message: 'must be a request of HTTP/1.1' }]);
}
