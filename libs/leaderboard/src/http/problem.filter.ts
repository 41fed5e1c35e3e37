import type { Readable } from 'node:stream';
import { LadderError, validationFailed } from '@laddercast/domain';
import { isDatabaseUnavailable } from '@laddercast/ledger';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FailureLog } from './failure-log.js';
import { HttpProblem } from './http-problem.js';
import { notUtf8 } from './request-limits.js';
import { RouteTable } from './route-table.js';

/** What Fastify and Nest throw before a controller is reached. */
interface HttpFailure {
  code?: string;
  statusCode?: number;
  message: string;
}

/** For a 503 that does not say itself when to come back. */
const RETRY_AFTER_DEFAULT_SECONDS = 2;

/** Makes problem+json (RFC 9457) of every failure, and shows nobody a stack trace. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    private readonly failures: FailureLog,
  ) {}

  catch(failure: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = this.toLadderError(failure, request);
    this.failures.note(request, error, failure);
    if (error.code === 'METHOD_NOT_ALLOWED') void reply.header('Allow', this.routes.methodsAt(request.url).join(', '));
    if (error.code !== 'PAYLOAD_TOO_LARGE') return sendProblem(reply, error, request.url);
    // Answered while it still sends, a client would see its connection break instead of the answer.
    void drained(request.raw).then(() => sendProblem(reply, error, request.url));
  }

  private toLadderError(failure: unknown, request: FastifyRequest): LadderError {
    if (failure instanceof LadderError) return failure;
    if (isDatabaseUnavailable(failure)) {
      return new LadderError(
        'LEDGER_UNAVAILABLE',
        'The database cannot be reached; try again shortly.',
        { retryAfterSeconds: 2 },
        { cause: failure },
      );
    }
    // Nest wraps what Fastify throws.
    const thrown = failure instanceof HttpException ? (failure.cause ?? failure) : failure;
    // Fastify wants a type of the body of QUERY before it looks whether there is such a route; here is none.
    if ((thrown as HttpFailure).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') return this.notFound(request);
    const known = errorOfHttpFailure(thrown as HttpFailure);
    if (known) return known;
    if (request.is404) return this.notFound(request);
    if (failure instanceof HttpException) return new HttpProblem(failure);
    return new LadderError('INTERNAL', 'This failed on our side; the log has the details.', {}, { cause: failure });
  }

  private notFound(request: FastifyRequest): LadderError {
    const methods = this.routes.methodsAt(request.url);
    if (methods.length > 0) {
      return new LadderError(
        'METHOD_NOT_ALLOWED',
        `${request.method} is not for this address; it takes ${methods.join(', ')}.`,
      );
    }
    const hasDocs = this.routes.methodsAt('/docs').length > 0;
    const hint = hasDocs ? '; see /docs' : ' in this process: REST is what an api process answers';
    return new LadderError('NOT_FOUND', `There is nothing at ${request.url.split('?')[0]}${hint}.`);
  }
}

/** The error behind a failure of the HTTP layer, null when it is not one of the client's. */
export function errorOfHttpFailure(failure: HttpFailure): LadderError | null {
  switch (failure.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new LadderError('PAYLOAD_TOO_LARGE', 'The body is too large; send fewer submissions at once.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new LadderError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new LadderError('MALFORMED_JSON', 'The body is empty; send a JSON object.');
    case 'FST_ERR_BAD_URL':
      return notUtf8();
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return validationFailed([{ pointer: '', message: 'a part of the address is longer than any id can be' }]);
    default:
      if (failure.code?.startsWith('FST_ERR_CTP') || (failure.statusCode === 400 && failure instanceof SyntaxError)) {
        return new LadderError('MALFORMED_JSON', `The body cannot be read: ${failure.message.replace(/\.$/, '')}.`);
      }
      return null;
  }
}

/** How much of a body that is too large is read, and thrown away, before it is answered. */
const DRAINED_BYTES_MAX = 64 * 1024 * 1024;
const DRAINED_WITHIN_MS = 5000;

/** Resolves when the client has sent all, or more than anybody would wait for. */
function drained(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, DRAINED_WITHIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    body.once('end', done).once('close', done).once('error', done);
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DRAINED_BYTES_MAX) done();
    });
    if (body.readableEnded || body.destroyed) done();
  });
}

export function sendProblem(reply: FastifyReply, error: LadderError, url: string): void {
  const { retryAfterSeconds = error.status === 503 ? RETRY_AFTER_DEFAULT_SECONDS : undefined } = error.extensions;
  if (typeof retryAfterSeconds === 'number') void reply.header('Retry-After', String(retryAfterSeconds));
  if (error.code === 'UNAUTHENTICATED') void reply.header('WWW-Authenticate', 'Bearer');
  void reply
    .status(error.status)
    .header('Cache-Control', 'no-store')
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify({ ...error.toProblem(url.split('?')[0]), requestId: reply.request.id }));
}
