// Real: HTTP server, WebSocket clients, gateway, publishers, tokens, key set. In memory: ranks, snapshots, API keys.
import { setTimeout as delay } from 'node:timers/promises';
import { SigningKeys } from '@laddercast/identity';
import type { KeyLook } from '@laddercast/ledger';
import { LiveOptions } from '@laddercast/realtime';
import { afterEach, describe, expect, it } from 'vitest';
import { KeySetServer, newKey, sign } from '../../../libs/identity/test/key-set-server.js';
import { eventually, type ListWriter } from '../../../libs/realtime/test/boards.js';
import type { LiveClient } from '../../../libs/realtime/test/follower.js';
import { issuer, keyLooks, playerToken, READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
/**
 * What was shown to somebody may go on for two seconds after the right has ended (docs/operations/deploy.md); a machine that
 * is busy takes longer.
 */
const ENDS_WITHIN_MS = 20_000;
/** And one of three tries does not. */
const QUICK = { retry: 2 };
const QUICK_MS = 3000;
const CLUB = { order: 'desc', operator: 'best', push: { intervalMs: 20, top: 100 } } as const;
const KEY = 'lk_a-key-of-this-test-alone';
const keyWith = (scopes: ('read' | 'scores:write')[], validForMs: number | null = null): KeyLook => ({
  state: 'valid',
  key: { keyId: 'k', name: 'k', scopes },
  validForMs,
});

/** Every channel; the third player of a board that is watched is estimated, with two channels kept exact. */
const CHANNELS = {
  top: { channel: 'top' },
  guilds: { channel: 'guilds' },
  range: { channel: 'range', offset: 0 },
  friends: { channel: 'friends', playerId: 'ada' },
  player: { channel: 'player', playerId: 'ada' },
  estimated: { channel: 'player', playerId: 'bob' },
};
type ChannelName = keyof typeof CHANNELS;
const ANYBODYS: ChannelName[] = ['top', 'guilds', 'range', 'player', 'estimated'];
const ALL = Object.keys(CHANNELS) as ChannelName[];

afterEach(() => {
  keyLooks.clear();
  issuer.signingKeys = null;
});

interface Watched {
  client: LiveClient;
  writers: ListWriter[];
  /** Scores of everybody that make every channel move. */
  move(): Promise<void>;
}

/** A client on every channel of a board of its own, each of which was seen to move. */
async function watching(
  boardId: string,
  visibility: 'public' | 'private',
  token: string | null,
  names = ALL,
): Promise<Watched> {
  live.sketch(1000);
  live.boards.create(boardId, { ...CLUB, visibility, scopes: ['global', 'guild'] });
  live.friends.set('ada', ['bob']);
  const writers = [await live.writerOf(boardId), await live.writerOf(boardId, { ofGuilds: true })];
  let score = 0;
  const move = async (): Promise<void> => {
    score += 10;
    await writers[0]!.write({ ada: score, bob: -score, cy: score % 20 });
    await writers[1]!.write({ red: score });
  };
  await move();
  const exact = names.filter((name) => ['range', 'friends', 'player'].includes(name)).length;
  const { url } = await live.gateway({ watchedChannelsMax: exact });
  const options = token === null ? {} : { headers: { authorization: `Bearer ${token}` } };
  const client = await live.connect(url, ['ladder.v1'], options);
  for (const id of names) {
    const frame = await client.ask({ type: 'subscribe', id, board: boardId, ...CHANNELS[id] });
    expect(frame, `${id} ${JSON.stringify(frame.problem)}`).toMatchObject({ type: 'snapshot' });
    expect(frame.accuracy, id).toBe(id === 'estimated' ? 'estimated' : undefined);
  }
  await move();
  await eventually('every channel moves', () => names.every((id) => client.list(id).deltas > 0));
  return { client, writers, move };
}

/** Moves the board until what ends has ended, and beyond; returns the frames that came after that. */
async function framesAfter(watched: Watched, hasEnded: () => boolean): Promise<{ tookMs: number; late: unknown[] }> {
  const { client, move } = watched;
  const began = performance.now();
  while (!hasEnded() && performance.now() - began < 2 * ENDS_WITHIN_MS) {
    await move();
    await delay(20);
  }
  const tookMs = performance.now() - began;
  expect(hasEnded(), `not within ${tookMs} ms`).toBe(true);
  const from = client.frames.length;
  for (let times = 0; times < 20; times += 1) {
    await move();
    await delay(20);
  }
  return { tookMs, late: client.frames.slice(from) };
}

describe('a board that is made private', () => {
  const problemsOf = (client: LiveClient) =>
    new Map(client.frames.filter(({ type }) => type === 'error').map(({ id, problem }) => [id, problem!.code]));

  it.each<[string, KeyLook | null, ChannelName[], string]>([
    ['nobody in particular', null, ANYBODYS, 'UNAUTHENTICATED'],
    ['a key without the scope read', keyWith(['scores:write']), ANYBODYS, 'FORBIDDEN'],
  ])('is shown no more to %s, on any channel, but to those who may', async (_who, look, names, code) => {
    if (look) keyLooks.set(KEY, look);
    const watched = await watching('turned', 'public', look && KEY, names);
    const reader = await live.connect(live.apps[0]!.url, ['ladder.v1'], {
      headers: { authorization: `Bearer ${READ_KEY}` },
    });
    await reader.ask({ type: 'subscribe', id: 'top', board: 'turned', channel: 'top' });
    live.boards.redefine('turned', { visibility: 'private' });
    const { client } = watched;
    const { tookMs, late } = await framesAfter(watched, () => problemsOf(client).size === names.length);
    expect(tookMs).toBeLessThan(ENDS_WITHIN_MS);
    expect(late).toEqual([]);
    expect([...problemsOf(client)].sort()).toEqual(names.map((name) => [name, code]).sort());
    // The socket lives on, for what is public; and the board is not to be had by another way.
    expect(client.closed).toBeNull();
    for (const id of names) {
      for (const type of ['subscribe', 'resume']) {
        const seq = type === 'resume' ? { seq: client.list(id).seq } : {};
        const answer = await client.ask({ type, id: `${type} ${id}`, board: 'turned', ...CHANNELS[id], ...seq });
        expect(answer.problem, `${type} ${id}`).toMatchObject({ code });
      }
    }
    const deltas = reader.list('top').deltas;
    await watched.move();
    await eventually('the reader is served', () => reader.list('top').deltas > deltas);
  });
});

it('a gateway looks keys and tokens up often enough for what is promised, as it is set up', () => {
  const { keyCheckEveryMs, sweepEveryMs } = new LiveOptions();
  expect(sweepEveryMs).toBeLessThanOrEqual(1000);
  expect(keyCheckEveryMs + sweepEveryMs).toBeLessThanOrEqual(2000);
});

it('a board that is made private is shown no more within seconds', QUICK, async () => {
  const watched = await watching('quick', 'public', null, ['top']);
  live.boards.redefine('quick', { visibility: 'private' });
  const { tookMs } = await framesAfter(watched, () => watched.client.frames.some(({ type }) => type === 'error'));
  expect(tookMs).toBeLessThan(QUICK_MS);
});

describe('an identity that ends ends its subscriptions on every channel, with a frame that says why:', () => {
  async function expectTurnedAway(watched: Watched, detail: RegExp, withinMs = ENDS_WITHIN_MS): Promise<void> {
    const { client } = watched;
    const { tookMs, late } = await framesAfter(watched, () => client.closed !== null);
    expect(tookMs).toBeLessThan(withinMs);
    expect(late).toEqual([]);
    expect(client.closed!.code).toBe(4401);
    const last = client.frames.at(-1)!;
    expect(last).toMatchObject({ type: 'error', problem: { code: 'UNAUTHENTICATED' } });
    expect(last.problem!.detail).toMatch(detail);
    await eventually('nothing is left', () => live.apps[0]!.gateway.stats().subscriptions === 0);
  }

  it.each<['revoked' | 'replaced' | 'expired', RegExp]>([
    ['revoked', /was revoked/],
    ['replaced', /was replaced by a rotation/],
    ['expired', /has expired/],
  ])('a key that is %s', async (state, detail) => {
    keyLooks.set(KEY, keyWith(['read']));
    const watched = await watching('keyed', 'private', KEY);
    keyLooks.set(KEY, { state });
    await expectTurnedAway(watched, detail);
  });

  it('a key that is revoked, within seconds', QUICK, async () => {
    keyLooks.set(KEY, keyWith(['read']));
    const watched = await watching('quick', 'private', KEY);
    keyLooks.set(KEY, { state: 'revoked' });
    await expectTurnedAway(watched, /was revoked/, QUICK_MS);
  });

  it('a key that reaches its end while the database cannot be asked', async () => {
    keyLooks.set(KEY, keyWith(['read'], 6000));
    const watched = await watching('ending', 'private', KEY);
    keyLooks.get = () => {
      throw new Error('the database is away');
    };
    try {
      await expectTurnedAway(watched, /has expired/, 6000 + ENDS_WITHIN_MS);
    } finally {
      Reflect.deleteProperty(keyLooks, 'get');
    }
  });

  it('a key whose secret is rotated away after its overlap', async () => {
    keyLooks.set(KEY, keyWith(['read']));
    const watched = await watching('rotated', 'private', KEY);
    keyLooks.set(KEY, keyWith(['read'], 1500));
    setTimeout(() => keyLooks.set(KEY, { state: 'replaced' }), 1500);
    await expectTurnedAway(watched, /has expired, or was replaced|was replaced by a rotation/, 1500 + ENDS_WITHIN_MS);
  });

  it('a token that reaches its end', async () => {
    const watched = await watching('timed', 'private', await playerToken('ada', 6));
    await expectTurnedAway(watched, /has expired/, 6000 + ENDS_WITHIN_MS);
  });

  it('a token that reaches its end, within seconds', QUICK, async () => {
    const watched = await watching('quick', 'private', await playerToken('ada', 4));
    await expectTurnedAway(watched, /has expired/, 4000 + QUICK_MS);
  });

  it('a token whose key is taken out of the key set', async () => {
    const [old, next] = await Promise.all([newKey('ES256', 'old'), newKey('ES256', 'next')]);
    const server = await KeySetServer.start(old);
    const onFailure = () => undefined;
    issuer.signingKeys = new SigningKeys({ url: server.url, onFailure, ageMaxMs: 500, askEveryMs: 100 });
    try {
      const watched = await watching('signed', 'private', await sign(old));
      await delay(700);
      expect(watched.client.closed).toBeNull();
      server.keys = [old.jwk, next.jwk];
      await delay(1700);
      expect(watched.client.closed).toBeNull();
      server.keys = [next.jwk];
      // The set grows old, is noticed to be by one sweep, and holds the key no more at the next.
      await expectTurnedAway(watched, /its key is gone/, 500 + 2 * ENDS_WITHIN_MS);
    } finally {
      await server.leave();
    }
  });
});

it('the keys of all sockets are looked up together, each once, and nobody is ended while that is not possible', async () => {
  const keys = ['lk_key-number-one-of-two', 'lk_key-number-two-of-two'];
  for (const key of keys) keyLooks.set(key, keyWith(['read']));
  const { url } = await live.gateway({ sweepEveryMs: 20, keyCheckEveryMs: 100 });
  const clients = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${keys[index % 2]}` } }),
    ),
  );
  for (const client of clients) await client.ask({ type: 'subscribe', id: '1', board: 'club', channel: 'top' });
  let looks = 0;
  const get = keyLooks.get.bind(keyLooks);
  keyLooks.get = (key) => {
    looks += 1;
    return get(key);
  };
  const beganMs = performance.now();
  await delay(1000);
  await eventually('they are looked up', () => looks > 5);
  expect(looks).toBeLessThanOrEqual(2 * (1 + (performance.now() - beganMs) / 100));
  keyLooks.get = () => {
    throw new Error('the database is away');
  };
  await delay(500);
  expect(clients.every(({ closed }) => closed === null)).toBe(true);
  keyLooks.get = get;
  keyLooks.set(keys[0]!, { state: 'revoked' });
  await eventually('one half is ended', () => clients.filter(({ closed }) => closed !== null).length === 10);
  await delay(300);
  expect(clients.map(({ closed }) => closed?.code)).toEqual(clients.map((_, index) => (index % 2 ? undefined : 4401)));
  Reflect.deleteProperty(keyLooks, 'get');
});
