// Real: the built service in one process, PostgreSQL, Redis, HTTP and a WebSocket; ids that are hard to carry, read back everywhere.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { ExportReader, linesOf, parseCsv } from './exports.js';
import { BAD_IDS, GOOD_IDS } from './hostile-inputs.js';
import { expectProblem, RestClient } from './rest-client.js';

const BOARD = 'ids';
const CIRCLE = 'all';
const SETTLED = { interval: 100 };
const READY = { timeout: 60_000, interval: 100 };
/** Byte by byte, as PostgreSQL and Redis compare. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const sorted = (ids: readonly string[]): string[] => [...ids].sort(byBytes);
const path = (id: string): string => encodeURIComponent(id);
/** All on one score: their order is that of their bytes. */
const IN_ORDER = sorted(GOOD_IDS);

interface Rows {
  entries: ({ playerId: string; rank: number } | null)[];
}

let service: RunningStandalone;
let admin: RestClient;
const playersOf = ({ entries }: Rows): (string | undefined)[] => entries.map((entry) => entry?.playerId);

async function done(method: 'put' | 'post' | 'delete', url: string, body?: object): Promise<Record<string, unknown>> {
  const response = await (method === 'delete' ? admin.delete(url) : admin[method](url, body));
  expect(response.status, `${url} ${response.text}`).toBeLessThan(300);
  return response.body as Record<string, unknown>;
}

beforeAll(async () => {
  service = await startStandalone();
  admin = new RestClient(service.url, service.adminKey);
  await admin.makeBoard(BOARD, {
    tiebreak: 'none',
    scopes: ['global', 'guild', 'region'],
    history: {},
    push: { intervalMs: 50, top: 100 },
  });
  for (const id of GOOD_IDS) {
    const run = { submissionId: id, playerId: id, sourceId: id, score: 1, metadata: { id } };
    expect(await done('post', `/v1/boards/${BOARD}/scores`, run)).toMatchObject({
      submissionId: id,
      playerId: id,
      replayed: false,
    });
    await done('put', `/v1/circles/${CIRCLE}/members/${path(id)}`);
    await done('put', `/v1/guilds/${path(id)}`, {});
    await done('put', `/v1/guilds/${path(id)}/members/${path(id)}`);
    await done('put', `/v1/players/reader/friends/${path(id)}`);
    await done('put', `/v1/players/reader/follows/${path(id)}`);
  }
  // Players and guilds are ranked by events of their own.
  for (const list of ['entries', 'guilds']) {
    await vi.waitFor(async () => {
      const { entries } = (await admin.get(`/v1/boards/${BOARD}/${list}?limit=500`)).body as Rows;
      expect(entries).toHaveLength(GOOD_IDS.length);
    }, READY);
  }
});
afterAll(() => service?.stop());

