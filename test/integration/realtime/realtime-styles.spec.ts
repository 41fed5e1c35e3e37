// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks, snapshots, names, friends.
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../libs/realtime/test/boards.js';
import type { LiveClient, ServerFrame } from '../../../libs/realtime/test/follower.js';
import { READ_KEY } from '../../../libs/realtime/test/live-app.js';
import { MemoryLive } from '../../../libs/realtime/test/memory-live.js';

const live = new MemoryLive();
const push = { intervalMs: 20, top: 100 };
const board = { order: 'desc' as const, operator: 'best' as const, push };

async function connect(): Promise<LiveClient> {
  const { url } = live.apps[0] ?? (await live.gateway());
  return live.connect(url, ['ladder.v1'], { headers: { authorization: `Bearer ${READ_KEY}` } });
}

const asking = (id: string, boardId: string, more: object = {}) => {
  return { type: 'subscribe', id, board: boardId, channel: 'top', limit: 10, ...more };
};
const shown = ({ entries }: ServerFrame): string => entries!.map(({ rank, playerId }) => `${rank} ${playerId}`).join();
const held = (client: LiveClient, id: string): string => client.list(id).places().join();

/** Two on the first score, two on the second, one on the last. */
const TIED = { a: 9, b: 9, c: 7, d: 7, e: 5 };

describe('a channel', () => {
  it('ranks as it is asked to, else as its board does, and says how', async () => {
    live.boards.create('shared', { ...board, rankStyle: 'competition', dense: true });
    const writer = await live.writerOf('shared');
    await writer.write(TIED);
    const client = await connect();
    const own = await client.ask(asking('own', 'shared'));
    expect([own.rankStyle, shown(own)]).toEqual(['competition', '1 a,1 b,3 c,3 d,5 e']);
    const ordinal = await client.ask(asking('ordinal', 'shared', { rankStyle: 'ordinal' }));
    expect([ordinal.rankStyle, shown(ordinal)]).toEqual(['ordinal', '1 a,2 b,3 c,4 d,5 e']);
    const dense = await client.ask(asking('dense', 'shared', { rankStyle: 'dense' }));
    expect([dense.rankStyle, shown(dense)]).toEqual(['dense', '1 a,1 b,2 c,2 d,3 e']);
    const others: [object, string][] = [
      [{ channel: 'player', playerId: 'd', around: 1 }, '2 c,2 d,3 e'],
      [{ channel: 'range', offset: 1, limit: 3 }, '1 b,2 c,2 d'],
    ];
    for (const [at, [channel, rows]] of others.entries()) {
      const request = { ...asking(`other ${at}`, 'shared', { rankStyle: 'dense', ...channel }), limit: undefined };
      const limited = 'limit' in channel ? { ...request, ...channel } : request;
      expect(shown(await client.ask(limited))).toBe(rows);
    }
    live.friends.set('e', ['c', 'd']);
    const friends = { channel: 'friends', playerId: 'e', limit: undefined, rankStyle: 'dense' };
    expect((await client.ask(asking('friends', 'shared', friends))).entries).toMatchObject([
      { playerId: 'c', rank: 1, globalRank: 2 },
      { playerId: 'd', rank: 1, globalRank: 2 },
      { playerId: 'e', rank: 2, globalRank: 3 },
    ]);
  });

  it('tells whose rank in its style changed, also where another style sees no change', async () => {
    live.boards.create('shared', { ...board, dense: true });
    const writer = await live.writerOf('shared');
    await writer.write(TIED);
    const client = await connect();
    for (const rankStyle of ['ordinal', 'competition', 'dense']) {
      await client.ask(asking(rankStyle, 'shared', { rankStyle }));
    }
    // Between the two on the second score comes nobody: d falls, and stays fourth.
    await writer.write({ d: 6 });
    await eventually('all hear', () => held(client, 'dense') === '1 a,1 b,2 c,3 d,4 e');
    await eventually('all hear', () => held(client, 'competition') === '1 a,1 b,3 c,4 d,5 e');
    const changesOf = (id: string) =>
      client.frames.filter((one) => one.id === id && one.type === 'delta').at(-1)!.changes;
    expect(changesOf('dense')).toMatchObject([
      { playerId: 'd', rank: 3, previousRank: 2, score: 6, previousScore: 7, passed: [] },
      { playerId: 'e', rank: 4, previousRank: 3 },
    ]);
    expect(changesOf('competition')).toMatchObject([{ playerId: 'd', rank: 4, previousRank: 3 }]);
    expect(changesOf('ordinal')).toMatchObject([{ playerId: 'd', rank: 4, previousRank: 4 }]);
  });

  it('of shared ranks knows those of players who are not shown', async () => {
    live.boards.create('shared', { ...board, dense: true });
    const writer = await live.writerOf('shared');
    await writer.write(TIED);
    await live.profiles.set('b', { listed: false });
    await live.profiles.set('c', { listed: false });
    const client = await connect();
    expect(shown(await client.ask(asking('1', 'shared', { rankStyle: 'competition' })))).toBe('1 a,3 d,5 e');
    expect(shown(await client.ask(asking('2', 'shared', { rankStyle: 'dense' })))).toBe('1 a,2 d,3 e');
    // Nobody who is shown moves, or has another rank in ordinal style.
    await writer.write({ b: 8 });
    await eventually('the dense ranks', () => held(client, '2') === '1 a,3 d,4 e');
    expect(held(client, '1')).toBe('1 a,3 d,5 e');
  });

  it('of shared ranks is resumed by a snapshot', async () => {
    live.boards.create('shared', { ...board, dense: true });
    await (await live.writerOf('shared')).write(TIED);
    const client = await connect();
    const request = asking('1', 'shared', { rankStyle: 'dense' });
    const { seq } = await client.ask(request);
    expect(await client.ask({ ...request, type: 'resume', seq })).toMatchObject({ type: 'snapshot', seq });
  });
});

