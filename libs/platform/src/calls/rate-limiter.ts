import { monotonicMs } from '../clock.js';

/** How often somebody may do something: a bucket that fills by `perSecond`, up to `perSecond × windowSeconds`. */
export interface RateLimit {
  /** For the headers, the metric and the keys: `key`, `player`, `address` … */
  name: string;
  /** 0: there is no limit. */
  perSecond: number;
  windowSeconds: number;
}

/** What a bucket answers, in milliseconds of filling, so that only the store's clock counts. */
export interface Lease {
  grantedMs: number;
  /** Until the bucket is full again. */
  fillsForMs: number;
}

/**
 * Where the buckets of all processes stand. A bucket that was never asked is full.
 */
export abstract class TokenLeases {
  /**
   * Takes `owedMs` in any case, and then as much of `wantedMs` as there is, or nothing if that is less than `leastMs`.
   * @param capacityMs how long an empty bucket takes to fill
   * @throws when the store does not answer
   */
  abstract lease(
    bucket: string,
    amounts: { capacityMs: number; owedMs: number; wantedMs: number; leastMs: number },
  ): Promise<Lease>;
}

/** What this process knows of one bucket. */
export interface Account {
  readonly limiter: RateLimiter;
  readonly who: string;
  /** What this process may still spend without asking. */
  tokens: number;
  /** Spent, or among the tokens here, and not yet taken from the bucket. */
  owed: number;
  /** When the bucket will be full again as far as is known, on the monotonic clock. */
  fullAtMs: number;
  /** The bucket had less than was wanted: until then, only as much is asked for as it surely has. */
  askAgainAtMs: number;
  asking: Promise<void> | null;
  /** How much the callers who wait for the answer want to spend. */
  waitingFor: number;
}

export interface RateLimiterOptions {
  /** The most accounts that are remembered; beyond, the least recently used start anew. */
  accountsMax?: number;
  /** For tests: milliseconds that only move forward. */
  now?: () => number;
}

/** A process is ahead of the bucket by a tenth of a second's tokens at most: see {@link RateLimiter.chunk}. */
const CHUNKS_PER_SECOND = 10;
const ACCOUNTS_MAX = 100_000;
/** An account that nobody used for so long may be forgotten, and starts anew with one chunk. */
const FORGOTTEN_AFTER_MS = 60_000;
/** While the store is away each process counts for itself, and tries it again after so long. */
const STORE_AWAY_FOR_MS = 1000;
const ASK_EMPTY_EVERY_MS = 20;
const ROUNDS_MAX = 4;

/**
 * Limits rates over all processes: each takes tokens from the shared bucket a chunk at a time and spends them in
 * memory, so most calls cost one look into a map.
 *
 * In any T seconds all N processes together let through at most `perSecond × (windowSeconds + T) + N × chunk × (1 + T /
 * 60)`: the first term is the limit, the second the overshoot: a process holds at most one chunk (or what its waiting
 * callers want), and gives an account that is new to it one chunk before it asks. A batch that is larger than the
 * bucket passes a full one, and is paid off afterwards. While the store is away the limit holds for each process by
 * itself. More than `accountsMax` accounts in use at once start anew more often than each minute.
 */
export class RateLimiter {
  /** The most tokens that this process holds for one account. */
  readonly chunk: number;
  /** The most tokens there are at once. */
  readonly capacity: number;
  private young = new Map<string, Account>();
  private old = new Map<string, Account>();
  private turnedAtMs: number;
  private storeAwayUntilMs = -Infinity;
  private readonly accountsMax: number;
  private readonly now: () => number;

  constructor(
    readonly limit: RateLimit,
    private readonly leases: TokenLeases,
    { accountsMax = ACCOUNTS_MAX, now = monotonicMs }: RateLimiterOptions = {},
  ) {
    this.chunk = Math.max(1, limit.perSecond / CHUNKS_PER_SECOND);
    this.capacity = Math.max(1, limit.perSecond * limit.windowSeconds);
    this.accountsMax = accountsMax;
    this.now = now;
    this.turnedAtMs = now();
  }

