import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { RateLimiter, TokenLeases, type Lease, type RateLimit } from './rate-limiter.js';

/** One bucket for each name, by the arithmetic of lease-tokens.lua and a clock that the test moves. */
class MemoryLeases extends TokenLeases {
  readonly fullAtMs = new Map<string, number>();
  asked = 0;
  isAway = false;

  constructor(private readonly clock: { ms: number }) {
    super();
  }

  override async lease(
    bucket: string,
    { capacityMs, owedMs, wantedMs, leastMs }: Parameters<TokenLeases['lease']>[1],
  ): Promise<Lease> {
    this.asked += 1;
    if (this.isAway) throw new Error('away');
    const fills = Math.max(0, (this.fullAtMs.get(bucket) ?? 0) - this.clock.ms) + owedMs;
    const there = Math.max(0, Math.min(wantedMs, capacityMs - fills));
    const grantedMs = there < leastMs ? 0 : there;
    this.fullAtMs.set(bucket, this.clock.ms + fills + grantedMs);
    return { grantedMs, fillsForMs: fills + grantedMs };
  }
}

const LIMIT: RateLimit = { name: 'player', perSecond: 50, windowSeconds: 4 };

function setUp(limit = LIMIT, processes = 1, accountsMax?: number) {
  const clock = { ms: 0 };
  const leases = new MemoryLeases(clock);
  const limiters = Array.from(
    { length: processes },
    () => new RateLimiter(limit, leases, { now: () => clock.ms, ...(accountsMax ? { accountsMax } : {}) }),
  );
  return { clock, leases, limiters, limiter: limiters[0]! };
}

async function passed(limiter: RateLimiter, times: number, cost = 1): Promise<number> {
  let count = 0;
  for (let i = 0; i < times; i += 1) if (await limiter.take(limiter.account('ada'), cost)) count += 1;
  return count;
}

