import { LadderError } from '@laddercast/domain';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorOfHttpFailure, sendProblem } from './problem.filter.js';
import { SECURITY_HEADERS } from './security-headers.js';

/**
 * Answers addresses that no route can be looked up for (bad percent-encoding, a part that is too long): Fastify's
 * `frameworkErrors`, since these never reach Nest's filters, nor Fastify's hooks.
 */
export function answerFrameworkError(failure: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const error =
    errorOfHttpFailure(failure) ??
    new LadderError('INTERNAL', 'This failed on our side; the log has the details.', {}, { cause: failure });
  sendProblem(reply.headers({ ...SECURITY_HEADERS, 'X-Request-Id': request.id }), error, request.raw.url ?? '');
}
