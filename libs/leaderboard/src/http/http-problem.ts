import { ERRORS, LadderError, validationFailed, type ErrorCode, type Problem } from '@laddercast/domain';
import { HttpStatus, type HttpException } from '@nestjs/common';

/** The codes of ours that say no more than their status. */
const CODES: Partial<Record<number, ErrorCode>> = {
  400: 'VALIDATION_FAILED',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
};
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/;

/**
 * What Nest's own exceptions say, as a problem: how a team's controllers and pipes fail. The status stays; the code is the
 * one that the exception names (`new ConflictException({ code: 'PASS_SOLD', message: '…' })`), else that of the status.
 */
export class HttpProblem extends LadderError {
  constructor(private readonly failure: HttpException) {
    super(codeOf(failure), detailOf(failure), faultsOf(failure), { cause: failure });
  }

  override get status(): number {
    return this.failure.getStatus();
  }

  override get retriable(): boolean {
    return this.status === 429 || this.status >= 500;
  }

  override toProblem(instance?: string): Problem {
    const { status, code } = this;
    const title = ERRORS[code]?.title ?? nameOf(status).toLowerCase().replaceAll('_', ' ');
    return {
      type: `urn:laddercast:problem:${code}`,
      title,
      status,
      detail: this.detail,
      ...(instance === undefined ? {} : { instance }),
      code,
      ...this.extensions,
    };
  }
}

const nameOf = (status: number): string => HttpStatus[status] ?? `STATUS_${status}`;

/** What an exception was made with: words, or fields. */
const fieldsOf = (failure: HttpException): { code?: unknown; message?: unknown } => {
  const response = failure.getResponse();
  return typeof response === 'string' ? { message: response } : response;
};

function codeOf(failure: HttpException): ErrorCode {
  const { code } = fieldsOf(failure);
  const status = failure.getStatus();
  // A team's code stands in the place of one of ours, and is none.
  return (typeof code === 'string' && CODE.test(code) ? code : (CODES[status] ?? nameOf(status))) as ErrorCode;
}

/** Nest's pipes say several faults at once. */
function detailOf(failure: HttpException): string {
  const { message } = fieldsOf(failure);
  return Array.isArray(message) ? message.join('; ') : String(message ?? failure.message);
}

/** A request that is not well formed is told each fault. */
function faultsOf(failure: HttpException): Record<string, unknown> {
  const { message } = fieldsOf(failure);
  if (failure.getStatus() !== 400) return {};
  return validationFailed([message ?? failure.message].flat().map((one) => ({ pointer: '', message: String(one) })))
    .extensions;
}
