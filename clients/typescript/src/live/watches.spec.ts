import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delta, row, snapshot } from '../../test/fake-sockets.js';
import { settled } from '../../test/stepped-clock.js';
import { Watching } from '../../test/watching.js';

let w: Watching;
beforeEach(() => {
  w = new Watching();
});
afterEach(() => w.close());

describe('a window that is closed', () => {
  it('by the name of the running one leads to the next, within 2 s, and says so', async () => {
    await w.watching({}, { window: 'daily' });
    w.random = 0.5;
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'daily:2026-11-19' });
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'daily:2026-11-19' });
    await w.clock.step(999);
    expect(w.sockets.last.heard()).toEqual([]);
    await w.clock.step(1);
    expect(w.sockets.last.heard()).toEqual([
      { type: 'unsubscribe', id: '1' },
      { type: 'subscribe', id: '1', board: 'blitz', channel: 'top', limit: 10, window: 'daily' },
    ]);
    // Still of the day before.
    w.sockets.last.say(delta('1', 5, 6));
    expect(w.lists).toHaveLength(1);
    w.sockets.last.say(snapshot('1', 8, [row('cy', 1, 3)]));
    expect(w.lists[1]!.change).toMatchObject({ window: 'daily:2026-11-19', moved: [] });
    expect(w.lists[1]!.change.entered.map(({ playerId }) => playerId)).toEqual(['cy']);
    expect(w.lists[1]!.change.left.map(({ playerId }) => playerId)).toEqual(['ada', 'bob']);
    w.sockets.last.say(delta('1', 8, 9));
    expect(w.lists[2]!.change).not.toHaveProperty('window');
  });

  it('is left for the next at once where the socket is lost meanwhile', async () => {
    await w.watching({}, { window: 'daily' });
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'daily:2026-11-19' });
    w.sockets.last.break();
    await w.clock.step(500);
    w.sockets.last.accept();
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'subscribe', window: 'daily' }]);
    w.sockets.last.say(snapshot('1', 8));
    expect(w.lists.at(-1)!.change.window).toBe('daily:2026-11-19');
    await w.clock.step(3000);
    expect(w.sockets.last.heard()).toEqual([]);
  });

  it('is asked for more seldom while the next one is not there', async () => {
    await w.watching({}, { window: 'weekly' });
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'weekly:2026-W46' });
    await w.clock.step(2000);
    w.sockets.last.say(snapshot('1', 6));
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'weekly:2026-W46' });
    w.sockets.last.heard();
    await w.clock.step(14_000);
    w.sockets.last.say({ type: 'ping' });
    await w.clock.step(14_000);
    w.sockets.last.say({ type: 'ping' });
    expect(w.sockets.last.heard()).toEqual([]);
    await w.clock.step(2000);
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'unsubscribe' }, { type: 'subscribe' }]);
  });

  it('by its full id ends the list, and says so', async () => {
    await w.watching({}, { window: 'daily:2026-11-19' });
    w.sockets.last.say({ type: 'window-closed', id: '1', window: 'daily:2026-11-19' });
    expect(w.lists).toHaveLength(2);
    expect(w.lists[1]!.list).toBe(w.lists[0]!.list);
    expect(w.lists[1]!.change).toEqual({ entered: [], left: [], moved: [], changes: [], window: 'daily:2026-11-19' });
    expect(w.sockets.last.heard()).toEqual([{ type: 'unsubscribe', id: '1' }]);
    w.sockets.last.say(delta('1', 5, 6));
    expect(w.lists).toHaveLength(2);
    expect(w.problems).toEqual([]);
  });

  it('whose standings are revised is read anew', async () => {
    await w.watching({}, { window: 'daily:2026-11-19' });
    w.sockets.last.say({ type: 'standings-revised', id: '1', window: 'daily:2026-11-19', edition: 2 });
    expect(w.sockets.last.heard()).toMatchObject([{ type: 'unsubscribe' }, { type: 'subscribe' }]);
    w.sockets.last.say(delta('1', 5, 6, [row('bob', 1, 20, { previousRank: 2 })]));
    expect(w.lists).toHaveLength(1);
    w.sockets.last.say(snapshot('1', 6, [row('bob', 1, 20)]));
    expect(w.lists[1]!.list.entries).toEqual([row('bob', 1, 20)]);
  });
});

describe('the async iterator', () => {
  it('yields the newest list, skips those that nobody waited for, and unsubscribes when it is left', async () => {
    const seen: number[] = [];
    const loop = (async () => {
      for await (const { seq } of w.ladderOf().board('blitz').top({ limit: 10 })) {
        seen.push(seq);
        if (seq === 8) break;
      }
    })();
    await settled();
    w.sockets.last.accept();
    w.sockets.last.say(snapshot('1', 5));
    await settled();
    w.sockets.last.say(delta('1', 5, 6));
    w.sockets.last.say(delta('1', 6, 7));
    await settled();
    w.sockets.last.say(delta('1', 7, 8));
    await loop;
    expect(seen).toEqual([5, 7, 8]);
    expect(w.sockets.last.heard().at(-1)).toEqual({ type: 'unsubscribe', id: '1' });
  });

  it('throws what ends the list, and returns when its window has ended', async () => {
    const blitz = w.ladderOf().board('blitz');
    const refused = blitz.top().next();
    const ended = blitz.top({ window: 'season:s1' });
    const first = ended.next();
    await settled();
    w.sockets.last.accept();
    w.sockets.last.say({ type: 'error', id: '1', problem: { code: 'FORBIDDEN', status: 403, title: 'No' } });
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
    w.sockets.last.say(snapshot('2', 5));
    expect((await first).value).toMatchObject({ seq: 5, window: 'season:s1' });
    const second = ended.next();
    w.sockets.last.say({ type: 'window-closed', id: '2', window: 'season:s1' });
    expect((await second).value).toMatchObject({ seq: 5 });
    expect(await ended.next()).toMatchObject({ done: true });
  });

  it('returns when the client is closed', async () => {
    const ladder = w.ladderOf();
    const lists = ladder.board('blitz').top();
    const first = lists.next();
    await settled();
    w.sockets.last.accept();
    w.sockets.last.say(snapshot('1', 5));
    expect((await first).value).toMatchObject({ seq: 5 });
    const second = lists.next();
    ladder.close();
    expect(await second).toMatchObject({ done: true });
    expect(ladder.live.name).toBe('idle');
  });
});
