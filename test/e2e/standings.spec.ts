// Real: the built service in one process, PostgreSQL, Redis, HTTP. What one call says of all boards is compared with what
// each board says by itself.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

const BOARDS = 30;
const PLAYERS = 12;
const SHARDS = [1, 2, 5, 16];

interface Standing {
  board: string;
  title: string | null;
  window: { id: string; resetsAt: string | null };
  rank: number;
  total: number;
  percentile: number;
  score: number;
  columns: Record<string, number>;
  achievedAt: string | null;
  rankStyle: string;
  boardVersion: number;
  frozenAt: string | null;
}

interface Page {
  playerId: string;
  asOf: string;
  standings: Standing[];
  unavailable: string[];
  next: string | null;
}

const idOf = (number: number): string => `b${String(number).padStart(2, '0')}`;
const at = (ms: number): string => new Date(ms).toISOString();

function definitionOf(number: number): object {
  const columns = number % 2 === 0 ? [{ name: 'moves', order: 'asc' }] : [];
  return {
    title: number % 4 === 0 ? null : `Board ${number}`,
    order: number % 3 === 0 ? 'asc' : 'desc',
    tiebreak: (['earliest', 'latest', 'none'] as const)[number % 3],
    rankStyle: number % 5 === 0 ? 'competition' : 'ordinal',
    columns,
    windows: number % 6 === 0 ? ['daily', 'alltime', { rolling: '24h' }] : ['alltime', 'daily'],
    sharding: { by: 'hash', count: SHARDS[number % SHARDS.length] },
    visibility: number % 10 === 9 ? 'private' : 'public',
  };
}

