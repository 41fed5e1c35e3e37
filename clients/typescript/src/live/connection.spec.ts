import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delta, snapshot } from '../../test/fake-sockets.js';
import { settled } from '../../test/stepped-clock.js';
import { vectors } from '../../test/vectors.js';
import { Watching } from '../../test/watching.js';
import type { LiveState } from '../index.js';

let w: Watching;
beforeEach(() => {
  w = new Watching();
});
afterEach(() => w.close());

describe('the socket', () => {
  it('is opened by the first subscription, speaks ladder.v1, and asks for the list', async () => {
    const ladder = w.ladderOf();
    await settled();
    expect(w.sockets.all).toHaveLength(0);
    w.watchTop(ladder, { window: 'daily' });
    ladder.board('rapid').watchPlayer({ playerId: 'ada', around: 3 }, () => undefined);
    await settled();
    expect(w.sockets.all).toHaveLength(1);
    expect(w.sockets.last).toMatchObject({ url: 'ws://ladder.test/v1/live', protocols: ['ladder.v1'] });
    w.sockets.last.accept();
    expect(w.sockets.last.sent).toEqual([
      { type: 'subscribe', id: '1', board: 'blitz', channel: 'top', limit: 10, window: 'daily' },
      { type: 'subscribe', id: '2', board: 'rapid', channel: 'player', playerId: 'ada', around: 3 },
    ]);
  });

  it('asks for ranges, friends and guilds in the words of the protocol', async () => {
    const blitz = w.ladderOf().board('blitz');
    blitz.watchRange({ offset: 100, limit: 20, scope: 'region:EU' }, () => undefined);
    blitz.watchFriends({ playerId: 'ada', fields: ['player'] }, () => undefined);
    blitz.watchGuilds({ limit: 25, rankStyle: 'dense' }, () => undefined);
    await settled();
    w.sockets.last.accept();
    expect(w.sockets.last.sent).toEqual([
      { type: 'subscribe', id: '1', board: 'blitz', channel: 'range', offset: 100, limit: 20, scope: 'region:EU' },
      { type: 'subscribe', id: '2', board: 'blitz', channel: 'friends', playerId: 'ada', fields: ['player'] },
      { type: 'subscribe', id: '3', board: 'blitz', channel: 'guilds', limit: 25, rankStyle: 'dense' },
    ]);
  });

  it('carries a token as second subprotocol, and never in the address', async () => {
    await w.watching({ token: 'secret' });
    expect(w.sockets.last.protocols).toEqual(['ladder.v1', 'bearer.secret']);
    expect(w.sockets.last.url).not.toContain('secret');
  });

  it('is closed 5 s after the last subscription, and not when another one comes', async () => {
    const ladder = w.ladderOf();
    const first = w.watchTop(ladder);
    await settled();
    w.sockets.last.accept();
    first.close();
    expect(w.sockets.last.heard().at(-1)).toEqual({ type: 'unsubscribe', id: '1' });
    await w.clock.step(4000);
    const second = w.watchTop(ladder);
    await w.clock.step(6000);
    expect(w.sockets.last.isClosedByClient).toBe(false);
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'subscribe', id: '2' }]);
    second.close();
    await w.clock.step(4999);
    expect(w.sockets.last.isClosedByClient).toBe(false);
    await w.clock.step(1);
    expect(w.sockets.last.isClosedByClient).toBe(true);
    await w.clock.step(120_000);
    expect(w.sockets.all).toHaveLength(1);
    expect(w.clock.timersSet).toBe(0);
  });

  it('is wanted where there is none: the call says what to pass', () => {
    const saved = globalThis.WebSocket;
    Object.assign(globalThis, { WebSocket: undefined });
    try {
      expect(() => w.watchTop(w.ladderOf({ WebSocket: undefined }))).toThrow('pass one as the option WebSocket');
    } finally {
      Object.assign(globalThis, { WebSocket: saved });
    }
  });
});

