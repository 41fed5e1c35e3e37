// Real: the built service in one process, PostgreSQL, Redis and HTTP.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ExportReader } from './exports.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

interface Page {
  entries: { rank: number; playerId: string; score: number }[];
  total: number;
  next: string | null;
  prev: string | null;
  window: { edition?: number };
}

const SHOWN_WITHIN = { timeout: 20_000, interval: 50 };
/** A revision is there within 60 s. */
const REVISED = { timeout: 60_000, interval: 200 };
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
/** Values that several share, above and below that of ada, and the same as hers. */
const SCORES = { a: 9, b: 9, c: 8, d: 7, ada: 7, e: 7, f: 6, g: 6, h: 2, i: 1 };

let service: RunningStandalone;
let anyone: RestClient;
let admin: RestClient;
let adaToken: string;
let bobToken: string;
let ada: RestClient;
let bob: RestClient;
let isShadowed = false;

beforeAll(async () => {
  service = await startStandalone();
  anyone = new RestClient(service.url);
  admin = anyone.as(service.adminKey);
  adaToken = await playerToken(service.jwtSecret, 'ada');
  bobToken = await playerToken(service.jwtSecret, 'a');
  [ada, bob] = [anyone.as(adaToken), anyone.as(bobToken)];
});
afterAll(() => service?.stop());
const lift = async (): Promise<void> => {
  const answer = await admin.delete('/v1/admin/players/ada/sanction?reason=over');
  expect(answer.status, answer.text).toBe(200);
  isShadowed = false;
};
afterEach(lift);

async function boardWithAll(id: string, definition: object = {}): Promise<string> {
  await admin.makeBoard(id, { windows: ['alltime', SEASON], ...definition });
  for (const [playerId, score] of Object.entries(SCORES)) await submit(id, playerId, score);
  return id;
}
const submit = async (board: string, playerId: string, score: number): Promise<void> => {
  const answer = await admin.post(`/v1/boards/${board}/scores`, { playerId, score }, { Prefer: 'wait=10' });
  expect(answer.status, answer.text).toBe(200);
};
const shadow = async (): Promise<void> => {
  const answer = await admin.put('/v1/admin/players/ada/sanction', { kind: 'shadow', reason: 'a test' });
  expect(answer.status, answer.text).toBe(200);
  // Known to the process within a second.
  await expect
    .poll(async () => (await ada.get('/v1/players/me/standings')).headers['cache-control'], SHOWN_WITHIN)
    .toBe('private, no-store');
  isShadowed = true;
};
const get = async <Body = Page>(path: string, client: RestClient): Promise<Body> => {
  const answer = await client.get(path);
  expect(answer.status, `${path}: ${answer.text}`).toBe(200);
  if (client === ada) {
    expect(answer.headers['cache-control']).toBe(isShadowed ? 'private, no-store' : 'no-cache');
    expect(answer.text).not.toMatch(/sanction|shadow|unranked/i);
  }
  return answer.body as Body;
};
const rows = ({ entries }: Pick<Page, 'entries'>): string[] =>
  entries.map(({ rank, playerId }) => `${rank} ${playerId}`);
const pathOf = (board: string, query: string): string => `/v1/boards/${board}/entries?${query}`;

/** All pages from a first one on, to the end and back: the rows of the pages on either way. */
async function walked(first: string, client: RestClient): Promise<{ there: string[]; back: string[] }> {
  const there: string[] = [];
  let page = await get(first, client);
  for (; ; page = await get(page.next, client)) {
    there.push(...rows(page));
    if (page.next === null) break;
  }
  const back = rows(page);
  while (page.prev !== null) {
    page = await get(page.prev, client);
    back.unshift(...rows(page));
  }
  return { there, back };
}

