// Real: the built service in one process, PostgreSQL, Redis, HTTP and a WebSocket. An act is what it comes to in the ledger: the
// entry changes, and a revision is noted, in one transaction.
import { noteRevision, PostgresDatabase } from '@laddercast/ledger';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { assertMatchesAsyncApi } from '../../libs/realtime/test/frame-schemas.js';
import { expectProblem, RestClient } from './rest-client.js';

const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' };
const WINDOW = 'season:s1';
/** A revision is there within 60 s; nothing is asked of it sooner. */
const REVISED = { timeout: 60_000, interval: 200 };

interface Shown {
  window: { edition?: number; revising?: boolean };
  total: number;
  boardVersion: number;
  entries: { playerId: string; rank: number; metadata: object | null }[];
  next: string | null;
}

describe('the standings of a window that ended', () => {
  let app: RunningStandalone;
  let admin: RestClient;
  let database: PostgresDatabase;

  beforeAll(async () => {
    app = await startStandalone();
    admin = new RestClient(app.url, app.adminKey);
    database = new PostgresDatabase({ url: app.databaseUrl, poolMax: 1 });
    await database.open({ migrate: false });
  });
  afterAll(async () => {
    await database?.close();
    await app?.stop();
  });

  async function ended(id: string, definition: object = {}): Promise<void> {
    await admin.makeBoard(id, { windows: [SEASON], scopes: ['global', 'region', 'guild'], ...definition });
    for (const guild of ['red', 'blue']) await admin.put(`/v1/guilds/${id}-${guild}`, { displayName: guild });
    for (const [at, name] of ['ada', 'bob', 'cy', 'dee'].entries()) {
      await admin.put(`/v1/players/${id}-${name}`, { region: 'EU' });
      await admin.put(`/v1/guilds/${id}-${at < 2 ? 'red' : 'blue'}/members/${id}-${name}`);
      const run = { playerId: `${id}-${name}`, score: 10 - at, metadata: { at } };
      const { status, text } = await admin.post(`/v1/boards/${id}/scores`, run, { Prefer: 'wait=10' });
      expect(status, text).toBe(200);
    }
    const closed = await admin.post(`/v1/admin/boards/${id}/close-window`, { window: WINDOW });
    expect(closed.status, closed.text).toBe(200);
  }

  /** The player's entry is taken out of the window. */
  async function takeOut(board: string, player: string): Promise<number> {
    return database.transaction(async (transaction) => {
      const [entry] = await transaction.query<{ window_uid: number }>(
        `UPDATE entries SET removed = true FROM windows w JOIN boards b USING (board_uid)
         WHERE entries.window_uid = w.window_uid AND b.board_id = $1 AND w.window_id = $2 AND player_id = $3
         RETURNING w.window_uid`,
        [board, WINDOW, `${board}-${player}`],
      );
      const [audit] = await transaction.query<{ audit_id: number }>(
        `INSERT INTO audit_log (actor, action, subject, details) VALUES ('test', 'run.void', $1, '{"reason":"a modified client"}')
         RETURNING audit_id`,
        [`player:${board}-${player}`],
      );
      const touched = [{ windowUid: entry!.window_uid, playerId: `${board}-${player}` }];
      await noteRevision(transaction, touched, audit!.audit_id);
      return audit!.audit_id;
    });
  }

  const read = async (path: string, client = admin): Promise<Shown> => {
    const { status, body, text } = await client.get(path);
    expect(status, text).toBe(200);
    return body as Shown;
  };
  const names = ({ entries }: Shown): string[] => entries.map(({ playerId }) => playerId.split('-').at(-1)!);

  it('are another edition within a minute of an act, whatever they are read by', async () => {
    await ended('read');
    const path = `/v1/boards/read/entries?window=${WINDOW}`;
    const before = await read(path);
    expect([names(before), before.window.edition]).toEqual([['ada', 'bob', 'cy', 'dee'], 1]);
    // Who has read the first edition is not told that the window, which shows it, is behind.
    const first = await read(`${path}&edition=1&minVersion=${before.boardVersion}`);
    expect(first.boardVersion).toBe(before.boardVersion);
    const begun = await read(`${path}&limit=2&cursor=start`);
    const act = await takeOut('read', 'ada');
    await expect.poll(async () => (await read(path)).window.revising, { timeout: 2000 }).toBe(true);
    await expect.poll(async () => (await read(path)).window.edition, REVISED).toBe(2);
    const after = await read(path);
    expect(after.window).not.toHaveProperty('revising');
    expect([names(after), after.total]).toEqual([['bob', 'cy', 'dee'], 3]);
    expect(after.entries[0]).toMatchObject({ rank: 1, metadata: { at: 1 } });
    expect(after.boardVersion).toBeGreaterThan(before.boardVersion);

    // Who reads on goes on in what it began with.
    expect(names(await read(begun.next!))).toEqual(['cy', 'dee']);
    const of = `?window=${WINDOW}`;
    const guilds = await read(`/v1/boards/read/guilds${of}`);
    expect(guilds.entries.map(({ playerId, rank }) => [playerId, rank])).toEqual([
      ['read-blue', 1],
      ['read-red', 2],
    ]);
    expect(names(await read(`${path}&scope=region:EU`))).toEqual(['bob', 'cy', 'dee']);
    expect((await admin.get(`/v1/boards/read/players/read-bob${of}`)).body).toMatchObject({
      entry: { rank: 1 },
      total: 3,
    });
    expectProblem(await admin.get(`/v1/boards/read/players/read-ada${of}`), 'ENTRY_NOT_FOUND');
    expect((await admin.get(`/v1/boards/read/rank${of}&score=9.5`)).body).toMatchObject({ rank: 1, total: 3 });
    const csv = (await admin.get(`/v1/boards/read/export${of}`)).text;
    expect(
      csv
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(0, 3).join()),
    ).toEqual(['1,1,read-bob', '2,2,read-cy', '3,3,read-dee']);
    const windows = (await admin.get('/v1/boards/read/windows?state=settled')).body as { windows: object[] };
    expect(windows.windows).toMatchObject([{ id: WINDOW, entries: 3 }]);

    // What there was is kept, for those who may decide.
    const editions = await admin.get(`/v1/boards/read/windows/${WINDOW}/editions`);
    expect(editions.body).toMatchObject({
      window: { id: WINDOW, edition: 2 },
      editions: [
        { edition: 2, reason: 'a modified client', acts: [act] },
        { edition: 1, reason: null, acts: [] },
      ],
      next: null,
    });
    expect(names(await read(`${path}&edition=1`))).toEqual(['ada', 'bob', 'cy', 'dee']);
    const firstOf = await read(`${path}&edition=1&limit=2`);
    expect(firstOf.boardVersion).toBeLessThan(after.boardVersion);
    const second = await read(firstOf.next!);
    expect([names(firstOf), names(second), second.window.edition]).toEqual([['ada', 'bob'], ['cy', 'dee'], 1]);
    expect((await read(`${path}&limit=2`)).next).not.toContain('edition');
    expectProblem(await admin.get(`${path}&edition=3`), 'EDITION_NOT_FOUND');
    expectProblem(await admin.get(`${path}&edition=0`), 'VALIDATION_FAILED');
    const anybody = admin.as(undefined);
    expectProblem(await anybody.get(`${path}&edition=1`), 'FORBIDDEN');
    expect((await read(`${path}&edition=2`, anybody)).total).toBe(3);
    const listed = (await anybody.get(`/v1/boards/read/windows/${WINDOW}/editions`)).body as { editions: object[] };
    expect(listed.editions).toMatchObject([{ edition: 2, reason: null, acts: [] }, { edition: 1 }]);
  });

  it('are told to whoever subscribes to the window, also after its end', async () => {
    await ended('live');
    const client = await LiveClient.connect(`${app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], {
      headers: { authorization: `Bearer ${app.adminKey}` },
    });
    try {
      const subscribed = await client.ask({
        type: 'subscribe',
        id: 's',
        channel: 'top',
        board: 'live',
        window: WINDOW,
        limit: 10,
      });
      expect(subscribed).toMatchObject({ type: 'snapshot', total: 4 });
      await takeOut('live', 'ada');
      await expect
        .poll(() => client.frames.filter(({ type }) => type === 'standings-revised'), REVISED)
        .toEqual([{ type: 'standings-revised', id: 's', window: WINDOW, edition: 2 }]);
      await expect.poll(() => client.list('s').total, REVISED).toBe(3);
      const late = await client.ask({
        type: 'subscribe',
        id: 't',
        channel: 'top',
        board: 'live',
        window: WINDOW,
        limit: 10,
      });
      expect(late).toMatchObject({ type: 'snapshot', total: 3 });
      for (const frame of client.frames) assertMatchesAsyncApi(frame);
    } finally {
      client.socket.terminate();
    }
  });
});