describe('the tie-break', () => {
  const ties = { ...board, scopes: ['global' as const, 'guild' as const] };
  const channels: [string, object][] = [
    ['top', {}],
    ['first places with faces', { fields: ['player'] }],
    ['player', { channel: 'player', playerId: 'a', limit: undefined }],
    ['range', { channel: 'range', offset: 0 }],
    ['friends', { channel: 'friends', playerId: 'a', limit: undefined }],
    ['guilds', { channel: 'guilds' }],
  ];

  it('is said by the snapshots of every channel, and is another where the board is made again with another', async () => {
    live.boards.create('shared', { ...ties, rankStyle: 'competition', tiebreak: 'latest' });
    await (await live.writerOf('shared')).write(TIED);
    const client = await connect();
    for (const [id, channel] of channels) {
      expect([id, (await client.ask(asking(id, 'shared', channel))).tiebreak]).toEqual([id, 'latest']);
    }
    live.boards.reset('shared', { tiebreak: 'none' });
    for (const [id] of channels) {
      await client.frame(`a snapshot of ${id}`, (frame) => frame.id === id && frame.tiebreak === 'none');
    }
  });

  it.each(['ordinal', 'competition'] as const)(
    'of a board that was made again is told to who resumes, in %s ranks',
    async (rankStyle) => {
      live.boards.create('shared', { ...ties, tiebreak: 'latest' });
      await (await live.writerOf('shared')).write(TIED);
      const client = await connect();
      const ids = channels.map(([id]) => id);
      const request = (id: string, of: object): ReturnType<typeof asking> => asking(id, 'shared', { rankStyle, ...of });
      for (const [id, channel] of channels) await client.ask(request(id, channel));
      for (const id of ids) client.send({ type: 'unsubscribe', id });
      live.boards.reset('shared', { tiebreak: 'earliest' });
      await (await live.writerOf('shared')).write(TIED);
      for (const [id, channel] of channels) {
        const answer = await client.ask({ ...request(id, channel), type: 'resume', seq: client.list(id).seq });
        expect([id, answer.type, answer.tiebreak]).toEqual([id, 'snapshot', 'earliest']);
      }
    },
  );
});

