// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks, snapshots, profiles.
import { NO_FACE, type PlayerFace } from '@laddercast/domain';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventually, type ListWriter } from '../../../libs/realtime/test/boards.js';
import type { LiveClient, ServerFrame } from '../../../libs/realtime/test/follower.js';
import { MemoryLive } from '../../../libs/realtime/test/memory-live.js';
import { playerToken } from '../../../libs/realtime/test/live-app.js';

const live = new MemoryLive();

const FIELDS = { fields: ['player'] };
const CHANNELS: Record<string, object> = {
  top: { channel: 'top', limit: 10 },
  player: { channel: 'player', playerId: 'ada', around: 2 },
  range: { channel: 'range', offset: 0, limit: 5 },
  friends: { channel: 'friends', playerId: 'ada' },
};
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const faceOf = (client: LiveClient, id: string, player: string): unknown => client.list(id).rows.get(player)?.player;

let writer: ListWriter;
let client: LiveClient;
const ask = (id: string, asked: object, type = 'subscribe'): Promise<ServerFrame> =>
  client.ask({ type, id, board: 'blitz', ...asked });

beforeEach(async () => {
  writer = await live.writerOf('blitz');
  await writer.write({ ada: 30, bob: 20, cy: 10 });
  live.friends.set('ada', ['bob']);
  const { url } = await live.gateway();
  client = await live.connect(`${url}?token=${await playerToken('ada')}`);
});