describe('the state of the connection', () => {
  it('is told from the first subscription to the end, with the time of the next try', async () => {
    const told: LiveState[] = [];
    const ladder = w.ladderOf({ onLive: (state) => told.push(state) });
    expect(ladder.live).toEqual({ name: 'idle', retryAt: null });
    const watch = w.watchTop(ladder);
    expect(ladder.live.name).toBe('connecting');
    await settled();
    w.sockets.last.accept();
    expect(ladder.live).toBe(told.at(-1));
    w.sockets.last.break();
    const lostAt = w.clock.now();
    await w.clock.step(500);
    w.sockets.last.break();
    await w.clock.step(1000);
    w.sockets.last.accept();
    watch.close();
    await w.clock.step(5000);
    w.watchTop(ladder);
    expect(told).toEqual([
      { name: 'connecting', retryAt: null },
      { name: 'live', retryAt: null },
      { name: 'reconnecting', retryAt: lostAt + 500 },
      { name: 'reconnecting', retryAt: null },
      { name: 'reconnecting', retryAt: lostAt + 1500 },
      { name: 'reconnecting', retryAt: null },
      { name: 'live', retryAt: null },
      { name: 'idle', retryAt: null },
      { name: 'connecting', retryAt: null },
    ]);
  });

  it('is unauthorized once a token was refused twice, until something more is watched', async () => {
    const told: string[] = [];
    const ladder = await w.watching({ token: 'bad', onLive: ({ name }) => told.push(name) });
    w.sockets.last.break(4401);
    await settled();
    w.sockets.last.break(4401);
    expect(told).toEqual(['connecting', 'live', 'reconnecting', 'unauthorized']);
    w.watchTop(ladder);
    expect(told.at(-1)).toBe('connecting');
  });

  it('is idle in the end also where the token ends behind the last watch', async () => {
    const ladder = w.ladderOf();
    const watch = w.watchTop(ladder);
    await settled();
    w.sockets.last.accept();
    watch.close();
    w.sockets.last.break(4401);
    await w.clock.step(5000);
    expect(ladder.live.name).toBe('idle');
  });

  it('is told beside each frame, of which none is kept back', async () => {
    const texts: string[] = [];
    await w.watching({ onFrame: (text) => texts.push(text) });
    w.sockets.last.say({ type: 'ping', asOf: '2026-11-20T12:00:05.000Z' });
    expect(texts.map((text) => JSON.parse(text) as object)).toEqual([
      expect.objectContaining({ type: 'snapshot', seq: 5 }),
      { type: 'ping', asOf: '2026-11-20T12:00:05.000Z' },
    ]);
  });
});

describe('after a loss', () => {
  interface Loss {
    livedMs: number | null;
    code: number;
    random: number;
    delayMs: number;
  }
  const { cases } = vectors<{ cases: { name: string; losses: Loss[] }[] }>('closes');

  it.each(cases)('the client comes back as the vectors say: $name', async ({ losses }) => {
    w.watchTop(w.ladderOf());
    await settled();
    for (const { livedMs, code, random: drawn, delayMs } of losses) {
      const before = w.sockets.all.length;
      if (livedMs !== null) {
        w.sockets.last.accept();
        for (let lived = 0; lived < livedMs; lived += 1000) {
          await w.clock.step(Math.min(1000, livedMs - lived));
          w.sockets.last.say({ type: 'ping', asOf: '' });
        }
      }
      w.random = drawn;
      w.sockets.last.break(code);
      await w.clock.step(Math.max(0, delayMs - 1));
      if (delayMs > 0) expect(w.sockets.all).toHaveLength(before);
      await w.clock.step(1);
      expect(w.sockets.all).toHaveLength(before + 1);
    }
  });

  it('each list resumes from the number it has, and one without a list subscribes', async () => {
    const ladder = await w.watching();
    w.watchTop(ladder, { limit: 25 });
    w.sockets.last.break();
    await w.clock.step(500);
    w.sockets.last.accept();
    expect(w.sockets.last.sent).toEqual([
      { type: 'resume', id: '1', seq: 5, board: 'blitz', channel: 'top', limit: 10 },
      { type: 'subscribe', id: '2', board: 'blitz', channel: 'top', limit: 25 },
    ]);
    w.sockets.last.say(delta('1', 5, 9));
    expect(w.lists.at(-1)!.list.seq).toBe(9);
  });

  it.each(['online', 'visibilitychange'])('%s connects at once', async (event) => {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const network = new EventTarget();
    const { addEventListener, document } = globalThis as { addEventListener?: unknown; document?: unknown };
    Object.assign(globalThis, {
      document: page,
      addEventListener: network.addEventListener.bind(network),
      removeEventListener: network.removeEventListener.bind(network),
    });
    try {
      const ladder = await w.watching();
      w.sockets.last.break();
      (event === 'online' ? network : page).dispatchEvent(new Event(event));
      await settled();
      expect(w.sockets.all).toHaveLength(2);
      w.sockets.last.accept();
      (event === 'online' ? network : page).dispatchEvent(new Event(event));
      await w.clock.step(600);
      expect(w.sockets.all).toHaveLength(2);
      ladder.close();
    } finally {
      Object.assign(globalThis, { addEventListener, document });
    }
  });

  it.each([0, 10_000])(
    'what is watched anew %i ms after the last was closed waits for its time, too',
    async (laterMs) => {
      const states: LiveState[] = [];
      const ladder = w.ladderOf({ onLive: (state) => states.push(state) });
      const first = w.watchTop(ladder);
      await settled();
      w.sockets.last.break(1008);
      const lostAt = w.clock.now();
      first.close();
      await w.clock.step(laterMs);
      w.watchTop(ladder);
      expect(states.at(-1)).toEqual({ name: 'reconnecting', retryAt: lostAt + 60_000 });
      await w.clock.step(59_999 - laterMs);
      expect(w.sockets.all).toHaveLength(1);
      w.watchTop(ladder);
      await w.clock.step(1);
      expect(w.sockets.all).toHaveLength(2);
      w.watchTop(ladder);
      await w.clock.step(1000);
      expect(w.sockets.all).toHaveLength(2);
    },
  );

  it('of a socket that nobody used any more, the next watch waits as well', async () => {
    const ladder = w.ladderOf();
    const first = w.watchTop(ladder);
    await settled();
    first.close();
    w.sockets.last.break(1008);
    w.watchTop(ladder);
    await w.clock.step(59_999);
    expect(w.sockets.all).toHaveLength(1);
    await w.clock.step(1);
    expect(w.sockets.all).toHaveLength(2);
  });

  it('nothing comes back once the client is closed', async () => {
    const ladder = await w.watching();
    w.sockets.last.break();
    ladder.close();
    await w.clock.step(120_000);
    expect(w.sockets.all).toHaveLength(1);
    expect(w.clock.timersSet).toBe(0);
  });
});

