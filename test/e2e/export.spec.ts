// Real: the built service with its PostgreSQL and Redis.
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresDatabase } from '@laddercast/ledger';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportReader, linesOf, parseCsv, submitAll, type ExportedRow } from './exports.js';
import { expectProblem, playerToken, RestClient } from './rest-client.js';

let app: RunningStandalone;
let admin: RestClient;
let anyone: RestClient;
let database: PostgresDatabase;
let exports: ExportReader;

beforeAll(async () => {
  app = await startStandalone();
  anyone = new RestClient(app.url);
  admin = anyone.as(app.adminKey);
  exports = new ExportReader(app.url);
  database = new PostgresDatabase({ url: app.databaseUrl });
  await database.open({ migrate: false });
});
afterAll(async () => {
  await database?.close();
  await app?.stop();
});

describe('an export', () => {
  const PLAYERS = 1203;
  const names = ['Ada, "the first"', '"', '=1+1', ' São Tomé ', '😀'];
  const hidden = 'p7';

  beforeAll(async () => {
    const columns = [{ name: 'rank', order: 'asc' }];
    await admin.makeBoard('hidden', { visibility: 'private' });
    await admin.makeBoard('exported', { columns, rankStyle: 'competition', scopes: ['global', 'region'] });
    for (const [at, displayName] of names.entries()) {
      expect((await admin.put(`/v1/players/p${at}`, { displayName, region: 'EU' })).status).toBe(200);
    }
    await admin.put(`/v1/players/${hidden}`, { region: 'EU', listed: false });
    const runs = Array.from({ length: PLAYERS }, (_, at) => ({
      playerId: `p${at}`,
      // Ten share each score.
      score: 1e6 + Math.floor(at / 10) / 3,
      columns: { rank: at % 2 },
      ...(at % 3 === 0 ? { metadata: { at, 'a,b': '"' } } : {}),
    }));
    await submitAll(admin, 'exported', runs.slice(0, 1000));
    await submitAll(admin, 'exported', runs.slice(1000));
  });

  async function pages(query: string, token?: string): Promise<ExportedRow[]> {
    const rows: ExportedRow[] = [];
    for (let offset = 0; offset < PLAYERS; offset += 500) {
      const path = `/v1/boards/exported/entries?limit=500&offset=${offset}${query}`;
      rows.push(...((await anyone.as(token).get(path)).body.entries as ExportedRow[]));
    }
    return rows;
  }

  it('has every entry as the pages have it, in NDJSON', async () => {
    const rows = await exports.rows('exported', '?window=alltime');
    expect(rows).toHaveLength(PLAYERS - 1);
    const plain = rows.map(({ ...row }) => {
      const { ordinal, scopes, ...entry } = row as ExportedRow & { ordinal?: number; scopes?: string[] };
      expect(scopes).toEqual(names[Number(entry.playerId.slice(1))] === undefined ? [] : ['region:EU']);
      expect(ordinal).toBeGreaterThanOrEqual(entry.rank);
      return entry;
    });
    expect(plain).toEqual(await pages(''));
    const ordinals = rows.map((row) => (row as ExportedRow & { ordinal: number }).ordinal);
    expect(new Set(ordinals).size).toBe(PLAYERS - 1);
    expect(Math.max(...ordinals)).toBe(PLAYERS);
  });

  it('has the same in CSV, byte for byte what was submitted', async () => {
    const { text, response } = await exports.text('exported', '');
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="exported_alltime.csv"');
    const [header, ...records] = parseCsv(text);
    const fields = [
      'rank',
      'ordinal',
      'playerId',
      'displayName',
      'score',
      'columns.rank',
      'achievedAt',
      'scopes',
      'metadata',
    ];
    expect(header).toEqual(fields);
    const json = await exports.rows('exported', '?');
    expect(records).toEqual(
      json.map((row) => {
        const { columns, scopes, metadata, ...rest } = row as unknown as Record<string, unknown>;
        const text = metadata === null ? '' : JSON.stringify(metadata);
        const { rank, ordinal, playerId, displayName, score, achievedAt } = rest;
        const own = (columns as { rank: number }).rank;
        return [rank, ordinal, playerId, displayName ?? '', score, own, achievedAt, JSON.stringify(scopes), text].map(
          String,
        );
      }),
    );
    for (const [at, name] of names.entries()) {
      expect(records.find(([, , playerId]) => playerId === `p${at}`)![3]).toBe(name);
    }
  });

  it('guards spreadsheets in CSV where that is asked for: text alone, and nothing else differs', async () => {
    const [plain, guarded] = [
      parseCsv((await exports.text('exported', '')).text),
      parseCsv((await exports.text('exported', '?guard=formulas')).text),
    ];
    const expected = plain.map((record) => record.map((field) => (field === '=1+1' ? "'=1+1" : field)));
    expect(guarded).toEqual(expected);
    expect(expected).not.toEqual(plain);
    const refused = expectProblem(
      await anyone.get('/v1/boards/exported/export?guard=formulas&format=ndjson'),
      'VALIDATION_FAILED',
    );
    expect(refused.errors![0]!.pointer).toBe('?guard');
    expectProblem(await anyone.get('/v1/boards/exported/export?guard=all'), 'VALIDATION_FAILED');
  });

  it('leaves out who is not listed, but for admins; the ranks stay', async () => {
    const all = await exports.rows('exported', '?', app.adminKey);
    expect(all).toHaveLength(PLAYERS);
    const unlisted = all.filter(({ playerId }) => playerId !== hidden);
    expect(await exports.rows('exported', '?')).toEqual(unlisted);
    expect(await exports.rows('exported', '?', await admin.makeKey('read'))).toEqual(unlisted);
    expect(await exports.rows('exported', '?', await playerToken(app.jwtSecret, hidden))).toEqual(unlisted);
  });

  it('is of one scope where that is asked for', async () => {
    const { text, response } = await exports.text('exported', '?scope=region:EU&format=ndjson');
    expect(response.headers.get('content-disposition')).toContain('exported_alltime_region-EU.ndjson');
    const shown = linesOf(text).map(({ playerId }) => playerId);
    expect(shown.sort()).toEqual(names.map((_, at) => `p${at}`));
    expect(await exports.rows('exported', '?scope=region:nowhere')).toEqual([]);
    expect(parseCsv((await exports.text('exported', '?scope=region:nowhere')).text)).toHaveLength(1);
  });

  it('says by HEAD what it would be, and refuses before it begins', async () => {
    const head = await fetch(`${app.url}/v1/boards/exported/export?format=ndjson`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers.get('content-type')).toBe('application/x-ndjson');
    expect(head.headers.get('content-length')).toBeNull();
    const get = (path: string) => anyone.get(`/v1/boards/${path}`);
    expectProblem(await get('exported/export?format=xml'), 'VALIDATION_FAILED');
    expectProblem(await get('exported/export?limit=1'), 'VALIDATION_FAILED');
    expectProblem(await get('exported/export?scope=guild:red'), 'SCOPE_NOT_FOUND');
    expectProblem(await get('exported/export?window=daily'), 'WINDOW_NOT_FOUND');
    expectProblem(await get('none/export'), 'BOARD_NOT_FOUND');
    expectProblem(await get('hidden/export'), 'UNAUTHENTICATED');
    const refused = await fetch(`${app.url}/v1/boards/exported/export?window=daily`, { method: 'HEAD' });
    expect(refused.status).toBe(404);
  });
});

