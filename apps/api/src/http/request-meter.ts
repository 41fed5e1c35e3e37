import { rateLimited, RateLimits, type Identity } from '@laddercast/identity';
import { identifiesCallers, sendProblem } from '@laddercast/leaderboard';
import { BoardCatalog } from '@laddercast/ledger';
import { ClientAddresses, type Account } from '@laddercast/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { costOf, isBatch } from './request-costs.js';

/** Players' tokens are checked in this process: only keys cost a look into the database. */
const TOKEN = /^Bearer +[\w-]+\.[\w-]+\.[\w-]*$/i;
const SCHEME = /^Bearer +/i;
/** How many keys are remembered that proved to be good. */
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
    private readonly boards: BoardCatalog,
  ) {}

  /** The hook for every request. */
  arrives(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    const address = this.addresses.of(request.raw);
    if (this.isByIdentity(request)) {
      const failures = this.limits.ofFailures(address);
      // Whoever guesses is not even looked up any more; good keys and tokens from the same address go on.
      if (failures.limiter.has(failures) || this.isNoGuess(request.headers.authorization!)) return done();
      return this.refuse(failures, 1, request, reply);
    }
    const route = request.routeOptions.url;
    const account = route?.startsWith('/health/') ? this.limits.ofProbes(address) : this.limits.ofAddress(address);
    this.pass(account, 1, reply, (may) => {
      if (may) done();
      else this.refuse(account, 1, request, reply);
    });
  }

  /** Whether a request counts by who sends it, and not by its address. */
  isByIdentity(request: FastifyRequest): boolean {
    return request.headers.authorization !== undefined && identifiesCallers(request);
  }

  /**
   * Counts a request of somebody who is known. null: at once.
   * @throws RATE_LIMITED, by the promise
   */
  identified(identity: Identity, request: FastifyRequest, reply: FastifyReply): Promise<void> | null {
    // Tokens prove themselves; and what a player sends is not to take the place of keys.
    if (identity.kind === 'key') this.prove(secretOf(request.headers.authorization!));
    return this.spend(this.limits.of(identity, ''), 1, reply);
  }

  /**
   * Counts what a request costs more than one, once it is read: all of a batch, or the one that it was to read it. null: at once.
   * @throws RATE_LIMITED, by the promise
   */
  read(identity: Identity, request: FastifyRequest, reply: FastifyReply): Promise<void> | null {
    const cost = costOf(request, (template) => this.boards.ofTemplate(template).length);
    if (cost === 1) return null;
    const account = this.limits.of(identity, this.addresses.of(request.raw));
    const { limiter } = account;
    // What is left of a full bucket is enough for any other request.
    if (!isBatch(request)) return this.spend(account, Math.min(cost, limiter.capacity) - 1, reply);
    // Who may not send any is not to pay for it.
    if (identity.kind === 'anonymous') return null;
    limiter.giveBack(account);
    return this.spend(account, cost, reply, 1);
  }

  /**
   * Counts a key or token that turned out to be wrong.
   * @throws RATE_LIMITED
   */
  async failed(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const secret = secretOf(request.headers.authorization!);
    this.proven.delete(secret);
    this.provenBefore.delete(secret);
    const account = this.limits.ofFailures(this.addresses.of(request.raw));
    if (await account.limiter.take(account)) return;
    tell(account, reply);
    throw rateLimited(account);
  }

  /** Counts a key or token of which nothing could be said now: whoever guesses sends those, too. */
  doubted(request: FastifyRequest): void {
    const account = this.limits.ofFailures(this.addresses.of(request.raw));
    void account.limiter.take(account);
  }

  /** @param costOfRefusal what it counts as where it may not be spent */
  private spend(account: Account, cost: number, reply: FastifyReply, costOfRefusal = 0): Promise<void> | null {
    const may = account.limiter.take(account, cost);
    if (may !== true) return this.spendLater(account, cost, may, reply, costOfRefusal);
    tell(account, reply);
    return null;
  }

  private async spendLater(
    account: Account,
    cost: number,
    may: boolean | Promise<boolean>,
    reply: FastifyReply,
    costOfRefusal: number,
  ): Promise<void> {
    if (!(await may)) {
      if (costOfRefusal > 0) await account.limiter.take(account, costOfRefusal);
      return this.overLimit(account, cost, reply);
    }
    tell(account, reply);
  }

  private async overLimit(account: Account, cost: number, reply: FastifyReply): Promise<never> {
    tell(account, reply);
    throw rateLimited(account, cost);
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

  private isNoGuess(authorization: string): boolean {
    if (TOKEN.test(authorization)) return true;
    const secret = secretOf(authorization);
    return this.proven.has(secret) || this.provenBefore.has(secret);
  }

  private prove(secret: string): void {
    if (this.proven.has(secret)) return;
    if (this.proven.size >= PROVEN_MAX / 2) [this.provenBefore, this.proven] = [this.proven, new Set()];
    this.proven.add(secret);
  }
}

/** A key as it is, in however many ways it can be sent: spaces are of no number. */
const secretOf = (authorization: string): string => authorization.replace(SCHEME, '');

function tell(account: Account, reply: FastifyReply): void {
  const { limiter } = account;
  if (!limiter.isOn) return;
  const { name, windowSeconds } = limiter.limit;
  const remaining = limiter.remaining(account);
  void reply
    .header('RateLimit-Policy', `"${name}";q=${limiter.capacity};w=${windowSeconds}`)
    .header('RateLimit', `"${name}";r=${remaining};t=${limiter.resetSeconds(remaining)}`);
}
