// Real: servers of the test's own, with connections as two processes have them.
import { setTimeout as sleep } from 'node:timers/promises';
import { RedisAnnouncements, RedisConnection, type Announcement } from '@laddercast/projections';
import { openTcpProxy } from '@laddercast/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRedis, type RedisProcess } from '../nodes/redis-process.js';

const undo: (() => Promise<unknown> | void)[] = [];
let server: RedisProcess;
let here: RedisAnnouncements;
let there: RedisAnnouncements;
let errors: Error[];

async function connectionTo(url: string, namespace = 'one:'): Promise<RedisConnection> {
  const redis = new RedisConnection({ url, namespace, connectTimeoutMs: 1000 });
  await redis.connect();
  undo.push(() => redis.close());
  return redis;
}

beforeEach(async () => {
  errors = [];
  server = await startRedis();
  undo.push(() => server.stop());
  const told = (error: Error): void => void errors.push(error);
  here = new RedisAnnouncements(await connectionTo(server.url), told);
  there = new RedisAnnouncements(await connectionTo(server.url), told);
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function hearing(announcements: RedisAnnouncements): Promise<(Announcement | null)[]> {
  const heard: (Announcement | null)[] = [];
  undo.push(announcements.onAnnounced((announcement) => heard.push(announcement)));
  await expect.poll(() => heard).toEqual([null]);
  return heard;
}

const closed: Announcement = { kind: 'window-closed', boardUid: 1, windowUid: 2 };
const renamed: Announcement = { kind: 'players', ids: ['ada', 'Åda 😀"'], isGuild: false };

describe('announcements in Redis', () => {
  it('reach every process in order, the one that makes them too', async () => {
    const [own, other] = [await hearing(here), await hearing(there)];
    await here.announce(closed);
    await here.announce(renamed);
    await expect.poll(() => own).toEqual([null, closed, renamed]);
    await expect.poll(() => other).toEqual([null, closed, renamed]);
  });

  it('stay in their installation', async () => {
    const elsewhere = await hearing(new RedisAnnouncements(await connectionTo(server.url, 'other:')));
    const heard = await hearing(there);
    await here.announce(closed);
    await expect.poll(() => heard).toEqual([null, closed]);
    expect(elsewhere).toEqual([null]);
  });

  it('of very many players travel in bounded parts', async () => {
    const heard = await hearing(there);
    const ids = Array.from({ length: 1201 }, (_, at) => `player-${at}`);
    await here.announce({ kind: 'players', ids, isGuild: true });
    await expect.poll(() => heard.length).toBe(4);
    const parts = heard.slice(1) as Extract<Announcement, { kind: 'players' }>[];
    expect(parts.map((part) => part.ids.length)).toEqual([500, 500, 201]);
    expect(parts.every(({ isGuild }) => isGuild)).toBe(true);
    expect(parts.flatMap((part) => part.ids)).toEqual(ids);
  });

  it('are not called made while Redis is away, and after its return something may be missed', async () => {
    const heard = await hearing(there);
    const { port } = server;
    await server.stop();
    await expect(here.announce(closed)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    server = await startRedis({ port });
    await expect.poll(() => heard).toEqual([null, null]);
    await expect
      .poll(() =>
        here.announce(closed).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await expect.poll(() => heard).toEqual([null, null, closed]);
  });

  it('are followed at once while Redis is away, and heard as soon as it is there', async () => {
    const { port } = server;
    await server.stop();
    const heard: (Announcement | null)[] = [];
    const stop = there.onAnnounced((announcement) => heard.push(announcement));
    const forgone = there.onAnnounced(() => heard.push(null));
    forgone();
    // It has been tried several times by then, and is said once, with what is the matter.
    await sleep(1500);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(heard).toEqual([]);
    server = await startRedis({ port });
    await expect.poll(() => heard).toEqual([null]);
    stop();
  });

  it('may have been missed by a listener that comes when others hear already', async () => {
    const heard = await hearing(there);
    const late = await hearing(there);
    const never: unknown[] = [];
    there.onAnnounced((announcement) => never.push(announcement))();
    await here.announce(closed);
    await expect.poll(() => late).toEqual([null, closed]);
    expect([heard, never]).toEqual([[null, closed], []]);
  });

  it('say that something may be missed when a connection died without a word', async () => {
    const proxy = await openTcpProxy('127.0.0.1', server.port);
    undo.push(() => proxy.close());
    const heard = await hearing(new RedisAnnouncements(await connectionTo(`redis://127.0.0.1:${proxy.port}`)));
    proxy.forsakeOpen();
    await here.announce(closed);
    await expect.poll(() => heard).toEqual([null, null]);
    await here.announce(renamed);
    await expect.poll(() => heard).toEqual([null, null, renamed]);
  });

  it('of a later release, or of nobody, are passed over', async () => {
    const heard = await hearing(there);
    const redis = await connectionTo(server.url);
    const texts = ['{"kind":"comet"}', 'no json', '{"kind":"players","ids":"ada","isGuild":false}', 'null', '[]'];
    for (const text of texts) await redis.command('PUBLISH', 'one:ladder:announcements', text);
    await here.announce(closed);
    await expect.poll(() => heard).toEqual([null, closed]);
    expect(errors).toHaveLength(4);
  });

  it('reach nobody who stopped listening, and the others whatever one of them does', async () => {
    const stop = there.onAnnounced(() => {
      throw new Error('a listener failed');
    });
    const heard = await hearing(there);
    stop();
    await here.announce(closed);
    await expect.poll(() => heard).toEqual([null, closed]);
    expect(errors.map(({ message }) => message)).toEqual(['a listener failed']);
  });
});
