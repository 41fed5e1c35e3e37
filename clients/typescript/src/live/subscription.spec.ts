import { beforeEach, describe, expect, it } from 'vitest';
import { FakeHttp } from '../../test/fake-http.js';
import { delta, FakeSockets, row, snapshot, type Message } from '../../test/fake-sockets.js';
import { settled, SteppedClock } from '../../test/stepped-clock.js';
import { vectors } from '../../test/vectors.js';
import { createLadder, type Change, type LiveList } from '../index.js';

interface Shown {
  seq: number;
  total: number;
  accuracy: string;
  errorBound: number;
  entries: Message[];
}
interface Case {
  name: string;
  steps: { frame: Message; sends: Message[]; list: Shown | null }[];
}

let clock: SteppedClock;
let http: FakeHttp;
let sockets: FakeSockets;
let lists: { list: LiveList; change: Change }[];

/** A client that watches a board, its socket open. */
async function watching(): Promise<{ readonly list: LiveList | null }> {
  const options = { url: 'http://ladder.test', fetch: http.fetch, WebSocket: sockets.WebSocket, clock };
  const ladder = createLadder({ ...options, random: () => 0 });
  const watch = ladder.board('blitz').watchTop({}, (list, change) => lists.push({ list, change }));
  await settled();
  sockets.last.accept();
  sockets.last.heard();
  return watch;
}

const shownOf = ({ seq, total, accuracy, errorBound, entries }: LiveList): Shown => ({
  ...{ seq, total, accuracy, errorBound },
  entries: entries as unknown as Message[],
});

beforeEach(() => {
  clock = new SteppedClock();
  http = new FakeHttp(clock);
  sockets = new FakeSockets(clock);
  lists = [];
});

describe('a list', () => {
  const { cases } = vectors<{ cases: Case[] }>('lists');

  it.each(cases)('is as the vectors say: $name', async ({ steps }) => {
    const watch = await watching();
    for (const { frame, sends, list } of steps) {
      sockets.last.say({ ...frame, id: '1' });
      await settled();
      expect(sockets.last.heard()).toMatchObject(sends);
      expect(watch.list && shownOf(watch.list)).toEqual(list);
    }
  });

  interface Row {
    rank: number;
    playerId: string;
    score: number;
    displayName: string | null;
  }
  interface History {
    name: string;
    steps: { frame: Message; sends: Message[]; list: { seq: number; total: number; rows: unknown[][] } }[];
  }
  const { histories } = vectors<{ histories: History[] }>('histories');

  it.each(histories)('follows a history as the vectors say: $name', async ({ steps }) => {
    const watch = await watching();
    for (const [at, { frame, sends, list }] of steps.entries()) {
      sockets.last.say({ ...frame, id: '1' });
      await settled();
      expect(sockets.last.heard(), `step ${at}`).toMatchObject(sends);
      const { seq, total, entries } = watch.list!;
      const rows = (entries as readonly Row[]).map(({ rank, playerId, score, displayName }) => [
        rank,
        playerId,
        score,
        displayName,
      ]);
      expect({ seq, total, rows }, `step ${at}`).toEqual(list);
    }
  });

  it('is asked for anew when more than 100 deltas wait', async () => {
    const watch = await watching();
    sockets.last.say(snapshot('1', 1, [row('ada', 1, 5)]));
    for (let seq = 10; seq < 110; seq += 1) sockets.last.say(delta('1', seq, seq + 1));
    expect(sockets.last.heard()).toMatchObject([{ type: 'resume', seq: 1 }]);
    sockets.last.say(delta('1', 110, 111));
    expect(sockets.last.heard()).toMatchObject([{ type: 'unsubscribe' }, { type: 'subscribe' }]);
    sockets.last.say(delta('1', 1, 112));
    expect(watch.list!.seq).toBe(1);
    sockets.last.say(snapshot('1', 113));
    sockets.last.say(delta('1', 113, 114));
    expect(watch.list!.seq).toBe(114);
  });

  it('says what entered, what left and what moved', async () => {
    await watching();
    sockets.last.say(snapshot('1', 1, [row('ada', 1, 30), row('bob', 2, 20), row('cy', 3, 10)]));
    expect(lists[0]!.change).toMatchObject({ left: [], moved: [], entered: [{ playerId: 'ada' }, {}, {}] });
    const changes = [
      row('dee', 1, 40, { previousRank: null }),
      { playerId: 'ada', rank: 2 },
      { playerId: 'cy', rank: null },
    ];
    sockets.last.say(delta('1', 1, 2, changes));
    expect(lists[1]!.change).toEqual({
      entered: [expect.objectContaining({ playerId: 'dee', rank: 1 })],
      left: [row('cy', 3, 10)],
      moved: [{ entry: row('ada', 2, 30), previousRank: 1 }],
      changes,
    });
    expect(lists[0]!.change.changes).toEqual([]);
  });

  it('is a new object with each delta, and the rows that did not change are the same', async () => {
    const watch = await watching();
    sockets.last.say(snapshot('1', 1, [row('ada', 1, 30), row('bob', 2, 20), row('cy', 3, 10)]));
    const before = watch.list!;
    expect(watch.list).toBe(before);
    sockets.last.say(delta('1', 1, 2, [row('cy', 3, 15, { previousRank: 3 })]));
    const after = watch.list!;
    expect(after).not.toBe(before);
    expect(after.entries[0]).toBe(before.entries[0]);
    expect(after.entries[1]).toBe(before.entries[1]);
    expect(before.entries[2]).toMatchObject({ score: 10 });
    sockets.last.say(snapshot('1', 3, [row('ada', 1, 30), row('bob', 2, 21), row('cy', 3, 15)]));
    expect(watch.list!.entries[0]).toBe(before.entries[0]);
    expect(watch.list!.entries[1]).toMatchObject({ score: 21 });
    expect(watch.list!.entries[2]).toBe(after.entries[2]);
  });

  it('of equal ranks stands as its snapshot says, and the board is not asked for', async () => {
    const watch = await watching();
    const shown = (): string => watch.list!.entries.map(({ playerId }) => playerId).join(' ');
    const at = (playerId: string, second: number) =>
      row(playerId, 1, 5, { achievedAt: `2026-11-20T12:00:0${second}.000Z` });
    const ranks = { rankStyle: 'competition' };
    sockets.last.say(snapshot('1', 1, [at('ada', 3), at('bob', 1)], { ...ranks, tiebreak: 'latest' }));
    sockets.last.say(delta('1', 1, 2, [at('cy', 2)]));
    expect(shown()).toBe('ada cy bob');
    // A build of before says nothing of it.
    sockets.last.say(snapshot('1', 3, [at('bob', 1), at('ada', 3)], ranks));
    sockets.last.say(delta('1', 3, 4, [at('cy', 2)]));
    expect(shown()).toBe('bob cy ada');
    expect(http.requests).toEqual([]);
  });
});