describe('a channel with the faces of players', () => {
  const ADA: PlayerFace = { avatarUrl: 'https://cdn.example/1.png', region: 'EU', attributes: { country: 'GB' } };

  it.each(Object.keys(CHANNELS))('shows them in its snapshot, and a new one within a second: %s', async (name) => {
    await live.profiles.set('ada', ADA);
    const snapshot = await ask('with', { ...CHANNELS[name], ...FIELDS });
    const faces = Object.fromEntries(snapshot.entries!.map(({ playerId, player }) => [playerId, player]));
    expect(faces).toMatchObject({ ada: ADA, bob: NO_FACE });
    await ask('without', CHANNELS[name]!);
    const from = client.frames.length;
    const avatarUrl = 'https://cdn.example/2.png';
    await live.profiles.set('bob', { avatarUrl });
    const changedAtMs = Date.now();
    await eventually(
      'the new face shows',
      () => faceOf(client, 'with', 'bob') !== undefined && client.list('with').deltas > 0,
    );
    expect(Date.now() - changedAtMs).toBeLessThan(1000);
    expect(faceOf(client, 'with', 'bob')).toEqual({ ...NO_FACE, avatarUrl });
    const [delta] = client.frames.slice(from);
    // The whole row, and no other: nobody moved.
    expect(delta!.changes).toEqual([
      expect.objectContaining({ playerId: 'bob', rank: 2, previousRank: 2, score: 20, previousScore: 20, passed: [] }),
    ]);
    await sleep(400);
    // Who did not ask hears nothing of it, also where it saw the row.
    expect(client.frames.slice(from).map(({ id }) => id)).toEqual(['with']);
  });

  it('goes on with scores and names as one without', async () => {
    await live.profiles.set('ada', ADA);
    await ask('with', { ...CHANNELS['top'], ...FIELDS });
    await ask('without', CHANNELS['top']!);
    for (let round = 1; round <= 20; round += 1) {
      await writer.write({ [`p${round % 7}`]: round * 3, bob: round });
      if (round % 5 === 0) await live.profiles.set('bob', { displayName: `Bob ${round}`, region: `R${round}` });
      await sleep(20);
    }
    const bare = (id: string): string =>
      JSON.stringify(
        [...client.list(id).rows.values()]
          .map(({ player: _player, ...row }) => row)
          .sort((a, b) => Number(a['rank']) - Number(b['rank'])),
      );
    await eventually('both hold the same', () => bare('with') === bare('without') && client.list('with').deltas > 5);
    await eventually('and name', () => client.list('with').rows.get('bob')?.displayName === 'Bob 20');
    const last = JSON.stringify({ ...NO_FACE, region: 'R20' });
    await eventually('and face', () => JSON.stringify(faceOf(client, 'with', 'bob')) === last);
    expect(client.list('with')).toMatchObject({ snapshots: 1, gaps: 0 });
    for (const row of client.list('without').rows.values()) expect('player' in row).toBe(false);
  });

  it('looks faces up for those who ask alone, and once for all of them', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => live.connect(live.apps[0]!.url)));
    await Promise.all(
      readers.map((reader) => reader.ask({ type: 'subscribe', id: '1', board: 'blitz', ...CHANNELS['top'] })),
    );
    await writer.write({ ada: 31 });
    await live.profiles.set('ada', ADA);
    await eventually('all hear', () => readers.every((reader) => reader.list('1').rows.get('ada')?.score === 31));
    await sleep(300);
    expect(live.profiles.faceReads).toBe(0);
    await Promise.all(
      readers.map((reader) =>
        reader.ask({ type: 'subscribe', id: '2', board: 'blitz', ...CHANNELS['top'], ...FIELDS }),
      ),
    );
    expect(live.profiles.faceReads).toBe(1);
    for (const reader of readers) expect(faceOf(reader, '2', 'ada')).toEqual(ADA);
  });

  it('of the first places is resumed by a snapshot', async () => {
    const { seq } = await ask('1', { ...CHANNELS['top'], ...FIELDS });
    await writer.write({ bob: 40 });
    await eventually('a delta', () => client.list('1').deltas > 0);
    const again = await ask('2', { ...CHANNELS['top'], ...FIELDS, seq }, 'resume');
    expect(again).toMatchObject({ type: 'snapshot', total: 3 });
    expect(again.entries![0]).toMatchObject({ playerId: 'bob', player: NO_FACE });
  });

  it('is served without those that cannot be looked up', async () => {
    live.profiles.hasNoFaces = true;
    await live.profiles.set('ada', { displayName: 'Ada', ...ADA });
    const { entries } = await ask('1', { ...CHANNELS['top'], ...FIELDS });
    expect(entries!.map(({ player }) => player)).toEqual([NO_FACE, NO_FACE, NO_FACE]);
  });

  it('does not show who is not listed', async () => {
    await live.profiles.set('bob', { ...ADA, listed: false });
    const { entries } = await ask('1', { ...CHANNELS['top'], ...FIELDS });
    expect(entries!.map(({ playerId }) => playerId)).toEqual(['ada', 'cy']);
    await live.profiles.set('bob', { listed: true });
    await eventually('it comes', () => client.list('1').rows.has('bob'));
    expect(faceOf(client, '1', 'bob')).toEqual(ADA);
  });

  it('is another for who is not asked for them: nothing in its frames is new', async () => {
    const names = ['rank', 'playerId', 'displayName', 'score', 'columns', 'achievedAt', 'metadata'];
    const none = await ask('1', { ...CHANNELS['top'], fields: [] });
    const without = await ask('2', CHANNELS['top']!);
    for (const frame of [none, without]) expect(Object.keys(frame.entries![0]!)).toEqual(names);
    expect(Object.keys((await ask('3', { ...CHANNELS['top'], ...FIELDS })).entries![0]!)).toEqual([...names, 'player']);
  });
});

describe('fields that are refused', () => {
  it.each<[string, object, string]>([
    ['a name that is none', { ...CHANNELS['top'], fields: ['name'] }, '/fields'],
    ['a text', { ...CHANNELS['top'], fields: 'player' }, '/fields'],
    ['one twice', { ...CHANNELS['range'], fields: ['player', 'player'] }, '/fields'],
    ['null', { ...CHANNELS['player'], fields: null }, '/fields'],
    ['a list in a list', { ...CHANNELS['friends'], fields: [['player']] }, '/fields'],
    ['faces of guilds', { channel: 'guilds', fields: ['player'] }, '/fields'],
    ['faces of a rating', { channel: 'rating', fields: ['player'], pool: 'p', playerId: 'ada' }, '/fields'],
  ])('name them: %s', async (_what, asked, pointer) => {
    const { problem } = await ask('1', asked);
    expect(problem).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
    expect(problem!.errors!.map((fault) => fault.pointer)).toContain(pointer);
  });
});
