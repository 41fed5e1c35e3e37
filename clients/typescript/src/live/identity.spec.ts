import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playerToken } from '../../test/fake-http.js';
import { delta } from '../../test/fake-sockets.js';
import { settled } from '../../test/stepped-clock.js';
import { Watching } from '../../test/watching.js';

const DAY_MS = 86_400_000;
/** A timer that is to last longer ends at once, in browsers and in Node. */
const TIMER_MAX_MS = 2 ** 31 - 1;

let w: Watching;
beforeEach(() => {
  w = new Watching();
});
afterEach(() => w.close());

describe('an identity', () => {
  it('is renewed on the open socket, 30 s before it ends', async () => {
    let asked = 0;
    await w.watching({ token: () => playerToken(`ada${(asked += 1)}`, w.clock.now() + 100_000) });
    for (let at = 0; at < 70_000; at += 5000) {
      expect(w.sockets.last.heard()).toEqual([]);
      w.sockets.last.say({ type: 'ping' });
      await w.clock.step(5000);
    }
    expect(w.sockets.last.heard()).toEqual([{ type: 'authenticate', token: expect.stringMatching(/^ey/) as string }]);
    expect(asked).toBe(2);
  });

  it('that is refused (4401) is asked for anew, and then it connects at once', async () => {
    let asked = 0;
    await w.watching({ token: () => `t${(asked += 1)}` });
    w.sockets.last.break(4401);
    await settled();
    expect(w.sockets.all).toHaveLength(2);
    expect(w.sockets.last.protocols[1]).toBe('bearer.t2');
    expect(w.problems).toEqual([]);
  });

  it('that is refused twice in a row stops the connection: unauthorized, fatal', async () => {
    let asked = 0;
    await w.watching({ token: () => `t${(asked += 1)}` });
    w.sockets.last.break(4401);
    await settled();
    w.sockets.last.accept();
    w.sockets.last.say({ type: 'error', problem: { code: 'UNAUTHENTICATED', status: 401, title: 'No' } });
    w.sockets.last.break(4401);
    await w.clock.step(300_000);
    expect(w.sockets.all).toHaveLength(2);
    expect(w.problems).toEqual([
      { code: 'UNAUTHENTICATED', fatal: false },
      { code: 'unauthorized', fatal: true },
    ]);
  });

  it('that was good in between may be refused again', async () => {
    await w.watching({ token: () => 'token' });
    for (let round = 0; round < 3; round += 1) {
      w.sockets.last.break(4401);
      await settled();
      w.sockets.last.accept();
      w.sockets.last.say(delta('1', 5 + round, 6 + round));
    }
    expect(w.sockets.all).toHaveLength(4);
    expect(w.problems).toEqual([]);
  });

  it('that cannot be had is a loss: it is asked for again later', async () => {
    const given = [Promise.reject(new Error('offline')), Promise.resolve('token')];
    given[0]!.catch(() => undefined);
    w.watchTop(w.ladderOf({ token: () => given.shift()! }));
    await settled();
    expect(w.problems).toEqual([{ code: 'UNREACHABLE', fatal: false }]);
    await w.clock.step(500);
    expect(w.sockets.last.protocols[1]).toBe('bearer.token');
  });

  it('that is refused after it was renewed is asked for anew, though the socket was opened by the one before', async () => {
    let asked = 0;
    await w.watching({ token: () => playerToken(`ada${(asked += 1)}`, w.clock.now() + 60_000) });
    for (let at = 0; at < 30_000; at += 5000) {
      await w.clock.step(5000);
      w.sockets.last.say({ type: 'ping' });
    }
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'authenticate' }]);
    w.sockets.last.break(4401);
    await settled();
    expect(asked).toBe(3);
    expect(w.sockets.all).toHaveLength(2);
  });

  it('that comes once the client is closed sets no timer any more', async () => {
    let asked = 0;
    let give!: (token: string) => void;
    const next = new Promise<string>((resolve) => (give = resolve));
    const first = playerToken('ada', w.clock.now() + 32_000);
    const ladder = await w.watching({ token: () => ((asked += 1) > 1 ? next : first) });
    await w.clock.step(2000);
    expect(asked).toBe(2);
    ladder.close();
    give(playerToken('ada', w.clock.now() + DAY_MS));
    await settled();
    expect(w.clock.timersSet).toBe(0);
  });

  it('that ends after months is waited for by timers no longer than there are, and not renewed before', async () => {
    const { clock } = w;
    const long: { ms: number; work: () => void }[] = [];
    let asked = 0;
    await w.watching({
      token: () => playerToken(`ada${(asked += 1)}`, clock.now() + 60 * DAY_MS),
      clock: {
        now: () => clock.now(),
        clearTimeout: (id) => clock.clearTimeout(id),
        setTimeout: (work, ms) => (ms < DAY_MS ? clock.setTimeout(work, ms) : long.push({ ms, work })),
      },
    });
    long.at(-1)!.work();
    await settled();
    expect(long).toHaveLength(2);
    expect(Math.max(...long.map(({ ms }) => ms))).toBeLessThanOrEqual(TIMER_MAX_MS);
    expect(w.sockets.last.heard()).toEqual([]);
    expect(asked).toBe(1);
  });
});
