import { RateLimits, type Identity } from '@laddercast/identity';
import type { BoardCatalog } from '@laddercast/ledger';
import type { ClientAddresses, TokenLeases } from '@laddercast/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { RequestMeter } from './request-meter.js';

const KEY: Identity = { kind: 'key', keyId: 'game', scopes: ['scores:write'] };
const PLAYER = { kind: 'player', playerId: 'ada' } as Identity;
const SECRET = 'Bearer lk_of-the-game-server';

/** Redis is away: the process counts for itself. */
const NO_LEASES: TokenLeases = { lease: () => Promise.reject(new Error('It is away.')) };

const reply = {
  ...{ header: () => reply, status: () => reply, type: () => reply, send: () => reply, request: { id: '1' } },
} as unknown as FastifyReply;

const request = (authorization: string, more: object = {}): FastifyRequest =>
  ({
    ...{ headers: { authorization }, raw: { headers: {}, socket: {} }, url: '/v1/scores' },
    routeOptions: { url: '/v1/scores', config: { identifies: true } },
    ...more,
  }) as unknown as FastifyRequest;

function meterOf(rates: { playerPerSecond?: number; failedIdentityPerSecond?: number }) {
  const limits = new RateLimits(NO_LEASES, {
    ...{ keyPerSecond: 0, playerPerSecond: 0, addressPerSecond: 0, failedIdentityPerSecond: 0, windowSeconds: 50 },
    ...rates,
  });
  const addresses = { of: () => '192.0.2.1', trustsAnybody: true } as unknown as ClientAddresses;
  return { limits, meter: new RequestMeter(limits, addresses, {} as BoardCatalog) };
}

/** Whether a request is let in, where so many from its address were wrong that no other is looked up. */
async function isLetIn({ limits, meter }: ReturnType<typeof meterOf>, authorization: string): Promise<boolean> {
  const failures = limits.ofFailures('192.0.2.1');
  while (await failures.limiter.take(failures));
  let isIn = false;
  meter.arrives(request(authorization), reply, () => (isIn = true));
  return isIn;
}

describe('RequestMeter', () => {
  it('lets a key in that proved to be good, in whatever way it is sent, and no other', async () => {
    const metered = meterOf({ failedIdentityPerSecond: 1 });
    await metered.meter.identified(KEY, request('bearer   lk_of-the-game-server'), reply);
    expect(await isLetIn(metered, SECRET)).toBe(true);
    expect(await isLetIn(metered, 'Bearer lk_a-guess')).toBe(false);
    await metered.meter.failed(request('BEARER  lk_of-the-game-server'), reply).catch(() => undefined);
    expect(await isLetIn(metered, SECRET)).toBe(false);
  });

  it('forgets no key for what a player sends', async () => {
    const metered = meterOf({ failedIdentityPerSecond: 1 });
    await metered.meter.identified(KEY, request(SECRET), reply);
    for (let spaces = 1; spaces <= 20_001; spaces += 1) {
      await metered.meter.identified(PLAYER, request(`Bearer${' '.repeat(spaces % 50)}${spaces}.b.c`), reply);
    }
    expect(await isLetIn(metered, SECRET)).toBe(true);
  });

  it('counts a batch that may not be sent as the one request that it was to read it', async () => {
    const { meter } = meterOf({ playerPerSecond: 1 });
    const batch = request('Bearer a.b.c', { body: { submissions: Array.from({ length: 40 }, () => ({})) } });
    const isRefused = async (counting: Promise<void> | null): Promise<boolean> => {
      try {
        await counting;
        return false;
      } catch {
        return true;
      }
    };
    // Of fifty the first takes forty, and what is left goes for reading others.
    expect(await isRefused(meter.identified(PLAYER, batch, reply))).toBe(false);
    expect(await isRefused(meter.read(PLAYER, batch, reply))).toBe(false);
    let read = 0;
    while (read < 30 && !(await isRefused(meter.identified(PLAYER, batch, reply)))) {
      expect(await isRefused(meter.read(PLAYER, batch, reply))).toBe(true);
      read += 1;
    }
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(15);
  });
});
