// Real: the built service in one process, PostgreSQL, Redis, sockets behind a wire that is cut; and beside it sockets that are not.
// Random boards are played while the wire is cut. The client's lists are compared, at every seq, with those of a plain
// follower whose socket was never cut, and with fresh snapshots; at the end with REST. CLIENT_BOARDS=500 plays more boards
// than the 20 that CI does, SEED=… repeats a run.
import {
  Dice,
  openTcpProxy,
  seedOfRun,
  startStandalone,
  type RunningStandalone,
  type TcpProxy,
} from '@laddercast/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createLadder,
  type Entry,
  type Ladder,
  type LiveList,
  type Watch,
} from '../../clients/typescript/src/index.js';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { RestClient } from '../e2e/rest-client.js';

const BOARDS_AT_ONCE = 10;
const CUTS = 20;
const rounds = Math.max(1, Math.round(Number(process.env['CLIENT_BOARDS'] ?? 20) / BOARDS_AT_ONCE));
const firstSeed = seedOfRun();

interface Played {
  id: string;
  isOfRuns: boolean;
  players: string[];
}

/** One list that is watched: by the client, by a follower, and by who reads it anew. */
interface Watched {
  name: string;
  request: Record<string, unknown> & { board: string };
  rest: string;
  watch: Watch;
  /** What the client showed, by seq. */
  states: Map<number, LiveList>;
  fresh: Map<number, Entry[]>;
}

const keyOf = ({ playerId, entryId }: { playerId: string; entryId?: string }): string => `${entryId ?? ''} ${playerId}`;
const asText = (rows: Iterable<object>): string[] =>
  [...(rows as Iterable<Entry>)].map((row) => `${keyOf(row)} ${JSON.stringify(row, Object.keys(row).sort())}`).sort();
const timeOf = ({ achievedAt }: Entry): string | null => achievedAt;
/** What REST and sockets both say of a row. */
const shown = ({ rank, playerId, entryId, displayName, score, achievedAt }: Entry): unknown[] => [
  ...[rank, playerId, entryId, displayName, score, achievedAt],
];

