// Real: the built service in one process, PostgreSQL, Redis, HTTP, and WebSocket clients that know only the contract's rule;
// boards where each run is an entry. The model ranks a plain list anew for each question.
import { Dice, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { ExportReader } from './exports.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';
import { RunEntriesModel, type ModelRow, type ModelRun, type ModelStyle } from './run-entries-model.js';

const SHOWN_WITHIN = { timeout: 20_000, interval: 50 };
/** A revision is there within 60 s. */
const REVISED = { timeout: 60_000, interval: 200 };
const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const PER_PLAYER_MAX = 3;
const PER_RUN = { runs: { keepDays: 30 }, entriesPer: 'run', entriesPerPlayerMax: PER_PLAYER_MAX };
const OTHERS = ['a', 'b', 'c', 'd', 'e'];
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

interface Row {
  rank: number;
  playerId: string;
  entryId: string;
}
interface Page {
  entries: Row[];
  total: number;
  players: number | null;
  boardVersion: number;
  next: string | null;
  prev: string | null;
}

const text = ({ rank, playerId, entryId }: Row): string => `${rank} ${playerId} ${entryId}`;
const expected = (rows: readonly ModelRow[]): string[] =>
  rows.map(({ rank, playerId, submissionId }) => text({ rank, playerId, entryId: submissionId }));

describe('a shadowed player of a board where each run is an entry', () => {
  let service: RunningStandalone;
  let admin: RestClient;
  let adaToken: string;
  let ada: RestClient;
  let bobToken: string;
  let bob: RestClient;
  let clients: LiveClient[] = [];
  let runs = 0;

  beforeAll(async () => {
    service = await startStandalone({ RATE_LIMIT_PLAYER_PER_SECOND: '0', RATE_LIMIT_KEY_PER_SECOND: '0' });
    admin = new RestClient(service.url, service.adminKey);
    [adaToken, bobToken] = [await playerToken(service.jwtSecret, 'ada'), await playerToken(service.jwtSecret, 'a')];
    [ada, bob] = [admin.as(adaToken), admin.as(bobToken)];
    for (const friend of ['a', 'c', 'nobody']) await admin.put(`/v1/players/ada/friends/${friend}`);
  });
  afterEach(async () => {
    for (const client of clients) client.socket.terminate();
    clients = [];
    await lift();
  });
  afterAll(() => service?.stop());

  const submit = async (board: string, model: RunEntriesModel, playerId: string, score: number): Promise<ModelRun> => {
    runs += 1;
    // Some at one time, so that the last tie-break decides.
    const run = { submissionId: `r${runs}`, playerId, score, achievedAtMs: START_MS + (runs % 5) * 1000 };
    const { achievedAtMs, ...sent } = run;
    const achievedAt = new Date(achievedAtMs).toISOString();
    const answer = await admin.post(`/v1/boards/${board}/scores`, { ...sent, achievedAt }, { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    model.add(run);
    return run;
  };
  const boardOf = async (id: string, definition: object, seed: number): Promise<[string, RunEntriesModel, Dice]> => {
    const windows = ['alltime', SEASON];
    const board = await admin.makeBoard(id, {
      ...PER_RUN,
      windows,
      push: { intervalMs: 100, top: 100 },
      ...definition,
    });
    const model = new RunEntriesModel(PER_PLAYER_MAX);
    const dice = new Dice(seed);
    for (const player of ['ada', 'ada', 'ada', 'ada', ...OTHERS, ...OTHERS, ...OTHERS])
      await submit(board, model, player, dice.below(8));
    return [board, model, dice];
  };
  const shadow = async (): Promise<void> => {
    const answer = await admin.put('/v1/admin/players/ada/sanction', { kind: 'shadow', reason: 'a test' });
    expect(answer.status, answer.text).toBe(200);
    // Known to the process within a second.
    await expect
      .poll(async () => (await ada.get('/v1/players/me/standings')).headers['cache-control'], SHOWN_WITHIN)
      .toBe('private, no-store');
  };
  const lift = async (): Promise<void> => {
    expect((await admin.delete('/v1/admin/players/ada/sanction?reason=over')).status).toBe(200);
  };
  const get = async <Body = Page>(path: string, client: RestClient): Promise<Body> => {
    const answer = await client.get(path);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    return answer.body as Body;
  };
  const rows = async (path: string, client: RestClient): Promise<string[]> =>
    (await get(path, client)).entries.map(text);
  const pathOf = (board: string, query: string): string => `/v1/boards/${board}/entries?${query}`;
  const exported = async (board: string, query: string, token: string): Promise<string[]> =>
    ((await new ExportReader(service.url).rows(board, query, token)) as unknown as Row[]).map(text);

  /** All pages from a first one on, to the end and back: the rows of the pages on either way. */
  async function walked(first: string, client: RestClient): Promise<{ there: string[]; back: string[] }> {
    const there: string[] = [];
    let page = await get(first, client);
    for (; ; page = await get(page.next, client)) {
      there.push(...page.entries.map(text));
      if (page.next === null) break;
    }
    const back = page.entries.map(text);
    while (page.prev !== null) {
      page = await get(page.prev, client);
      back.unshift(...page.entries.map(text));
    }
    return { there, back };
  }

  /** Everything that is shown of a window is what the model says, to the player itself and to others. */
  async function check(board: string, window: string, own: ModelRow[], others: ModelRow[]): Promise<void> {
    const both = [
      { client: ada, token: adaToken, all: own },
      { client: bob, token: bobToken, all: others },
    ];
    for (const { client, token, all } of both) {
      await expect
        .poll(() => rows(pathOf(board, `window=${window}&limit=100`), client), REVISED)
        .toEqual(expected(all));
      const players = new Set(all.map(({ playerId }) => playerId)).size;
      const counted = async (): Promise<unknown> => (await get(pathOf(board, `window=${window}`), client)).players;
      await expect.poll(counted, SHOWN_WITHIN).toBe(players);
      expect(await exported(board, `?window=${window}`, token)).toEqual(expected(all));
      for (const limit of [2, 7]) {
        for (let offset = 0; offset <= all.length; offset += limit === 2 ? 1 : 3) {
          const page = await get(pathOf(board, `window=${window}&offset=${offset}&limit=${limit}`), client);
          expect(page.entries.map(text), `${offset}+${limit}`).toEqual(expected(all.slice(offset, offset + limit)));
          expect(page.total).toBe(all.length);
        }
        // Not as it was kept for another reader a moment ago.
        const { boardVersion } = await get(pathOf(board, `window=${window}`), client);
        const start = `window=${window}&cursor=start&minVersion=${boardVersion}`;
        const there = await walked(pathOf(board, `${start}&limit=${limit}`), client);
        expect(there, `limit ${limit}`).toEqual({ there: expected(all), back: expected(all) });
      }
    }
    const player = await get<{ entry: Row; entries: Row[] }>(`/v1/boards/${board}/players/me?window=${window}`, ada);
    const mine = own.filter(({ playerId }) => playerId === 'ada');
    expect(player.entries.map(text)).toEqual(expected(mine));
    expect(text(player.entry)).toBe(expected(mine)[0]);
    expectProblem(await bob.get(`/v1/boards/${board}/players/ada?window=${window}`), 'ENTRY_NOT_FOUND');
    const lookedUp = async (client: RestClient): Promise<(string | null)[]> => {
      const asked = { playerIds: ['ada', 'b', 'nobody'] };
      const answer = await client.post(`/v1/boards/${board}/lookups?window=${window}`, asked);
      expect(answer.status, answer.text).toBe(200);
      return (answer.body as { entries: (Row | null)[] }).entries.map((row) => row && text(row));
    };
    const best = (all: ModelRow[], player: string): string =>
      expected(all.filter((one) => one.playerId === player))[0]!;
    expect(await lookedUp(ada)).toEqual([best(own, 'ada'), best(own, 'b'), null]);
    expect(await lookedUp(bob)).toEqual([null, best(others, 'b'), null]);
    const around = await get(pathOf(board, `window=${window}&cursor=start&aroundPlayer=me&limit=1`), ada);
    expect(around.entries.map(text)).toEqual(expected(mine).slice(0, 1));
  }

  it.each<ModelStyle>(['ordinal', 'competition', 'dense'])(
    'finds all of its entries, in %s ranks',
    async (rankStyle) => {
      const [board, model, dice] = await boardOf(`own-${rankStyle}`, { rankStyle }, rankStyle.length);
      const checkAll = (): Promise<void> =>
        check(board, 'alltime', model.list([], rankStyle), model.list(['ada'], rankStyle));
      await shadow();
      await checkAll();
      const begun = await get(pathOf(board, 'cursor=start&limit=2'), ada);
      // Its entries are others by now, also where one only went.
      const worst = model.of('ada').at(-1)!;
      const all = [...model.list()].filter(({ playerId }) => playerId === 'ada');
      await submit(board, model, 'ada', worst.score + 2);
      expectProblem(await ada.get(begun.next!), 'CURSOR_EXPIRED');
      expectProblem(await bob.get(begun.next!), 'CURSOR_EXPIRED');
      expect(all).toHaveLength(PER_PLAYER_MAX);
      for (let times = 0; times < 8; times += 1)
        await submit(board, model, dice.oneOf(['ada', ...OTHERS]), dice.below(10));
      await checkAll();
      const second = await get(pathOf(board, 'cursor=start&limit=2'), ada);
      for (const { submissionId } of model.of('ada').slice(0, 2)) {
        const voided = await admin.delete(`/v1/boards/${board}/submissions/${submissionId}?reason=a%20test`);
        expect(voided.status, voided.text).toBe(200);
        model.take(submissionId);
      }
      await checkAll();
      expectProblem(await ada.get(second.next!), 'CURSOR_EXPIRED');
      await lift();
      const everybodys = expected(model.list([], rankStyle));
      await expect.poll(() => rows(pathOf(board, 'limit=100'), bob), SHOWN_WITHIN).toEqual(everybodys);
      expect(await rows(pathOf(board, 'limit=100'), ada)).toEqual(everybodys);
    },
  );

  it.each(['before', 'after'])(
    'finds them in windows that have ended, where it was shadowed %s the end',
    async (when) => {
      const [board, model] = await boardOf(`ended-${when}`, { rankStyle: 'dense' }, 5);
      const end = async (): Promise<void> => {
        const closed = await admin.post(`/v1/admin/boards/${board}/close-window`, { window: 'season:s1' });
        expect(closed.status, closed.text).toBe(200);
      };
      if (when === 'after') await end();
      await shadow();
      if (when === 'before') await end();
      await check(board, 'season:s1', model.list([], 'dense'), model.list(['ada'], 'dense'));
    },
  );

  it('finds them in frozen standings, as they were at the freeze', async () => {
    const freezeAtMs = Date.now() + 6000;
    const season = { ...SEASON, freezeAt: new Date(freezeAtMs).toISOString() };
    const [board, model] = await boardOf('frozen', { windows: [season] }, 9);
    const then = model.copy();
    expect(Date.now()).toBeLessThan(freezeAtMs);
    await expect.poll(() => Date.now(), SHOWN_WITHIN).toBeGreaterThan(freezeAtMs);
    // Some of its entries are pushed out, so that they stand in the frozen list alone.
    for (const score of [20, 21]) await submit(board, model, 'ada', score);
    await submit(board, model, 'b', 30);
    const path = pathOf(board, 'window=season:s1&limit=100');
    await expect.poll(async () => (await bob.get(path)).status, SHOWN_WITHIN).toBe(200);
    expect(await rows(path, bob)).toEqual(expected(then.list()));
    await shadow();
    await check(board, 'season:s1', then.list(), then.list(['ada']));
  });

  it('is told at once where a run stands among all that it sees', async () => {
    const [board, model] = await boardOf('told', {}, 11);
    await shadow();
    const sketched = async (): Promise<number> =>
      (await get<{ total: number }>(`/v1/boards/${board}/percentiles?at=50`, bob)).total;
    await expect.poll(sketched, SHOWN_WITHIN).toBe(model.list(['ada']).length);
    for (const score of [20, 6, 0]) {
      runs += 1;
      const run = { submissionId: `r${runs}`, playerId: 'ada', score, achievedAtMs: START_MS };
      const sent = { ...run, achievedAtMs: undefined, achievedAt: new Date(START_MS).toISOString() };
      const { body } = await admin.post(`/v1/boards/${board}/scores`, sent);
      model.add(run);
      const seen = model.list();
      const { entryId, rank } = body as { entryId: string; rank: { after: number; total: number } };
      const place = seen.find(({ submissionId }) => submissionId === entryId)!.rank;
      expect(rank, `${score}`).toMatchObject({
        after: place,
        total: seen.length,
        accuracy: 'estimated',
        errorBound: 0,
      });
    }
  });

  const SUBSCRIPTIONS: Record<string, object> = {
    all: { channel: 'top', limit: 100, rankStyle: 'ordinal' },
    top: { channel: 'top', limit: 10, rankStyle: 'competition' },
    range: { channel: 'range', offset: 3, limit: 7, rankStyle: 'ordinal' },
    player: { channel: 'player', playerId: 'ada', around: 2, rankStyle: 'ordinal' },
    friends: { channel: 'friends', playerId: 'ada', rankStyle: 'ordinal' },
  };
  const OF_ANYBODY = ['all', 'top', 'range', 'player'];

  const connect = async (token: string, board: string, ids: string[]): Promise<LiveClient> => {
    const url = `${service.url.replace('http', 'ws')}/v1/live`;
    const client = await LiveClient.connect(url, ['ladder.v1', `bearer.${token}`]);
    clients.push(client);
    for (const id of ids) {
      const ask = { type: 'subscribe', id, board, ...SUBSCRIPTIONS[id] };
      await expect.poll(async () => (await client.ask(ask)).type, SHOWN_WITHIN).toBe('snapshot');
    }
    return client;
  };
  const shownBy = (client: LiveClient, ids: string[]): object =>
    Object.fromEntries(
      ids.map((id) => {
        const { rows: held, total } = client.list(id);
        return [id, { rows: ([...held.values()] as unknown as Row[]).map(text).sort(), total }];
      }),
    );
  const modelled = (model: RunEntriesModel, without: string[], ids: string[]): object => {
    const ordinal = model.list(without);
    const total = ordinal.length;
    const own = ordinal.findIndex(({ playerId }) => playerId === 'ada');
    const friends = model.bestOf(['ada', 'a', 'c'].filter((one) => !without.includes(one)));
    const competition = model.list(without, 'competition');
    const all: Record<string, { rows: string[]; total: number }> = {
      all: { rows: expected(ordinal), total },
      top: { rows: expected(competition.slice(0, 10)), total },
      range: { rows: expected(ordinal.slice(3, 10)), total },
      player: { rows: own < 0 ? [] : expected(ordinal.slice(Math.max(0, own - 2), own + 3)), total },
      friends: { rows: expected(friends.map((one, at) => ({ ...one, rank: at + 1 }))), total: friends.length },
    };
    return Object.fromEntries(ids.map((id) => [id, { ...all[id]!, rows: all[id]!.rows.sort() }]));
  };

  it('sees them on its socket, which nobody else does, and never sees itself go', async () => {
    const [board, model, dice] = await boardOf('live', {}, 77);
    const own = Object.keys(SUBSCRIPTIONS);
    const [mine, others] = [await connect(adaToken, board, own), await connect(bobToken, board, OF_ANYBODY)];
    const atRest = async (without: string[]): Promise<void> => {
      await expect.poll(() => shownBy(mine, own), SHOWN_WITHIN).toEqual(modelled(model, [], own));
      const expectedOfOthers = modelled(model, without, OF_ANYBODY);
      await expect.poll(() => shownBy(others, OF_ANYBODY), SHOWN_WITHIN).toEqual(expectedOfOthers);
    };
    const play = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1)
        await submit(board, model, dice.oneOf(['ada', 'ada', ...OTHERS]), dice.below(12));
    };
    await atRest([]);
    const statesBefore = new Set(mine.list('all').states.keys());
    for (let times = 0; times < 3; times += 1) {
      await shadow();
      await play(6);
      await atRest(['ada']);
      const [best] = model.of('ada');
      await admin.delete(`/v1/boards/${board}/submissions/${best!.submissionId}?reason=a%20test`);
      model.take(best!.submissionId);
      await atRest(['ada']);
      await lift();
      await play(3);
      await atRest([]);
    }
    for (const [seq, state] of mine.list('all').states)
      if (!statesBefore.has(seq)) expect(state, `seq ${seq}`).toContain('"playerId":"ada"');
    expect(mine.list('all').gaps).toBe(0);
    expect(mine.frames.filter(({ type }) => type === 'error')).toEqual([]);
  });
});
