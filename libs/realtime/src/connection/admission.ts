import type { IncomingMessage } from 'node:http';
import { assertWithinLimit, rateLimited, RateLimits, type Identity } from '@laddercast/identity';
import { LadderError, validationFailed } from '@laddercast/domain';
import { ClientAddresses, metrics } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { LiveOptions } from '../live-options.js';
import { LiveOrigins } from './live-origins.js';
import type { LiveSocket } from './live-socket.js';

/** Who may open how many sockets, and subscribe how often: by identity, and without one by address. */
@Injectable()
export class Admission {
  /** The sockets of each party, and the party of each socket. */
  private readonly socketsOf = new Map<string, Set<LiveSocket>>();
  private readonly partyOf = new Map<LiveSocket, string>();

  constructor(
    private readonly limits: RateLimits,
    private readonly addresses: ClientAddresses,
    private readonly origins: LiveOrigins,
    private readonly options: LiveOptions,
  ) {}

  addressOf(request: IncomingMessage): string {
    return this.addresses.of(request);
  }

  /** Why a request for a socket is refused before there is one, or null. Each counts as one request of its address. */
  async refusalOf(request: IncomingMessage): Promise<LadderError | null> {
    if (!this.origins.admits(request)) {
      return new LadderError(
        'FORBIDDEN',
        `Pages of ${request.headers.origin!} may not open sockets here (CORS_ORIGINS).`,
      );
    }
    const unknown = [...new URL(request.url!, 'ws://live').searchParams.keys()].filter((name) => name !== 'token');
    if (unknown.length > 0) {
      return validationFailed(unknown.map((name) => ({ pointer: `?${name}`, message: 'is not a known parameter' })));
    }
    return assertWithinLimit(this.limits.ofAddress(this.addressOf(request))).then(
      () => null,
      (error: LadderError) => error,
    );
  }

  /**
   * Counts a socket with the party that it belongs to now, and with no other.
   * @throws RATE_LIMITED when that one has as many as it may
   */
  enter(socket: LiveSocket): void {
    const { kind } = socket.identity;
    const party = nameOf(socket);
    if (this.partyOf.get(socket) === party) return;
    this.leave(socket);
    const sockets = this.socketsOf.get(party) ?? new Set();
    const { socketsPerKeyMax, socketsPerPlayerMax, socketsPerAddressMax } = this.options;
    const most = { key: socketsPerKeyMax, player: socketsPerPlayerMax, anonymous: socketsPerAddressMax }[kind];
    if (sockets.size >= most) {
      metrics.rateLimited.inc({ limit: 'sockets' });
      const detail = `${PARTIES[kind]} may have at most ${most} sockets here; close others, or try again later.`;
      throw new LadderError('RATE_LIMITED', detail, { limit: 'sockets', retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.socketsOf.set(party, sockets.add(socket));
    this.partyOf.set(socket, party);
  }

  leave(socket: LiveSocket): void {
    const party = this.partyOf.get(socket);
    if (party === undefined) return;
    this.partyOf.delete(socket);
    const sockets = this.socketsOf.get(party)!;
    sockets.delete(socket);
    if (sockets.size === 0) this.socketsOf.delete(party);
  }

  /**
   * Counts one more subscription, or one that takes the place of another.
   * @throws RATE_LIMITED, SUBSCRIPTION_LIMIT
   */
  async subscribes(socket: LiveSocket, id: string): Promise<void> {
    const { identity, address } = socket;
    const { subscriptionsPerPlayerMax, subscriptionsSharedBy } = this.options;
    const most = subscriptionsPerPlayerMax * (identity.kind === 'player' ? 1 : subscriptionsSharedBy);
    let has = 0;
    for (const one of this.socketsOf.get(nameOf(socket)) ?? []) has += one.subscriptions.size;
    if (has >= most && !socket.subscriptions.has(id)) {
      metrics.rateLimited.inc({ limit: 'subscriptions' });
      const detail = `${PARTIES[identity.kind]} may have at most ${most} subscriptions here; end others.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    await assertWithinLimit(this.limits.of(identity, address));
  }

  /** A caller who guesses is not even looked up any more. @throws RATE_LIMITED */
  assertMayAuthenticate({ address }: LiveSocket): void {
    const failures = this.limits.ofFailures(address);
    if (!failures.limiter.has(failures)) throw rateLimited(failures);
  }

  /** Counts a key or token that turned out to be wrong. @throws RATE_LIMITED */
  async failed({ address }: LiveSocket): Promise<void> {
    await assertWithinLimit(this.limits.ofFailures(address));
  }

  /** Counts a key or token that could not be checked: guesses may be among them. */
  doubted({ address }: LiveSocket): void {
    const failures = this.limits.ofFailures(address);
    void failures.limiter.take(failures);
  }
}

const RETRY_AFTER_SECONDS = 5;
const PARTIES: Record<Identity['kind'], string> = {
  key: 'An API key',
  player: 'A player',
  anonymous: 'Without identity an address',
};

const nameOf = ({ identity, party }: LiveSocket): string =>
  identity.kind === 'key' ? `key:${identity.keyId}` : party!;