describe("a player's standings", () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let reader: RestClient;
  let anyone: RestClient;

  const page = async (player: string, query = '', client = reader): Promise<Page> => {
    const answer = await client.get(`/v1/players/${encodeURIComponent(player)}/standings${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body as Page;
  };
  const places = ({ standings }: Page): string[] => standings.map(({ board, window }) => `${board} ${window.id}`);
  const boardsOf = ({ standings }: Page): string[] => [...new Set(standings.map(({ board }) => board))];
  const isPrivate = (board: string): boolean => board.endsWith('9');
  const as = async (player: string): Promise<RestClient> => anyone.as(await playerToken(service.jwtSecret, player));

  const submit = async (submissions: object[]): Promise<void> => {
    const answer = await admin.post('/v1/scores', { submissions }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    for (const result of (answer.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
  };

  beforeAll(async () => {
    service = await startStandalone();
    anyone = new RestClient(service.url);
    admin = anyone.as(service.adminKey);
    reader = anyone.as(await admin.makeKey('read'));
    for (let number = 0; number < BOARDS; number += 1) await admin.makeBoard(idOf(number), definitionOf(number));
    const submissions = [];
    for (let number = 0; number < BOARDS; number += 1) {
      const columns = number % 2 === 0 ? { moves: 30 } : {};
      for (let player = 0; player < PLAYERS; player += 1) {
        // Scores are shared by three, everyone but the last plays on every board.
        if (player === PLAYERS - 1 && number % 7 !== 0) continue;
        const score = Math.floor(((player * 7 + number) % PLAYERS) / 3);
        submissions.push({ board: idOf(number), playerId: `p${player}`, score, columns });
      }
    }
    await submit(submissions);
    await submit([
      { board: 'b00', playerId: 'old', score: 1, columns: { moves: 1 }, achievedAt: '2020-01-01T00:00:00Z' },
    ]);
  });
  afterAll(() => service?.stop());

  /** What each board says of the player, window by window. */
  const asked = async (player: string): Promise<Standing[]> => {
    const found: Standing[] = [];
    for (let number = 0; number < BOARDS; number += 1) {
      const board = idOf(number);
      const { windows } = (await reader.get(`/v1/boards/${board}/windows?state=running`)).body as {
        windows: { id: string }[];
      };
      for (const { id } of windows) {
        const answer = await reader.get(`/v1/boards/${board}/players/${player}?window=${id}&around=0`);
        if (answer.status === 404) continue;
        const { entry, ...list } = answer.body as { entry: Standing } & Standing;
        const { rank, percentile, score, columns, achievedAt } = entry;
        const { window, total, rankStyle, boardVersion } = list;
        const title = number % 4 === 0 ? null : `Board ${number}`;
        const own = { rank, total, percentile, score, columns, achievedAt, rankStyle, boardVersion };
        found.push({ board, title, window, ...own, accuracy: 'exact', frozenAt: null } as Standing);
      }
    }
    return found;
  };

  it.each(['p0', 'p5', 'p11', 'old', 'nobody'])('of %s are what each board says by itself', async (player) => {
    const wanted = await asked(player);
    const { playerId, standings, unavailable, next } = await page(player);
    expect(playerId).toBe(player);
    expect(standings).toEqual(wanted);
    expect([unavailable, next]).toEqual([[], null]);
    const windows = { p0: 65, p5: 65, p11: 11, old: 1, nobody: 0 }[player];
    expect(standings).toHaveLength(windows!);
    if (player === 'p0')
      expect(places({ standings } as Page).slice(0, 4)).toMatchObject(
        ['b00 daily', 'b00 alltime', 'b00 rolling', 'b01 alltime'].map((one) => expect.stringContaining(one) as string),
      );
  });

  it('come in pages of boards, which together are all of them', async () => {
    const all = await page('p0');
    for (const limit of [1, 7, 29, 30, 500]) {
      const standings: Standing[] = [];
      let pages = 0;
      for (let cursor = ''; ; pages += 1) {
        const part = await page('p0', `?limit=${limit}${cursor}`);
        expect(boardsOf(part).length).toBeLessThanOrEqual(limit);
        standings.push(...part.standings);
        if (part.next === null) break;
        cursor = `&cursor=${part.next}`;
      }
      expect(standings).toEqual(all.standings);
      expect(pages).toBe(Math.ceil(BOARDS / limit) - 1);
    }
  });

  it('can be narrowed to one kind of window', async () => {
    const all = await page('p0');
    for (const kind of ['alltime', 'daily', 'rolling', 'weekly', 'season']) {
      const ofKind = all.standings.filter(({ window }) => window.id.startsWith(kind));
      expect((await page('p0', `?window=${kind}`)).standings, kind).toEqual(ofKind);
    }
  });

  it('show each caller the boards that it may read', async () => {
    const open = Array.from({ length: BOARDS }, (_, number) => idOf(number)).filter((id) => !isPrivate(id));
    expect(boardsOf(await page('p0', '', anyone))).toEqual(open);
    expect(boardsOf(await page('p0', '', anyone.as(await admin.makeKey('scores:write'))))).toEqual(open);
    for (const client of [await as('p0'), await as('p3'), reader, admin]) {
      expect(boardsOf(await page('p0', '', client))).toHaveLength(BOARDS);
    }
    expect((await page('me', '', await as('p0'))).standings).toEqual((await page('p0')).standings);
    expectProblem(await reader.get('/v1/players/me/standings'), 'NOT_A_PLAYER');
    expectProblem(await anyone.as('nonsense').get('/v1/players/p0/standings'), 'UNAUTHENTICATED');
    // A page of what a caller may read is as long as one of all.
    const page9 = await page('p0', '?limit=9', anyone);
    expect([boardsOf(page9).length, page9.next]).toEqual([9, 'b08']);
    expect(boardsOf(await page('p0', '?limit=9&cursor=b08', anyone))[0]).toBe('b10');
  });

  it('of who is not listed look to others like those of a player without entries', async () => {
    expect((await admin.put('/v1/players/p1', { listed: false })).status).toBe(200);
    const hidden = async (client: RestClient): Promise<number> => (await page('p1', '', client)).standings.length;
    for (const client of [anyone, await as('p2')]) await expect.poll(() => hidden(client)).toBe(0);
    const nobody = { ...(await page('nobody', '?limit=3', anyone)), playerId: 'p1', asOf: '' };
    expect({ ...(await page('p1', '?limit=3', anyone)), asOf: '' }).toEqual(nobody);
    for (const client of [await as('p1'), reader, admin]) expect(await hidden(client)).toBe(65);
    await admin.put('/v1/players/p1', {});
  });

  it('are found by any Unicode id, and follow what is submitted', async () => {
    const player = 'Zoë/}{ 🏆';
    await submit([{ board: 'b03', playerId: player, score: 2 }]);
    const before = await page(player);
    expect(places(before)[0]).toBe('b03 alltime');
    expect(before.standings).toHaveLength(2);
    const etag = (await reader.get('/v1/players/p0/standings?limit=1')).headers['etag']!;
    const same = await reader.get('/v1/players/p0/standings?limit=1', { 'If-None-Match': etag });
    expect([same.status, same.headers['cache-control']]).toEqual([304, 'no-cache']);
    await submit([{ board: 'b00', playerId: 'p0', score: -100, columns: { moves: 1 } }]);
    const after = await reader.get('/v1/players/p0/standings?limit=1', { 'If-None-Match': etag });
    expect([after.status, (after.body as Page).standings[0]!.rank]).toEqual([200, 1]);
  });

  it('of a frozen window are those of its freeze, for everyone', async () => {
    const now = Date.now();
    const freezeAt = now + 8000;
    const season = {
      season: 'cup',
      startsAt: at(now - 3_600_000),
      endsAt: at(now + 3_600_000),
      freezeAt: at(freezeAt),
    };
    await admin.makeBoard('zz-cup', { windows: [season], tiebreak: 'none' });
    const of = async (client: RestClient): Promise<Standing[]> => {
      const { standings } = await page('q1', '?cursor=zz&window=season', client);
      return standings;
    };
    await submit([
      { board: 'zz-cup', playerId: 'q1', score: 5 },
      { board: 'zz-cup', playerId: 'q2', score: 6 },
    ]);
    expect(await of(anyone)).toMatchObject([{ rank: 2, total: 2, score: 5, frozenAt: null }]);
    await new Promise((resolve) => setTimeout(resolve, freezeAt + 50 - Date.now()));
    // While the frozen standings are being written, and this board is the only one asked for, there is nothing to say.
    const status = async (): Promise<number> => (await anyone.get('/v1/players/q1/standings?cursor=zz')).status;
    await expect.poll(status).toBe(200);
    await submit([{ board: 'zz-cup', playerId: 'q1', score: 50 }]);
    for (const client of [anyone, reader, admin, await as('q1')]) {
      const [standing] = await of(client);
      expect(standing).toMatchObject({ rank: 2, total: 2, score: 5, percentile: 0, frozenAt: at(freezeAt) });
      expect(Date.parse(standing!.achievedAt!)).toBeLessThan(freezeAt);
    }
  });

  it('refuse what is not well formed', async () => {
    for (const query of ['?limit=0', '?limit=501', '?window=daily:2026-01-01', '?cursor=B%2F', '?scope=global']) {
      expectProblem(await reader.get(`/v1/players/p0/standings${query}`), 'VALIDATION_FAILED');
    }
    expectProblem(await reader.get(`/v1/players/${'x'.repeat(129)}/standings`), 'VALIDATION_FAILED');
  });
});
