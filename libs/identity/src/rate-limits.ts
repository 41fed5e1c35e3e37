import { LadderError } from '@laddercast/domain';
import { metrics, RateLimiter, type Account, type TokenLeases } from '@laddercast/platform';
import type { Identity } from './identity.js';

/** How much each caller may do in a second, over all processes; 0: no limit. */
export interface RateLimitRates {
  keyPerSecond: number;
  playerPerSecond: number;
  addressPerSecond: number;
  failedIdentityPerSecond: number;
  windowSeconds: number;
}

/** Probes of `/health` have a bucket of their own, so that other requests from their address cannot make them fail. */
const PROBES_PER_SECOND = 20;

/** The rate limits of everyone who calls: keys and players by who they are, all others by their address. */
export class RateLimits {
  private readonly keys: RateLimiter;
  private readonly players: RateLimiter;
  private readonly addresses: RateLimiter;
  private readonly failures: RateLimiter;
  private readonly probes: RateLimiter;

  constructor(leases: TokenLeases, rates: RateLimitRates) {
    const { windowSeconds } = rates;
    const limiter = (name: string, perSecond: number): RateLimiter =>
      new RateLimiter({ name, perSecond, windowSeconds }, leases);
    this.keys = limiter('key', rates.keyPerSecond);
    this.players = limiter('player', rates.playerPerSecond);
    this.addresses = limiter('address', rates.addressPerSecond);
    this.failures = limiter('failed-identity', rates.failedIdentityPerSecond);
    this.probes = limiter('probe', rates.addressPerSecond === 0 ? 0 : PROBES_PER_SECOND);
  }

  /** The account of a caller: its identity, or without one its address. */
  of(identity: Identity, address: string): Account {
    if (identity.kind === 'key') return this.keys.account(identity.keyId);
    return identity.kind === 'player' ? this.players.account(identity.playerId) : this.ofAddress(address);
  }

  ofAddress(address: string): Account {
    return this.addresses.account(address);
  }

  ofProbes(address: string): Account {
    return this.probes.account(address);
  }

  /** The account for wrong keys and tokens. */
  ofFailures(address: string): Account {
    return this.failures.account(address);
  }
}

/** Counts a request over the limit, and makes its refusal. */
export function rateLimited(account: Account, cost = 1): LadderError {
  const { limiter } = account;
  const { name, perSecond } = limiter.limit;
  metrics.rateLimited.inc({ limit: name });
  return new LadderError('RATE_LIMITED', DETAILS[name]!(perSecond), {
    limit: name,
    retryAfterSeconds: limiter.retryAfterSeconds(account, cost),
  });
}

const DETAILS: Record<string, (perSecond: number) => string> = {
  key: (perSecond) => `This API key may do ${perSecond} requests or submissions a second.`,
  player: (perSecond) => `A player may do ${perSecond} requests, submissions or subscriptions a second.`,
  address: (perSecond) => `Without identity an address may do ${perSecond} requests a second.`,
  'failed-identity': () => 'Too many wrong keys or tokens came from this address; try again later.',
  probe: (perSecond) => `An address may ask for the health ${perSecond} times a second.`,
};

/**
 * Spends from an account, and asks the other processes only now and then.
 * @throws RATE_LIMITED
 */
export async function assertWithinLimit(account: Account, cost = 1): Promise<void> {
  const may = account.limiter.take(account, cost);
  if (may !== true && !(await may)) throw rateLimited(account, cost);
}