  /** Whether there is a limit at all. */
  get isOn(): boolean {
    return this.limit.perSecond > 0;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  account(who: string): Account {
    const known = this.young.get(who);
    if (known) return known;
    if (this.young.size >= this.accountsMax / 2 || this.now() - this.turnedAtMs > FORGOTTEN_AFTER_MS) this.turn();
    const account = this.old.get(who) ?? this.open(who);
    this.old.delete(who);
    this.young.set(who, account);
    return account;
  }

  /**
   * Spends if there is enough, and says whether it did; a promise only where the store has to be asked first. A refusal
   * spends nothing.
   */
  take(account: Account, cost = 1): boolean | Promise<boolean> {
    if (account.tokens >= cost) {
      account.tokens -= cost;
      if (account.tokens < this.chunk / 2 && account.asking === null) this.askAhead(account);
      return true;
    }
    return this.isOn ? this.takeLater(account, cost) : true;
  }

  /** Gives back one token that was just spent, so that it can be spent again together with more. */
  giveBack(account: Account): void {
    account.tokens += 1;
  }

  /** Whether a token is there, as far as this process knows; spends nothing and asks nobody. */
  has(account: Account): boolean {
    return !this.isOn || account.tokens >= 1 || this.mayGet(account, 1 - account.tokens);
  }

  /** What is left: in the chunk, and in the bucket as far as is known. */
  remaining(account: Account): number {
    return Math.max(0, Math.floor(Math.min(this.capacity, account.tokens + this.level(account))));
  }

  /** Seconds until the bucket is full again from what {@link remaining} says, if nothing is spent. */
  resetSeconds(remaining: number): number {
    return Math.ceil((this.capacity - remaining) / this.limit.perSecond);
  }

  /** Seconds, at least one, until so much can be spent. */
  retryAfterSeconds(account: Account, cost = 1): number {
    const missing = Math.min(cost, this.capacity) - account.tokens - this.level(account);
    return Math.max(1, Math.ceil(missing / this.limit.perSecond));
  }

  private async takeLater(account: Account, cost: number): Promise<boolean> {
    const least = Math.min(cost, this.capacity);
    // Other callers may spend what an answer brought; after some rounds there is too little for all of them.
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      if (account.tokens >= least) {
        this.spend(account, cost);
        return true;
      }
      if (account.asking === null && !this.mayGet(account, least - account.tokens)) return false;
      account.waitingFor += cost;
      account.asking ??= this.ask(account, least);
      await account.asking;
      account.waitingFor -= cost;
    }
    return false;
  }

  /** The bucket learns at once what a batch costs beyond its capacity: all processes wait until that is paid off. */
  private spend(account: Account, cost: number): void {
    const more = Math.max(0, cost - account.tokens);
    account.tokens -= cost - more;
    account.owed += more;
    if (more > 0) account.asking ??= this.ask(account, 0);
  }

  /**
   * Whether asking is worth it: other processes only take from the bucket, so it never has more than this one knows.
   */
  private mayGet(account: Account, count: number): boolean {
    const { askAgainAtMs } = account;
    const level = this.level(account);
    return level >= count && (level >= this.chunk || this.now() >= askAgainAtMs);
  }

  private askAhead(account: Account): void {
    if (this.isOn && this.now() >= account.askAgainAtMs) account.asking = this.ask(account, 0);
  }

  private async ask(account: Account, least: number): Promise<void> {
    const { owed, tokens } = account;
    const msPerToken = 1000 / this.limit.perSecond;
    const wanted = Math.max(this.chunk, Math.min(this.capacity, account.waitingFor)) - tokens;
    const leastMs = Math.ceil(Math.max(0, least - tokens) * msPerToken);
    const amounts = {
      capacityMs: Math.ceil(this.capacity * msPerToken),
      owedMs: Math.ceil(owed * msPerToken),
      wantedMs: Math.max(leastMs, Math.floor(wanted * msPerToken)),
      leastMs,
    };
    const { grantedMs, fillsForMs } = await this.lease(account, amounts);
    account.owed -= owed;
    account.tokens += grantedMs / msPerToken;
    account.fullAtMs = this.now() + fillsForMs;
    account.askAgainAtMs = grantedMs < amounts.wantedMs ? this.now() + ASK_EMPTY_EVERY_MS : -Infinity;
    account.asking = null;
  }

  private async lease(account: Account, amounts: Parameters<TokenLeases['lease']>[1]): Promise<Lease> {
    if (this.now() < this.storeAwayUntilMs) return this.leaseHere(account, amounts);
    // One call tries; meanwhile the others count for themselves.
    if (this.storeAwayUntilMs !== -Infinity) this.storeAwayUntilMs = this.now() + STORE_AWAY_FOR_MS;
    try {
      const lease = await this.leases.lease(`${this.limit.name}:${account.who}`, amounts);
      this.storeAwayUntilMs = -Infinity;
      return lease;
    } catch {
      this.storeAwayUntilMs = this.now() + STORE_AWAY_FOR_MS;
      return this.leaseHere(account, amounts);
    }
  }

  /** What the shared bucket would answer if only this process asked it. */
  private leaseHere(
    account: Account,
    { capacityMs, owedMs, wantedMs, leastMs }: Parameters<TokenLeases['lease']>[1],
  ): Lease {
    const fillsForMs = Math.max(0, account.fullAtMs - this.now()) + owedMs;
    const there = Math.max(0, Math.min(wantedMs, Math.floor(capacityMs - fillsForMs)));
    const grantedMs = there < leastMs ? 0 : there;
    return { grantedMs, fillsForMs: fillsForMs + grantedMs };
  }

  /** What the bucket holds at most, as far as is known; negative while something is paid off. */
  private level({ fullAtMs, owed }: Account): number {
    return this.capacity - owed - (Math.max(0, fullAtMs - this.now()) * this.limit.perSecond) / 1000;
  }

  private open(who: string): Account {
    const tokens = this.isOn ? Math.min(this.chunk, this.capacity) : Infinity;
    const owed = this.isOn ? tokens : 0;
    return {
      limiter: this,
      who,
      tokens,
      owed,
      fullAtMs: -Infinity,
      askAgainAtMs: -Infinity,
      asking: null,
      waitingFor: 0,
    };
  }

  private turn(): void {
    this.old = this.young;
    this.young = new Map();
    this.turnedAtMs = this.now();
  }
}