describe('pages that hold still', () => {
  it.each(['ordinal', 'competition', 'dense'])('show a shadowed player in its place, in %s ranks', async (style) => {
    const board = await boardWithAll(`still-${style}`, { rankStyle: style });
    const all = rows(await get(pathOf(board, 'limit=50'), ada));
    expect(all.some((row) => row.endsWith(' ada'))).toBe(true);
    await shadow();
    const without = (): Promise<string[]> => get(pathOf(board, 'limit=50'), anyone).then(rows);
    await expect.poll(without, SHOWN_WITHIN).toHaveLength(all.length - 1);
    const exported = async (token: string): Promise<string[]> => {
      const { text, response } = await new ExportReader(service.url).text(board, '?format=ndjson', token);
      expect(response.status, text).toBe(200);
      expect(response.headers.get('cache-control')).toBe(token === adaToken ? 'private, no-store' : 'no-cache');
      return rows({
        entries: text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Page['entries'][0]),
      });
    };
    expect(await exported(adaToken)).toEqual(all);
    expect(await exported(bobToken)).toEqual(await without());
    for (const limit of [1, 2, 3, 4, 7, 50]) {
      const first = pathOf(board, `cursor=start&limit=${limit}`);
      expect(await walked(first, ada), `limit ${limit}`).toEqual({ there: all, back: all });
      expect(await walked(first, bob)).toEqual({ there: await without(), back: await without() });
      // The first page is around the player, so what comes before it is read by going back.
      const around = await get(pathOf(board, `cursor=start&aroundPlayer=me&limit=${limit}`), ada);
      expect(rows(around)).toContain(all.find((row) => row.endsWith(' ada')));
      expect(around.total).toBe(all.length);
      const aroundScore = await get(pathOf(board, `cursor=start&aroundScore=6&limit=${limit}`), ada);
      expect(rows(aroundScore)).toEqual(rows(await get(pathOf(board, `aroundScore=6&limit=${limit}`), ada)));
    }
    // Others play on: the pages hold still.
    const begun = await get(pathOf(board, 'cursor=start&limit=3'), ada);
    await submit(board, 'i', 30);
    expect([...rows(begun), ...(await walked(begun.next!, ada)).there]).toEqual(all);
    // Its own entry is another now: the list is not kept as it was.
    await submit(board, 'ada', 31);
    expectProblem(await ada.get(begun.next!), 'CURSOR_EXPIRED');
    expectProblem(await bob.get(begun.next!), 'CURSOR_EXPIRED');
    expect(rows(await get(pathOf(board, 'cursor=start&limit=1'), ada))).toEqual(['1 ada']);
  });

  it('that were begun before a shadow, and read on after it, show no gap to the player itself', async () => {
    const board = await boardWithAll('begun');
    const begun = await get(pathOf(board, 'cursor=start&limit=3'), ada);
    await shadow();
    await expect.poll(async () => rows(await get(pathOf(board, 'limit=50'), anyone)), SHOWN_WITHIN).toHaveLength(9);
    expect(rows(await get(begun.next!, ada))).toEqual(['4 d', '5 ada', '6 e']);
  });
});

describe('windows that have ended', () => {
  it.each(['before', 'after'])(
    'have a shadowed player in them for itself, which was shadowed %s their end',
    async (when) => {
      const board = await boardWithAll(`ended-${when}`, { runs: { keepDays: 30 } });
      const end = async (): Promise<void> => {
        const closed = await admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
        expect(closed.status, closed.text).toBe(200);
      };
      const path = pathOf(board, 'window=season:s1&limit=50');
      const all = rows(await get(path, ada));
      if (when === 'after') await end();
      await shadow();
      if (when === 'before') await end();
      const without = async (): Promise<string[]> => rows(await get(path, anyone));
      const isClosedUp = async (): Promise<string | undefined> => (await without()).at(-1);
      await expect.poll(isClosedUp, REVISED).toBe('9 i');
      expect(await without()).toHaveLength(9);
      expect(rows(await get(path, ada))).toEqual(all);
      expect((await get(path, ada)).total).toBe(10);
      const listed = async (client: RestClient): Promise<(number | null)[]> =>
        (
          await get<{ windows: { entries: number | null }[] }>(`/v1/boards/${board}/windows?state=settled`, client)
        ).windows.map(({ entries }) => entries);
      expect(await listed(ada)).toEqual([10]);
      for (const client of [anyone, bob]) await expect.poll(() => listed(client), REVISED).toEqual([9]);
      expect(await walked(pathOf(board, 'window=season:s1&cursor=start&limit=3'), ada)).toEqual({
        there: all,
        back: all,
      });
      const own = await get<{ entry: object }>(`/v1/boards/${board}/players/me?window=season:s1`, ada);
      expect(own.entry).toMatchObject({ rank: 5, score: 7 });
      expectProblem(await bob.get(`/v1/boards/${board}/players/ada?window=season:s1`), 'ENTRY_NOT_FOUND');
    },
  );
});

describe('the row of a shadowed player in standings', () => {
  const PROOF = 'https://replays.test/ada';

  it.each(['earliest', 'none'])('says all that it said before, where the tie-break is %s', async (tiebreak) => {
    const freezeAtMs = Date.now() + 5000;
    const frozen = { season: 's2', startsAt: SEASON.startsAt, endsAt: SEASON.endsAt };
    const board = await admin.makeBoard(`told-${tiebreak}`, {
      ...{ tiebreak, runs: { keepDays: 30 }, proof: 'everyone' },
      windows: [SEASON, { ...frozen, freezeAt: new Date(freezeAtMs).toISOString() }],
    });
    const play = async (playerId: string, score: number, more: object): Promise<void> => {
      const sent = await admin.post(`/v1/boards/${board}/scores`, { playerId, score, ...more }, { Prefer: 'wait=10' });
      expect(sent.status, sent.text).toBe(200);
    };
    await play('a', 9, { metadata: { by: 'a' }, verified: true });
    await play('ada', 7, { metadata: { by: 'ada' }, verified: true, proof: PROOF });
    expect(Date.now()).toBeLessThan(freezeAtMs);
    await expect.poll(() => Date.now(), SHOWN_WITHIN).toBeGreaterThan(freezeAtMs);
    const closed = await admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
    expect(closed.status, closed.text).toBe(200);
    // What comes after the freeze is in no frozen standings.
    await play('ada', 8, { metadata: { by: 'ada later' }, window: 'season:s2' });
    const rowsOf = async (client: RestClient, window: string): Promise<unknown[]> =>
      (await get(pathOf(board, `window=${window}`), client)).entries.filter(({ playerId }) => playerId === 'ada');
    const exported = async (window: string): Promise<unknown[]> => {
      const { text } = await new ExportReader(service.url).text(board, `?format=ndjson&window=${window}`, adaToken);
      const lines = text.trim().split('\n');
      return lines.map((line) => JSON.parse(line) as { playerId: string }).filter(({ playerId }) => playerId === 'ada');
    };
    const windows = ['season:s1', 'season:s2'];
    await expect.poll(async () => (await anyone.get(pathOf(board, 'window=season:s2'))).status, SHOWN_WITHIN).toBe(200);
    const shown = await Promise.all(windows.map((window) => rowsOf(ada, window)));
    const told = await Promise.all(windows.map(exported));
    for (const [row] of shown) {
      expect(row).toMatchObject({ score: 7, metadata: { by: 'ada' }, verified: true, proof: PROOF });
    }
    await shadow();
    const others = (): Promise<unknown[]> => Promise.all(windows.map((window) => rowsOf(bob, window)));
    await expect.poll(others, REVISED).toEqual([[], []]);
    expect(await Promise.all(windows.map((window) => rowsOf(ada, window)))).toEqual(shown);
    expect(await Promise.all(windows.map(exported))).toEqual(told);
    const moderated = await get<{ entry: object }>(`/v1/boards/${board}/players/ada?window=season:s1`, admin);
    expect(moderated.entry).toMatchObject(shown[0]![0] as object);
  });
});