describe('hostile ids', () => {
  it('are the same submission when they come again, and another when they are another', async () => {
    for (const id of GOOD_IDS) {
      const run = { submissionId: id, playerId: id, sourceId: id, score: 1, metadata: { id } };
      const answer = await done('post', `/v1/boards/${BOARD}/scores`, run);
      expect(answer).toMatchObject({ submissionId: id, outcome: 'created', replayed: true });
      expectProblem(await admin.post(`/v1/boards/${BOARD}/scores`, { ...run, score: 2 }), 'SUBMISSION_ID_REUSED');
    }
    for (const [name, json] of BAD_IDS) {
      const body = `{"playerId":"ada","score":1,"submissionId":${json}}`;
      expect((await admin.post(`/v1/boards/${BOARD}/scores`, body)).status, name).toBe(400);
    }
  });

  it('stand in lists in the order of their bytes, by pages, by cursor and around each', async () => {
    const list = (await admin.get(`/v1/boards/${BOARD}/entries?limit=500`)).body as Rows;
    expect(playersOf(list)).toEqual(IN_ORDER);
    const seen: string[] = [];
    for (let next: string | null = `/v1/boards/${BOARD}/entries?limit=7&cursor=start`; next !== null;) {
      const page = (await admin.get(next)).body as Rows & { next: string | null };
      seen.push(...(playersOf(page) as string[]));
      next = page.next;
    }
    expect(seen).toEqual(IN_ORDER);
    for (const [index, id] of IN_ORDER.entries()) {
      const around = (await admin.get(`/v1/boards/${BOARD}/entries?limit=1&aroundPlayer=${path(id)}`)).body as Rows;
      expect(around.entries).toMatchObject([{ playerId: id, rank: index + 1 }]);
    }
  });

  it('are read one by one, with neighbours, standings, history and guild', async () => {
    for (const [index, id] of IN_ORDER.entries()) {
      const read = await admin.get(`/v1/boards/${BOARD}/players/${path(id)}?around=1`);
      expect(read.status, id).toBe(200);
      expect(read.body).toMatchObject({ entry: { playerId: id, rank: index + 1, metadata: { id } } });
      expect(playersOf({ entries: (read.body as { neighbours: Rows['entries'] }).neighbours })).toEqual(
        IN_ORDER.slice(Math.max(0, index - 1), index + 2),
      );
      const standings = (await admin.get(`/v1/players/${path(id)}/standings`)).body as object;
      expect(standings).toMatchObject({ playerId: id, standings: [{ board: BOARD, rank: index + 1 }] });
      const history = await admin.get(`/v1/boards/${BOARD}/players/${path(id)}/history`);
      expect(history.body, id).toMatchObject({ playerId: id });
      const inGuild = async (): Promise<unknown[]> =>
        playersOf((await admin.get(`/v1/boards/${BOARD}/entries?scope=${path(`guild:${id}`)}`)).body as Rows);
      await expect.poll(inGuild, SETTLED).toEqual([id]);
      expect((await admin.get(`/v1/players/${path(id)}`)).body).toMatchObject({ playerId: id, guildId: id });
    }
    const lookup = (await done('post', `/v1/boards/${BOARD}/lookups`, { playerIds: GOOD_IDS })) as unknown as Rows;
    expect(playersOf(lookup)).toEqual([...GOOD_IDS]);
  });

  it('are friends, followed, in circles and ranked among them', async () => {
    expect((await admin.get('/v1/players/reader/friends')).body).toMatchObject({ friends: IN_ORDER });
    expect((await admin.get('/v1/players/reader/follows')).body).toMatchObject({ follows: IN_ORDER });
    expect((await admin.get(`/v1/circles/${CIRCLE}/members`)).body).toMatchObject({ members: IN_ORDER });
    for (const list of ['friends/reader', 'follows/reader', `circles/${CIRCLE}`]) {
      const page = (await admin.get(`/v1/boards/${BOARD}/${list}?limit=500`)).body as Rows;
      expect(playersOf(page), list).toEqual(IN_ORDER);
    }
    const guilds = (await admin.get(`/v1/boards/${BOARD}/guilds?limit=500`)).body as Rows;
    expect(playersOf(guilds)).toEqual(IN_ORDER);
  });

  it('are exported as they are', async () => {
    const exports = new ExportReader(service.url);
    const csv = parseCsv((await exports.text(BOARD, '?format=csv')).text);
    const at = csv[0]!.indexOf('playerId');
    expect(csv.slice(1).map((record) => record[at])).toEqual(IN_ORDER);
    const ndjson = linesOf((await exports.text(BOARD, '?format=ndjson')).text);
    expect(ndjson.map(({ playerId }) => playerId)).toEqual(IN_ORDER);
  });

  it('are followed live, each in a subscription of that id', async () => {
    const client = await LiveClient.connect(`${service.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const short = IN_ORDER.filter((id) => id.length <= 64).slice(0, 45);
    for (const id of short) {
      const snapshot = await client.ask({
        type: 'subscribe',
        id,
        board: BOARD,
        channel: 'player',
        playerId: id,
        around: 0,
      });
      expect(snapshot, id).toMatchObject({ type: 'snapshot', id, entries: [{ playerId: id }] });
    }
    const top = await client.ask({ type: 'subscribe', id: 'top', board: BOARD, channel: 'top', limit: 100 });
    expect(playersOf(top as unknown as Rows)).toEqual(IN_ORDER);
    const submissions = GOOD_IDS.map((playerId, i) => ({ board: BOARD, playerId, score: 10 + i }));
    await done('post', '/v1/scores', { submissions });
    const best = [...GOOD_IDS].reverse();
    await expect.poll(() => client.list('top').places(), SETTLED).toEqual(best.map((id, i) => `${i + 1} ${id}`));
    for (const id of short) {
      await expect.poll(() => client.list(id).places(), SETTLED).toEqual([`${best.indexOf(id) + 1} ${id}`]);
    }
    expect(client.frames.filter(({ type }) => type === 'error')).toEqual([]);
    await client.close();
  });

  it('leave guilds, friends and boards again', async () => {
    for (const id of GOOD_IDS) {
      await done('delete', `/v1/guilds/${path(id)}/members/${path(id)}`);
      await done('delete', `/v1/guilds/${path(id)}`);
      await done('delete', `/v1/players/reader/friends/${path(id)}`);
      await done('delete', `/v1/circles/${CIRCLE}/members/${path(id)}`);
      await done('delete', `/v1/boards/${BOARD}/players/${path(id)}`);
    }
    await expect
      .poll(async () => ((await admin.get(`/v1/boards/${BOARD}/entries`)).body as Rows).entries, SETTLED)
      .toEqual([]);
    expect(service.output()).not.toMatch(/request failed/);
  });
});
