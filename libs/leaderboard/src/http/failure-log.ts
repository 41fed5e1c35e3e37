import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { namesOf } from './request-scope.js';

/** A service that is away fails every request: each code is written this often, with how many there were between. */
const SAME_CODE_EVERY_MS = 10_000;

/** Writes down requests that failed on our side (5xx), with their cause; those of clients are answered and not written. */
export class FailureLog {
  private readonly log = new Logger('http');
  private readonly written = new Map<string, { atMs: number; since: number }>();

  /** @param failure what was thrown; default: the cause of the error that is answered */
  note(request: FastifyRequest, error: LadderError, failure: unknown = error.cause ?? error): void {
    if (error.status < 500) return;
    const since = this.isWorthALine(error);
    if (since === null) return;
    const { method } = request;
    const path = request.url.split('?')[0]!;
    const line = { err: failure, ...namesOf(request), method, path, code: error.code, ...(since > 0 && { since }) };
    if (error.code === 'INTERNAL') this.log.error(line, 'request failed');
    else this.log.warn(line, 'request failed');
  }

  /** How many of its kind were not written since the last; null: neither is this one. A fault of ours always is. */
  private isWorthALine({ code }: LadderError): number | null {
    if (code === 'INTERNAL') return 0;
    const now = monotonicMs();
    const last = this.written.get(code);
    if (last !== undefined && now - last.atMs < SAME_CODE_EVERY_MS) {
      last.since += 1;
      return null;
    }
    this.written.set(code, { atMs: now, since: 0 });
    return last?.since ?? 0;
  }
}