describe('the history of a shadowed player', () => {
  it('goes on for itself alone, and for everybody after a lift', async () => {
    const board = await boardWithAll('past', { history: { everyMinutes: 1 } });
    type History = { points: { score: number | null; rank: { rank: number; total: number } | null }[] };
    const path = `/v1/boards/${board}/players/ada/history`;
    const newest = async (client: RestClient): Promise<object | undefined> =>
      (await get<History>(path, client)).points.map(({ score, rank }) => [score, rank?.rank, rank?.total])[0];
    await expect.poll(() => newest(anyone), SHOWN_WITHIN).toEqual([7, 5, 5]);
    await shadow();
    await submit(board, 'ada', 8);
    await expect.poll(() => newest(ada), SHOWN_WITHIN).toEqual([8, 4, 10]);
    for (const client of [anyone, bob]) expect(await newest(client)).toBeUndefined();
    await lift();
    await expect.poll(() => newest(anyone), SHOWN_WITHIN).toEqual([8, 4, 10]);
  });
});

describe('estimates', () => {
  it.each(['ordinal', 'competition'])('say the same to a shadowed player as to others, in %s ranks', async (style) => {
    const board = await boardWithAll(`estimated-${style}`, { rankStyle: style });
    const answers = async (): Promise<unknown[]> => {
      const of = `/v1/boards/${board}`;
      const estimated = 'accuracy=estimated';
      const asked = [
        ...['ada', 'a', 'e', 'i'].map((player) => ada.get(`${of}/players/${player}?${estimated}`)),
        ...[8, 7, 6].map((score) => ada.get(`${of}/rank?score=${score}&${estimated}`)),
        ada.get(`${of}/percentiles?at=0,40,50,60,100`),
        ada.post(`${of}/lookups`, { playerIds: ['i', 'ada', 'a', 'nobody'], accuracy: 'estimated' }),
      ];
      return (await Promise.all(asked)).map(({ status, body }) => ({
        ...{ status, ...(body as object) },
        ...{ boardVersion: 0, asOf: '' },
      }));
    };
    // Once the list is sketched.
    const isEstimated = async (): Promise<boolean> =>
      (await answers()).every((one) => (one as { accuracy: string; total: number }).accuracy === 'estimated');
    await expect.poll(isEstimated, SHOWN_WITHIN).toBe(true);
    const before = await answers();
    await shadow();
    await expect.poll(async () => rows(await get(pathOf(board, 'limit=50'), anyone)), SHOWN_WITHIN).toHaveLength(9);
    const sketchedWithout = async (): Promise<unknown> =>
      (await get<{ total: number }>(`/v1/boards/${board}/percentiles?at=50`, anyone)).total;
    expect(await answers()).toEqual(before);
    await expect.poll(sketchedWithout, SHOWN_WITHIN).toBe(9);
    expect(await answers()).toEqual(before);
  });
});

describe('the standings of a shadowed player', () => {
  it('are there for itself, and for nobody else', async () => {
    const board = await boardWithAll('everywhere');
    await shadow();
    await expect.poll(async () => rows(await get(pathOf(board, 'limit=50'), anyone)), SHOWN_WITHIN).toHaveLength(9);
    type Standings = { standings: { board: string; rank: number; total: number }[] };
    const of = async (path: string, client: RestClient): Promise<object[]> =>
      (await get<Standings>(path, client)).standings.filter((one) => one.board === board);
    expect(await of('/v1/players/me/standings', ada)).toMatchObject([
      { rank: 5, total: 10 },
      { rank: 5, total: 10 },
    ]);
    expect(await of('/v1/players/ada/standings', bob)).toEqual([]);
  });
});
