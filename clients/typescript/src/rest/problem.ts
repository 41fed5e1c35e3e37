import { RETRIABLE, type ErrorCode } from '../generated/errors.js';

/**
 * What the client itself can say, beside the codes of the service: `UNREACHABLE` no answer came (no network, or the time
 * was over), `UNREADABLE` an answer that is not the service's (a proxy, a sign-in page of a network), `QUEUE_FULL`,
 * and `unauthorized`: the token was refused twice, and the live connection has stopped.
 */
export type ClientCode = 'UNREACHABLE' | 'UNREADABLE' | 'QUEUE_FULL' | 'unauthorized';

/** One fault of a request: a JSON pointer into the body, or `?name`, and what to do. */
export interface Fault {
  pointer: string;
  message: string;
}

interface ProblemBody {
  title: string;
  status: number;
  code?: string;
  detail?: string;
  retryAfterSeconds?: number;
  errors?: Fault[];
}

/** A refusal in the words of the service (RFC 9457), or what stands in for it where there are none. */
export class LadderProblem extends Error {
  override readonly name = 'LadderProblem';
  /** Stable; a service that is newer than the client may send one that the type does not know. */
  readonly code: ErrorCode | ClientCode;
  /** The HTTP status; 0: no answer came. */
  readonly status: number;
  /** How long to wait before the same request; null where the service does not say. */
  readonly retryAfterMs: number | null;
  /** Faults of the body, with `VALIDATION_FAILED`. */
  readonly errors: readonly Fault[];
  /** The whole body, with the members that only some codes have, such as `total`. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(body: ProblemBody, retryAfterMs: number | null = null, cause?: unknown) {
    super(body.detail ? `${body.title}: ${body.detail}` : body.title, { cause });
    this.code = (body.code ?? 'UNREADABLE') as ErrorCode | ClientCode;
    this.status = body.status;
    this.retryAfterMs = retryAfterMs ?? (body.retryAfterSeconds === undefined ? null : body.retryAfterSeconds * 1000);
    this.errors = body.errors ?? [];
    this.body = { ...body };
  }

  /** Whether the very same request can succeed later. */
  get isRetriable(): boolean {
    return RETRIABLE.includes(this.code) || this.status === 0 || /^(408|429|50[234])$/.test(String(this.status));
  }
}

/** A problem of the client itself. */
export const clientProblem = (code: ClientCode, title: string, status = 0, cause?: unknown): LadderProblem =>
  new LadderProblem({ code, title, status }, null, cause);