describe('a rate limiter', () => {
  it('lets a whole window through at once, and then as much as fills again', async () => {
    const { clock, limiter } = setUp();
    expect(await passed(limiter, 300)).toBe(200);
    clock.ms += 1000;
    expect(await passed(limiter, 300)).toBe(50);
    clock.ms += 60_000;
    expect(await passed(limiter, 300)).toBe(200);
  });

  it('asks the store once for each chunk, and not at all for those who come seldom', async () => {
    const { leases, limiter } = setUp({ name: 'key', perSecond: 10_000, windowSeconds: 4 });
    expect(limiter.take(limiter.account('ada'))).toBe(true);
    expect(leases.asked).toBe(0);
    expect(await passed(limiter, 20_000)).toBe(20_000);
    expect(leases.asked).toBeLessThan(50);
  });

  it('takes what a batch costs, whole or not at all', async () => {
    const { limiter } = setUp();
    expect(await passed(limiter, 1, 150)).toBe(1);
    expect(await passed(limiter, 1, 100)).toBe(0);
    expect(await passed(limiter, 100)).toBe(50);
  });

  it('lets a batch that is larger than the bucket pass a full one, and has it paid off', async () => {
    const { clock, limiter } = setUp();
    expect(await passed(limiter, 1, 1000)).toBe(1);
    for (let second = 0; second < 16; second += 1) {
      expect(await passed(limiter, 5)).toBe(0);
      clock.ms += 1000;
    }
    clock.ms += 1000;
    expect(await passed(limiter, 5)).toBeGreaterThan(0);
  });

  it('says what is left, and when to come again', async () => {
    const { clock, limiter } = setUp();
    const ada = limiter.account('ada');
    expect([limiter.remaining(ada), limiter.resetSeconds(limiter.remaining(ada))]).toEqual([200, 0]);
    await passed(limiter, 80);
    expect([limiter.remaining(ada), limiter.resetSeconds(limiter.remaining(ada))]).toEqual([120, 2]);
    await passed(limiter, 300);
    expect([limiter.remaining(ada), limiter.retryAfterSeconds(ada)]).toEqual([0, 1]);
    expect(limiter.retryAfterSeconds(ada, 150)).toBe(3);
    clock.ms += 1000;
    expect(limiter.remaining(ada)).toBe(50);
    expect(limiter.has(ada)).toBe(true);
  });

  it('counts each account for itself, and none where the limit is 0', async () => {
    const { limiter } = setUp();
    await passed(limiter, 300);
    expect(await limiter.take(limiter.account('bob'))).toBe(true);
    const off = setUp({ ...LIMIT, perSecond: 0 }).limiter;
    expect(await passed(off, 1000, 1000)).toBe(1000);
  });

  it('goes on by itself while the store is away, asking it once a second', async () => {
    const { clock, leases, limiter } = setUp();
    leases.isAway = true;
    expect(await passed(limiter, 300)).toBe(200);
    expect(leases.asked).toBe(1);
    clock.ms += 500;
    expect(await passed(limiter, 300)).toBe(25);
    expect(leases.asked).toBe(1);
    leases.isAway = false;
    clock.ms += 600;
    expect(await passed(limiter, 300)).toBeGreaterThan(20);
    expect(leases.asked).toBeGreaterThan(1);
  });

  it('does not ask for each request of a flood', async () => {
    const { clock, leases, limiter } = setUp();
    await passed(limiter, 300);
    const before = leases.asked;
    for (let ms = 0; ms < 1000; ms += 1) {
      await passed(limiter, 5);
      clock.ms += 1;
    }
    expect(leases.asked - before).toBeLessThanOrEqual(51);
  });

  it('holds nothing for callers who have gone on', async () => {
    const { leases, limiter } = setUp({ name: 'key', perSecond: 50, windowSeconds: 4 });
    const crowd = Array.from({ length: 100 }, async () => limiter.take(limiter.account('ada')));
    expect(await Promise.all(crowd)).not.toContain(false);
    // Until the next call, and that comes back.
    for (let at = 0; at < 10; at += 1) await limiter.take(limiter.account('ada'));
    const filled = leases.fullAtMs.get('key:ada')! / (1000 / 50);
    expect(filled - 110).toBeLessThanOrEqual(limiter.chunk);
  });

  it('remembers no more accounts than it may', async () => {
    const { limiter } = setUp(LIMIT, 1, 1000);
    for (let i = 0; i < 5000; i += 1) limiter.account(`player-${i}`);
    expect(limiter.size).toBeLessThanOrEqual(1000);
  });

  it('forgets nobody who is in use', async () => {
    const { limiter } = setUp(LIMIT, 1, 100);
    await passed(limiter, 300);
    for (let i = 0; i < 1000; i += 1) {
      limiter.account(`player-${i}`);
      expect(await passed(limiter, 1)).toBe(0);
    }
  });

  // Whatever many processes are asked for, and whenever: in no stretch do they let through more than is said.
  it('never lets through more than the limit and the stated overshoot, in any stretch of time', async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 400 }),
      by: fc.nat(4),
      times: fc.integer({ max: 120, min: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(1, 7, 50, 900),
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 60 }),
        async (processes, perSecond, windowSeconds, steps) => {
          const { clock, limiters } = setUp({ name: 'x', perSecond, windowSeconds }, processes);
          const log: { ms: number; count: number }[] = [];
          for (const { waitMs, by, times } of steps) {
            clock.ms += waitMs;
            log.push({ ms: clock.ms, count: await passed(limiters[by % processes]!, times) });
          }
          const { chunk } = limiters[0]!;
          for (let from = 0; from < log.length; from += 1) {
            let count = 0;
            for (let to = from; to < log.length; to += 1) {
              count += log[to]!.count;
              const seconds = (log[to]!.ms - log[from]!.ms) / 1000;
              const most = perSecond * (windowSeconds + seconds) + processes * chunk * (1 + seconds / 60);
              expect(count).toBeLessThanOrEqual(Math.ceil(most));
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
