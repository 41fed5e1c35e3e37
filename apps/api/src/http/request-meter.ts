import { BATCH_MAX, rateLimited, RateLimits, type Identity } from '@laddercast/commands';
import { ClientAddresses, type Account } from '@laddercast/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { sendProblem } from './problem.filter.js';

const BATCH_ROUTE = '/v1/scores';
/** How many tokens are remembered that proved to be good. */
const PROVEN_MAX = 20_000;

/**
 * Counts requests against the rate limits, and says in the headers what is left (draft-ietf-httpapi-ratelimit-headers-10).
 * Who comes with a key or token counts by that, once it is known to be good; everybody else by address, before anything of
 * the request is read.
 */
@Injectable()
export class RequestMeter {
  private readonly log = new Logger('http');
  private proven = new Set<string>();
  private provenBefore = new Set<string>();
  private hasWarned = false;

  constructor(
    private readonly limits: RateLimits,
    private readonly addresses: ClientAddresses,
  ) {}

  /** The hook for every request. */
  arrives(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const address = this.addresses.of(request.raw);
    const route = request.routeOptions.url;
    const { authorization } = request.headers;
    if (authorization !== undefined && route?.startsWith('/v1/')) {
      const failures = this.limits.ofFailures(address);
      // Whoever guesses is not even looked up any more; good tokens from the same address go on.
      if (failures.limiter.has(failures) || this.isProven(authorization)) return done();
      return this.refuse(failures, 1, request, reply);
    }
    const account = route?.startsWith('/health/') ? this.limits.ofProbes(address) : this.limits.ofAddress(address);
    this.pass(account, 1, reply, (may) => {
      if (may) done();
      else this.refuse(account, 1, request, reply);
    });
  }

  /**
   * Counts a request of somebody who is known; one without identity was counted when it came.
   * @throws RATE_LIMITED
   */
  async identified(identity: Identity, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (identity.kind === 'anonymous') return;
    this.prove(request.headers.authorization!);
    const account = this.limits.of(identity, '');
    const cost = costOf(request);
    const may = account.limiter.take(account, cost);
    const isAllowed = may === true || (await may);
    tell(account, reply);
    if (!isAllowed) throw rateLimited(account, cost);
  }

  /**
   * Counts a key or token that turned out to be wrong.
   * @throws RATE_LIMITED
   */
  async failed(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const account = this.limits.ofFailures(this.addresses.of(request.raw));
    if (await account.limiter.take(account)) return;
    tell(account, reply);
    throw rateLimited(account);
  }

  private pass(account: Account, cost: number, reply: FastifyReply, then: (may: boolean) => void): void {
    const may = account.limiter.take(account, cost);
    if (typeof may === 'boolean') {
      tell(account, reply);
      return then(may);
    }
    void may.then((later) => {
      tell(account, reply);
      then(later);
    });
  }

  private refuse(account: Account, cost: number, request: FastifyRequest, reply: FastifyReply): void {
    this.warnOfProxy(request);
    tell(account, reply);
    sendProblem(reply, rateLimited(account, cost), request.url);
  }

  /** Behind a proxy that is not trusted all clients are one address, and one of them shuts out the others. */
  private warnOfProxy({ raw }: FastifyRequest): void {
    if (this.hasWarned || raw.headers['x-forwarded-for'] === undefined || this.addresses.trustsAnybody) return;
    this.hasWarned = true;
    const { remoteAddress } = raw.socket;
    this.log.warn(
      `All clients behind ${remoteAddress} count as one address: is it a proxy to name in TRUSTED_PROXIES?`,
    );
  }

  private isProven(authorization: string): boolean {
    return this.proven.has(authorization) || this.provenBefore.has(authorization);
  }

  private prove(authorization: string): void {
    if (this.proven.has(authorization)) return;
    if (this.proven.size >= PROVEN_MAX / 2) [this.provenBefore, this.proven] = [this.proven, new Set()];
    this.proven.add(authorization);
  }
}

/** A batch costs as much as it has submissions. */
function costOf({ routeOptions, body }: FastifyRequest): number {
  if (routeOptions.url !== BATCH_ROUTE) return 1;
  const { submissions } = (body ?? {}) as { submissions?: unknown };
  return Array.isArray(submissions) ? Math.max(1, Math.min(BATCH_MAX, submissions.length)) : 1;
}

function tell(account: Account, reply: FastifyReply): void {
  const { limiter } = account;
  if (!limiter.isOn) return;
  const { name, windowSeconds } = limiter.limit;
  const remaining = limiter.remaining(account);
  void reply
    .header('RateLimit-Policy', `"${name}";q=${limiter.capacity};w=${windowSeconds}`)
    .header('RateLimit', `"${name}";r=${remaining};t=${limiter.resetSeconds(remaining)}`);
}