describe('a socket that says nothing', () => {
  it('for 15 s is taken as dead, and left for another one', async () => {
    await w.watching();
    await w.clock.step(14_999);
    expect(w.sockets.last.isClosedByClient).toBe(false);
    await w.clock.step(1);
    expect(w.sockets.last.isClosedByClient).toBe(true);
    w.random = 0;
    await w.clock.step(500);
    expect(w.sockets.all).toHaveLength(2);
  });

  it('lives on with a ping every 5 s, and with frames of types that nobody knows', async () => {
    await w.watching();
    for (let at = 0; at < 120_000; at += 5000) {
      await w.clock.step(5000);
      w.sockets.last.say(at % 10_000 === 0 ? { type: 'ping', asOf: '' } : { type: 'weather', id: '1', rain: true });
    }
    expect(w.sockets.all).toHaveLength(1);
    expect(w.lists).toHaveLength(1);
    expect(w.problems).toEqual([]);
  });

  it('while it is opened is left after 15 s, too', async () => {
    w.watchTop(w.ladderOf());
    await w.clock.step(15_500);
    expect(w.sockets.all).toHaveLength(2);
  });

  it('of which frames still come after it was left changes nothing', async () => {
    await w.watching();
    const old = w.sockets.last;
    await w.clock.step(15_500);
    old.say(snapshot('1', 99));
    old.break(4401);
    expect(w.lists).toHaveLength(1);
    expect(w.sockets.all).toHaveLength(2);
  });
});

describe('a refusal', () => {
  const refusal = (code: string, status: number, more = {}) => ({
    type: 'error',
    id: '1',
    problem: { code, status, title: code, ...more },
  });

  it('that is for good ends its list alone, and is told as fatal', async () => {
    const ladder = await w.watching();
    w.watchTop(ladder, { limit: 25 });
    w.sockets.last.say(refusal('BOARD_NOT_FOUND', 404));
    w.sockets.last.break();
    await w.clock.step(500);
    w.sockets.last.accept();
    expect(w.problems).toEqual([{ code: 'BOARD_NOT_FOUND', fatal: true }]);
    expect(w.sockets.last.sent).toMatchObject([{ type: 'subscribe', id: '2' }]);
  });

  it('is told to the watch, where that wants to hear it', async () => {
    const heard: unknown[] = [];
    await w.watching({}, { onProblem: ({ code }, { fatal }) => heard.push([code, fatal]) });
    w.sockets.last.say(refusal('PROJECTION_BEHIND', 503));
    w.sockets.last.say(refusal('FORBIDDEN', 403));
    expect(heard).toEqual([
      ['PROJECTION_BEHIND', false],
      ['FORBIDDEN', true],
    ]);
    expect(w.problems).toEqual([]);
  });

  it('that can pass is told, and asked again as late as the service says, and spread', async () => {
    await w.watching();
    w.sockets.last.say(refusal('RATE_LIMITED', 429, { retryAfterSeconds: 2 }));
    await w.clock.step(3999);
    expect(w.sockets.last.heard()).toEqual([]);
    await w.clock.step(1);
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'resume', id: '1', seq: 5 }]);
    expect(w.problems).toEqual([{ code: 'RATE_LIMITED', fatal: false }]);
  });

  it('of too many subscriptions is for good, though its status is 429', async () => {
    w.watchTop(w.ladderOf());
    await settled();
    w.sockets.last.accept();
    w.sockets.last.say(refusal('SUBSCRIPTION_LIMIT', 429));
    expect(w.problems).toEqual([{ code: 'SUBSCRIPTION_LIMIT', fatal: true }]);
  });

  it('of too many subscriptions can pass for what was watched before: the lost socket may still be counted', async () => {
    await w.watching();
    w.random = 0.1;
    w.sockets.last.say(refusal('SUBSCRIPTION_LIMIT', 429));
    await w.clock.step(2999);
    expect(w.sockets.last.heard()).toEqual([]);
    await w.clock.step(1);
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'resume', seq: 5 }]);
    expect(w.problems).toEqual([{ code: 'SUBSCRIPTION_LIMIT', fatal: false }]);
  });
});