describe('dense ranks', () => {
  it('of a board that does not keep them are refused with the remedy', async () => {
    await (await live.writerOf('blitz')).write(TIED);
    const client = await connect();
    for (const channel of [
      {},
      { channel: 'player', playerId: 'a', limit: undefined },
      { channel: 'range', offset: 0 },
    ]) {
      const { problem } = await client.ask(asking('1', 'blitz', { rankStyle: 'dense', ...channel }));
      expect(problem).toMatchObject({ code: 'RANK_STYLE_NOT_KEPT', status: 422 });
      expect(problem!.detail).toContain('"dense": true');
    }
    const { problem } = await client.ask(asking('1', 'blitz', { rankStyle: 'olympic' }));
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ pointer: '/rankStyle' }] });
  });

  it('are served as soon as they are kept, to those who follow the board in its own style, too', async () => {
    await (await live.writerOf('blitz')).write(TIED);
    const client = await connect();
    expect(shown(await client.ask(asking('own', 'blitz')))).toBe('1 a,2 b,3 c,4 d,5 e');
    expect(shown(await client.ask(asking('ordinal', 'blitz', { rankStyle: 'ordinal' })))).toBe('1 a,2 b,3 c,4 d,5 e');
    live.boards.redefine('blitz', { rankStyle: 'dense' });
    // Until the distinct values are gathered.
    await eventually('shared ranks', () => held(client, 'own') === '1 a,1 b,3 c,3 d,5 e');
    expect((await client.ask(asking('dense', 'blitz', { rankStyle: 'dense' }))).problem).toMatchObject({
      code: 'PROJECTION_BEHIND',
      retryAfterSeconds: 5,
    });
    live.boards.switchLayout('blitz', { dense: true });
    await eventually('dense ranks', () => held(client, 'own') === '1 a,1 b,2 c,2 d,3 e');
    expect(shown(await client.ask(asking('dense', 'blitz', { rankStyle: 'dense' })))).toBe('1 a,1 b,2 c,2 d,3 e');
    expect(held(client, 'ordinal')).toBe('1 a,2 b,3 c,4 d,5 e');
  });

  it('that are not kept any more end the channels that were asked for them, and no others', async () => {
    live.boards.create('shared', { ...board, dense: true });
    const writer = await live.writerOf('shared');
    await writer.write(TIED);
    const client = await connect();
    const player = { channel: 'player', playerId: 'c', around: 1, limit: undefined };
    await client.ask(asking('dense', 'shared', { rankStyle: 'dense' }));
    await client.ask(asking('dense player', 'shared', { rankStyle: 'dense', ...player }));
    await client.ask(asking('player', 'shared', player));
    live.boards.redefine('shared', { dense: false });
    live.boards.switchLayout('shared', { dense: false });
    for (const id of ['dense', 'dense player']) {
      const frame = await client.frame('the end', (one) => one.id === id && one.type === 'error');
      expect(frame.problem).toMatchObject({ code: 'RANK_STYLE_NOT_KEPT' });
    }
    await writer.write({ e: 8 });
    await eventually('the player', () => held(client, 'player') === '3 e,4 c,5 d');
  });
});

describe('a reader who resumes', () => {
  it('after the board took another style of its own is given a snapshot, and no difference to other ranks', async () => {
    const writer = await live.writerOf('blitz');
    await writer.write(TIED);
    const watching = await connect();
    await watching.ask(asking('1', 'blitz', { rankStyle: 'ordinal' }));
    const away = await connect();
    const { seq } = await away.ask(asking('1', 'blitz'));
    away.send({ type: 'unsubscribe', id: '1' });
    live.boards.redefine('blitz', { rankStyle: 'competition' });
    await eventually('the style', () => watching.list('1').snapshots === 2);
    const { seq: between } = await away.ask(asking('2', 'blitz'));
    live.boards.redefine('blitz', { rankStyle: 'ordinal' });
    await eventually('the style again', () => watching.list('1').snapshots === 3);
    for (const stood of [seq, between]) {
      const answer = await away.ask({ ...asking('1', 'blitz'), type: 'resume', seq: stood });
      expect([answer.type, answer.rankStyle]).toEqual(['snapshot', 'ordinal']);
    }
    await writer.write({ e: 8 });
    const last = away.list('1').seq;
    await eventually('the delta', () => away.list('1').seq > last);
    expect(await away.ask({ ...asking('1', 'blitz'), type: 'resume', seq: last })).toMatchObject({ type: 'delta' });
  });
});
