import type { IncomingMessage } from 'node:http';
import { assertWithinLimit, Authenticator, rateLimited, RateLimits, type Identity } from '@laddercast/identity';
import { LadderError, validationFailed } from '@laddercast/domain';
import { ClientAddresses, metrics } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { LiveOptions } from '../live-options.js';
import { LiveOrigins } from './live-origins.js';
import type { LiveSocket } from './live-socket.js';
import { asLadderError } from '../protocol/problems.js';
import { tokenOf } from './token-of-request.js';

/** Who asked for a socket. */
interface Arrival {
  readonly identity: Identity;
  /** The token of that identity; null: there is none. */
  readonly token: string | null;
  /** Why there is none, though one was named. */
  readonly error?: unknown;
}

const ANONYMOUS: Arrival = { identity: { kind: 'anonymous' }, token: null };

/** Who may open how many sockets, and subscribe how often: by identity, and without one by address. */
@Injectable()
export class Admission {
  /** The sockets of each party, and the party of each socket. */
  private readonly socketsOf = new Map<string, Set<LiveSocket>>();
  private readonly partyOf = new Map<LiveSocket, string>();
  private readonly arrivals = new WeakMap<IncomingMessage, Arrival>();
  /** How many of each address wait until it is known who they are. */
  private readonly unknownOf = new Map<string, number>();

  constructor(
    private readonly limits: RateLimits,
    private readonly authenticator: Authenticator,
    private readonly addresses: ClientAddresses,
    private readonly origins: LiveOrigins,
    private readonly options: LiveOptions,
  ) {}

  addressOf(request: IncomingMessage): string {
    return this.addresses.of(request);
  }

  /**
   * Why a request for a socket is refused before there is one, or null. Each counts as one request of its party: whose
   * key or token is not good, of its address.
   */
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
    const address = this.addressOf(request);
    try {
      const arrival = await this.find(request, address);
      this.arrivals.set(request, arrival);
      await assertWithinLimit(this.limits.of(arrival.identity, address));
      return null;
    } catch (error) {
      return asLadderError(error);
    }
  }

  /** Who is behind a socket that was not refused. */
  arrivalOf(request: IncomingMessage): Arrival {
    return this.arrivals.get(request) ?? ANONYMOUS;
  }

  /**
   * The identity behind a token.
   * @throws UNAUTHENTICATED, RATE_LIMITED, and where it cannot be checked now
   */
  async identify(token: string, address: string): Promise<Identity> {
    if (!this.authenticator.isNoGuess(token)) this.assertMayAuthenticate(address);
    try {
      return await this.authenticator.authenticate(token);
    } catch (error) {
      const failures = this.limits.ofFailures(address);
      if (asLadderError(error).code === 'UNAUTHENTICATED') await assertWithinLimit(failures);
      // It could not be checked: guesses may be among them.
      else void failures.limiter.take(failures);
      throw error;
    }
  }

  private async find(request: IncomingMessage, address: string): Promise<Arrival> {
    try {
      const token = tokenOf(request);
      return token === null ? ANONYMOUS : { identity: await this.identifyFew(token, address), token };
    } catch (error) {
      return { ...ANONYMOUS, error };
    }
  }

  /** As {@link identify}, of no more at a time than the address may have sockets. */
  private async identifyFew(token: string, address: string): Promise<Identity> {
    const unknown = this.unknownOf.get(address) ?? 0;
    if (unknown >= this.options.socketsPerAddressMax) throw tooManySockets('anonymous', unknown);
    this.unknownOf.set(address, unknown + 1);
    try {
      return await this.identify(token, address);
    } finally {
      const left = this.unknownOf.get(address)! - 1;
      if (left > 0) this.unknownOf.set(address, left);
      else this.unknownOf.delete(address);
    }
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
    if (sockets.size >= most) throw tooManySockets(kind, most);
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
  private assertMayAuthenticate(address: string): void {
    const failures = this.limits.ofFailures(address);
    if (!failures.limiter.has(failures)) throw rateLimited(failures);
  }
}

const RETRY_AFTER_SECONDS = 5;
const PARTIES: Record<Identity['kind'], string> = {
  key: 'An API key',
  player: 'A player',
  anonymous: 'Without identity an address',
};

function tooManySockets(kind: Identity['kind'], most: number): LadderError {
  metrics.rateLimited.inc({ limit: 'sockets' });
  const detail = `${PARTIES[kind]} may have at most ${most} sockets here; close others, or try again later.`;
  return new LadderError('RATE_LIMITED', detail, { limit: 'sockets', retryAfterSeconds: RETRY_AFTER_SECONDS });
}

const nameOf = ({ identity, party }: LiveSocket): string =>
  identity.kind === 'key' ? `key:${identity.keyId}` : party!;