describe('exports that are not read', () => {
  const ENTRIES = 60_000;

  /** Connections of the service that hold an export's cursor. */
  async function cursors(): Promise<number> {
    const [row] = await database.query<{ held: number }>(
      `SELECT count(*)::int AS held FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'FETCH%'`,
    );
    return row!.held;
  }

  it('wait for their readers, at most four at a time and one without identity, and end when their readers leave', async () => {
    await admin.makeBoard('large');
    await submitAll(admin, 'large', [{ playerId: 'first', score: 0 }]);
    await database.query(
      `INSERT INTO entries (window_uid, player_id, board_uid, lane, version, removed, score, columns, achieved_at_ms, metadata)
       SELECT window_uid, 'large' || n, board_uid, 0, 1, false, n, '{}', 0, $1
       FROM windows JOIN boards USING (board_uid) CROSS JOIN generate_series(1, $2::int) AS n WHERE board_id = 'large'`,
      [JSON.stringify({ padding: 'x'.repeat(900) }), ENTRIES],
    );
    const path = `${app.url}/v1/boards/large/export?format=ndjson`;
    const read = async (headers: Record<string, string> = {}) => {
      const left = new AbortController();
      const response = await fetch(path, { headers, signal: left.signal });
      expect(response.status).toBe(200);
      return { left, response };
    };
    const readers = [await read()];
    const second = expectProblem(await anyone.get('/v1/boards/large/export'), 'OVERLOADED');
    expect(second['detail']).toMatch(/without identity/);
    const withKey = { Authorization: `Bearer ${await admin.makeKey('read')}` };
    readers.push(...(await Promise.all(Array.from({ length: 3 }, () => read(withKey)))));
    await expect.poll(cursors).toBe(4);
    // Nobody reads: each has sent what fits on the way, and holds its place.
    await delay(1000);
    expect(await cursors()).toBe(4);
    const fifth = expectProblem(await admin.get('/v1/boards/large/export'), 'OVERLOADED');
    expect(fifth['retryAfterSeconds']).toBeGreaterThan(0);
    for (const { left } of readers.slice(1)) left.abort();
    await expect.poll(cursors).toBe(1);
    // The one that stayed gets all of it.
    const text = await readers[0]!.response.text();
    const scores = linesOf(text).map(({ score }) => score);
    expect(scores).toEqual(Array.from({ length: ENTRIES + 1 }, (_, at) => ENTRIES - at));
    await expect.poll(cursors).toBe(0);
    expect((await exports.rows('large', '?')).length).toBe(ENTRIES + 1);
  });

  it('do not hold their places when their readers leave before the first row', async () => {
    for (let round = 0; round < 8; round += 1) {
      const left = new AbortController();
      const asked = fetch(`${app.url}/v1/boards/large/export`, { signal: left.signal }).catch(() => null);
      await delay(5 + 10 * round);
      left.abort();
      await asked;
    }
    await expect.poll(cursors).toBe(0);
    await expect.poll(async () => (await exports.text('large', '')).response.status).toBe(200);
    // Asked before a place was free, it says so; nothing else is written.
    const written = app.output().split('\n');
    const expected = /"code":"OVERLOADED"|has not answered|answers again/;
    expect(written.filter((line) => line !== '' && !expected.test(line))).toEqual([]);
  });
});