describe(`lists over a wire that is cut (SEED=${firstSeed})`, { timeout: rounds * 60_000 + 120_000 }, () => {
  let service: RunningStandalone;
  let wire: TcpProxy;
  let admin: RestClient;
  let ladder: Ladder;
  const followers: LiveClient[] = [];

  beforeAll(async () => {
    const unlimited = ['KEY', 'PLAYER', 'ADDRESS'].map((who) => [`RATE_LIMIT_${who}_PER_SECOND`, '0']);
    service = await startStandalone(Object.fromEntries(unlimited) as Record<string, string>);
    wire = await openTcpProxy('127.0.0.1', Number(new URL(service.url).port));
    admin = new RestClient(service.url, service.adminKey);
  });
  afterEach(() => {
    ladder?.close();
    for (const { socket } of followers.splice(0)) socket.terminate();
  });
  afterAll(async () => {
    await wire?.close();
    await service?.stop();
  });

  async function makeBoard(id: string, dice: Dice): Promise<Played> {
    const isOfRuns = dice.isUnder(0.2);
    await admin.makeBoard(id, {
      order: dice.oneOf(['asc', 'desc']),
      operator: isOfRuns ? 'best' : dice.oneOf(['best', 'latest', 'sum']),
      tiebreak: dice.oneOf(['earliest', 'latest', 'none']),
      rankStyle: dice.oneOf(['ordinal', 'ordinal', 'competition']),
      sharding: { by: 'hash', count: dice.from(1, 3) },
      push: { intervalMs: 100, top: 100 },
      ...(isOfRuns && { entriesPer: 'run', runs: {} }),
    });
    return {
      id,
      isOfRuns,
      players: Array.from({ length: dice.from(5, 40) }, (_, at) => `p${at}${dice.oneOf(['', 'é', '😀'])}`),
    };
  }

  /** A few acts on a board. */
  async function play({ id, players }: Played, dice: Dice): Promise<void> {
    const submissions = Array.from({ length: dice.from(1, 5) }, () => ({
      board: id,
      playerId: dice.oneOf(players),
      score: dice.below(9),
    }));
    const { body } = await admin.post('/v1/scores', { submissions });
    expect((body as { results: { problem?: object }[] }).results.filter(({ problem }) => problem)).toEqual([]);
    const player = encodeURIComponent(dice.oneOf(players));
    if (dice.isUnder(0.1)) await admin.delete(`/v1/boards/${id}/players/${player}`);
    if (dice.isUnder(0.1)) await admin.put(`/v1/players/${player}`, { displayName: `Name ${dice.below(9)}` });
  }

  async function watched(played: Played, dice: Dice, follower: LiveClient): Promise<Watched[]> {
    const board = ladder.board(played.id);
    const path = `/v1/boards/${played.id}`;
    const playerId = dice.oneOf(played.players);
    const around = dice.from(0, 5);
    const range = { offset: dice.below(8), limit: dice.from(1, 20) };
    const style = dice.oneOf([undefined, 'competition'] as const);
    const query = style === undefined ? '' : `&rankStyle=${style}`;
    const limit = dice.oneOf([10, 25]);
    const all: Watched[] = [];
    const add = (
      name: string,
      request: object,
      rest: string,
      watch: (onList: (list: LiveList) => void) => Watch,
    ): void => {
      const states = new Map<number, LiveList>();
      const one = watch((list) => states.set(list.seq, list));
      all.push({
        name: `${played.id} ${name}`,
        request: { board: played.id, ...request },
        rest,
        watch: one,
        states,
        fresh: new Map(),
      });
    };
    add('top', { channel: 'top', limit, rankStyle: style }, `${path}/entries?limit=${limit}${query}`, (onList) =>
      board.watchTop({ limit, rankStyle: style }, onList),
    );
    add(
      'range',
      { channel: 'range', ...range },
      `${path}/entries?offset=${range.offset}&limit=${range.limit}`,
      (onList) => board.watchRange(range, onList),
    );
    // A player of a board of runs has many rows, of which REST and the channel tell another part.
    if (!played.isOfRuns) {
      const rest = `${path}/players/${encodeURIComponent(playerId)}?around=${around}&fallback=last`;
      add('player', { channel: 'player', playerId, around }, rest, (onList) =>
        board.watchPlayer({ playerId, around }, onList),
      );
    }
    for (const { name, request } of all) follower.send({ type: 'subscribe', id: name, ...request });
    return all;
  }

  let looks = 0;
  async function readAnew(one: Watched, reader: LiveClient): Promise<void> {
    looks += 1;
    const id = `look ${looks}`;
    const frame = await reader.ask({ type: 'subscribe', id, ...one.request });
    reader.send({ type: 'unsubscribe', id });
    if (frame.type === 'snapshot') one.fresh.set(frame.seq!, frame.entries as unknown as Entry[]);
  }

  /** Compares what was shown at every seq; returns how many were compared with a follower, and with a fresh snapshot. */
  function compare({ name, states, fresh }: Watched, follower: LiveClient): [number, number] {
    const followed = follower.list(name);
    let [ofFollower, ofFresh] = [0, 0];
    for (const [seq, list] of states) {
      const text = followed.states.get(seq);
      const rows =
        text === undefined
          ? undefined
          : text
              .split('\n')
              .slice(1)
              .map((line) => JSON.parse(line) as Entry);
      if (rows) {
        ofFollower += 1;
        expect(asText(list.entries), `${name} at ${seq}`).toEqual(asText(rows));
      }
      const entries = fresh.get(seq);
      if (entries) {
        ofFresh += 1;
        expect(list.entries, `${name} at ${seq}, as a fresh snapshot`).toEqual(entries);
      }
    }
    return [ofFollower, ofFresh];
  }

  async function restRows({ rest }: Watched): Promise<unknown[][]> {
    const { body } = await admin.get(rest);
    const { entries, neighbours, entry } = body as { entries?: Entry[]; neighbours?: Entry[]; entry?: Entry | null };
    if (entry === null) return [];
    return (entries ?? neighbours ?? []).map(shown);
  }

  async function round(seed: number, number: number): Promise<{ states: number; ofFollower: number; ofFresh: number }> {
    const dice = new Dice(seed);
    const boards: Played[] = [];
    for (let at = 0; at < BOARDS_AT_ONCE; at += 1) boards.push(await makeBoard(`cut-${number}-${at}`, dice));
    for (const board of boards) await play(board, dice);
    ladder = createLadder({
      url: `http://127.0.0.1:${wire.port}`,
      WebSocket,
      // Comes back soon: a round is to take seconds.
      random: () => dice.next() / 50,
      onProblem: ({ code }, { fatal }) => expect(fatal, code).toBe(false),
    });
    const liveUrl = `${service.url.replace('http', 'ws')}/v1/live`;
    const [follower, reader] = [await LiveClient.connect(liveUrl), await LiveClient.connect(liveUrl)];
    followers.push(follower, reader);
    const lists = (await Promise.all(boards.map((board) => watched(board, dice, follower)))).flat();
    for (let cuts = 0; cuts < CUTS; cuts += 1) {
      for (let acts = dice.from(1, 4); acts > 0; acts -= 1) {
        for (const board of dice.shuffled(boards).slice(0, 3)) await play(board, dice);
        await readAnew(dice.oneOf(lists), reader);
        await sleep(dice.below(60));
      }
      wire.cut();
      await play(dice.oneOf(boards), dice);
      await sleep(dice.below(80));
      wire.mend();
      await sleep(dice.below(120));
    }
    await expectRest(lists);
    const counts = lists.map((one) => compare(one, follower));
    return {
      states: lists.reduce((sum, { states }) => sum + states.size, 0),
      ofFollower: counts.reduce((sum, [one]) => sum + one, 0),
      ofFresh: counts.reduce((sum, [, one]) => sum + one, 0),
    };
  }

  /** Everything that was played shows at last: in the client, as REST has it. */
  async function expectRest(lists: readonly Watched[]): Promise<void> {
    for (const one of lists) {
      const isSame = async (): Promise<unknown[][]> => {
        const [rows, list] = [await restRows(one), one.watch.list?.entries.map(shown) ?? []];
        // Told whole where it is another: by name, to see what.
        return JSON.stringify(rows) === JSON.stringify(list) ? [] : [[one.name], ...list, ['REST'], ...rows];
      };
      await expect.poll(isSame, { timeout: 20_000, interval: 100 }).toEqual([]);
    }
  }

  it('say when a score came that is equal to the one before, where no time decides', async () => {
    const id = 'equal';
    const push = { intervalMs: 100, top: 10 };
    await admin.makeBoard(id, { order: 'desc', operator: 'latest', tiebreak: 'none', push });
    const submissions = Array.from({ length: 11 }, (_, at) => ({ board: id, playerId: `p${at}`, score: 20 - at }));
    const submit = (): Promise<unknown> => admin.post('/v1/scores', { submissions });
    await submit();
    ladder = createLadder({ url: service.url, WebSocket });
    // Ticks read the first ten, and the range is read for itself: neither looks anybody up for the other.
    const top = ladder.board(id).watchTop({}, () => undefined);
    const range = ladder.board(id).watchRange({ offset: 10, limit: 5 }, () => undefined);
    const shownTimes = (): unknown[] => [top, range].flatMap(({ list }) => list?.entries.map(timeOf) ?? []);
    const storedTimes = async (): Promise<unknown[]> =>
      ((await admin.get(`/v1/boards/${id}/entries`)).body as { entries: Entry[] }).entries.map(timeOf);
    await expect.poll(() => shownTimes().length, { timeout: 5000 }).toBe(11);
    const first = shownTimes();
    // Soon: what was looked up of the first is remembered still.
    await submit();
    const isNewer = async (): Promise<boolean> => (await storedTimes()).every((time, at) => time! > first[at]!);
    await expect.poll(isNewer, { timeout: 5000 }).toBe(true);
    await expect.poll(shownTimes, { timeout: 5000 }).toEqual(await storedTimes());
  });

  it('stand by the tie-break of their board, also once it was made again with another', async () => {
    const id = 'ties';
    const makeAgain = async (tiebreak: string): Promise<void> => {
      await admin.post(`/v1/admin/boards/${id}/reset`);
      const push = { intervalMs: 100, top: 10 };
      const definition = { order: 'desc', operator: 'best', rankStyle: 'competition', tiebreak, push };
      expect((await admin.put(`/v1/boards/${id}`, definition)).body).toMatchObject({ tiebreak });
    };
    const submit = async (second: number, ...players: string[]): Promise<void> => {
      const submissions = players.map((playerId, at) => {
        const achievedAt = new Date(Date.UTC(2026, 0, 1, 12, 0, second + at)).toISOString();
        return { board: id, playerId, score: 5, achievedAt };
      });
      const { body } = await admin.post('/v1/scores', { submissions });
      expect(body).toMatchObject({ results: players.map(() => ({ outcome: 'created' })) });
    };
    await makeAgain('earliest');
    await submit(0, 'b', 'd', 'a');
    ladder = createLadder({ url: `http://127.0.0.1:${wire.port}`, WebSocket, random: () => 0 });
    const board = ladder.board(id);
    const watches = [
      board.watchTop({}, () => undefined),
      board.watchRange({ offset: 0 }, () => undefined),
      board.watchPlayer({ playerId: 'a' }, () => undefined),
    ];
    const expectOrder = async (players: string): Promise<void> => {
      const shown = (): string[] =>
        watches.map(({ list }) => list?.entries.map(({ rank, playerId }) => `${rank}${playerId}`).join('') ?? '');
      await expect.poll(shown, { timeout: 10_000 }).toEqual(watches.map(() => players));
    };
    await expectOrder('1b1d1a');
    await makeAgain('latest');
    await submit(0, 'b', 'd', 'a');
    await expectOrder('1a1d1b');
    await submit(1, 'c');
    await expectOrder('1a1c1d1b');
    // While nobody hears of it.
    wire.cut();
    await makeAgain('none');
    await submit(0, 'b', 'd', 'a');
    wire.mend();
    await expectOrder('1a1b1d');
    await submit(0, 'c');
    await expectOrder('1a1b1c1d');
  });

  it(`show at every seq what a snapshot shows, and at the end what REST has: ${rounds * BOARDS_AT_ONCE} boards, each cut ${CUTS} times`, async () => {
    const sums = { states: 0, ofFollower: 0, ofFresh: 0 };
    for (let number = 0; number < rounds; number += 1) {
      const counts = await round(firstSeed + number, number);
      for (const name of ['states', 'ofFollower', 'ofFresh'] as const) sums[name] += counts[name];
      ladder.close();
      for (const { socket } of followers.splice(0)) socket.terminate();
    }
    process.stdout.write(`Compared: ${JSON.stringify(sums)}\n`);
    expect(sums.ofFollower).toBeGreaterThan(sums.states / 2);
    expect(sums.ofFresh).toBeGreaterThan(rounds * 5);
  });
});
