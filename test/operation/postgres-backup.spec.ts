// Real: the built service, PostgreSQL, Redis or Valkey, pg_dump and pg_restore.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  emptyTestRedis,
  newInstallation,
  requiredService,
  startApp,
  type AppName,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from '../e2e/rest-client.js';

const SOON = { timeout: 60_000, interval: 250 };
const server = await serverMajor();
/** They read no server that is newer than themselves. */
const canDump = ['pg_dump', 'pg_restore'].every((name) => {
  const { status, stdout } = spawnSync(name, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number(/ (\d+)/.exec(stdout)?.[1] ?? 0) >= server;
});
const MISSING = `pg_dump is missing, or older than the server (${server}). Install PostgreSQL's client programs of that release.`;

if (!canDump && process.env['CI'] === 'true') it('has what it needs', () => expect.fail(MISSING));
else if (!canDump) it.skip(`skips back-ups: ${MISSING}`, () => undefined);

async function serverMajor(): Promise<number> {
  const client = new pg.Client({ connectionString: requiredService('TEST_DATABASE_URL') });
  await client.connect();
  const { rows } = await client.query<{ major: number }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS major`,
  );
  await client.end();
  return rows[0]!.major;
}

describe.skipIf(!canDump)('a back-up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ladder-backup-'));
  const file = join(folder, 'ladder.dump');
  let database: TestDatabase;
  let installation: ReturnType<typeof newInstallation>;
  let app: RunningApp;
  let admin: RestClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    installation = newInstallation(database.url, await emptyTestRedis());
    await start();
    expect((await admin.put('/v1/boards/kept', { order: 'desc', operator: 'best' })).status).toBe(201);
  });
  afterAll(async () => {
    await app?.stop();
    for (const name of await othersOf(database.url)) await onServer(`DROP DATABASE "${name}" WITH (FORCE)`);
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(name: AppName = 'standalone'): Promise<void> {
    app = await startApp(name, installation);
    admin = new RestClient(app.url, installation.adminKey);
  }

  function onServer<Row extends object>(statement: string, values: unknown[] = []): Promise<Row[]> {
    return onDatabase('postgres', statement, values);
  }

  async function onDatabase<Row extends object>(name: string, statement: string, values: unknown[]): Promise<Row[]> {
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return (await client.query<Row>(statement, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Databases whose names begin with ours. */
  async function othersOf(url: string): Promise<string[]> {
    const name = new URL(url).pathname.slice(1);
    const rows = await onServer<{ name: string }>(
      `SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1 || '_')`,
      [name],
    );
    return rows.map((row) => row.name);
  }

  const run = (...args: string[]): ReturnType<typeof runWith> => runWith({}, ...args);

  async function runWith(
    settings: Record<string, string>,
    ...args: string[]
  ): Promise<{ code: number; output: string }> {
    const child = spawn(process.execPath, ['tools/backup.mjs', ...args], {
      env: { PATH: process.env['PATH'], DATABASE_URL: database.url, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    return { code, output };
  }

  const stamps = () =>
    onDatabase(new URL(database.url).pathname.slice(1), `SELECT value FROM installation WHERE name = 'stamp'`, []);
  const submit = async (submissionId: string, playerId: string, score: number) => {
    const { status, body } = await admin.post('/v1/boards/kept/scores', { submissionId, playerId, score });
    expect(status).toBe(200);
    return body as { outcome: string; replayed: boolean };
  };
  const standing = async () => {
    const { status, body } = await admin.get('/v1/boards/kept/entries?limit=10');
    return status === 200
      ? body.entries.map((entry: { playerId: string; score: number }) => [entry.playerId, entry.score])
      : status;
  };

  it('is taken while the service runs, and brings back that moment, with nothing of what came later', async () => {
    await submit('s1', 'ada', 10);
    await submit('s2', 'bob', 20);
    // A ledger that was stamped: what comes later is not to be told by that.
    await expect.poll(stamps, SOON).toHaveLength(1);
    expect(await run('save', file)).toMatchObject({ code: 0, output: expect.stringContaining('MiB') });
    await submit('s3', 'ada', 40);
    await submit('s4', 'cy', 30);
    await expect.poll(standing, SOON).toEqual([
      ['ada', 40],
      ['cy', 30],
      ['bob', 20],
    ]);

    const refused = await run('restore', file);
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringMatching(/connections to the database .* are open/),
    });
    expect(await standing()).toEqual([
      ['ada', 40],
      ['cy', 30],
      ['bob', 20],
    ]);

    await app.stop();
    const restored = await run('restore', file);
    expect(restored).toMatchObject({
      code: 0,
      output: expect.stringMatching(/as it was is kept as "ladder_test_\w+_before_\d+"/),
    });
    // Whatever the age of the file, no Redis has an earlier stamp.
    expect(await stamps()).toEqual([]);
    // An api alone: as much is written as was lost, before any projector looks whether Redis is ahead.
    await start('api');
    await submit('s5', 'dan', 5);
    await submit('s6', 'eve', 6);
    await app.stop();
    await start();
    await expect.poll(standing, SOON).toEqual([
      ['bob', 20],
      ['ada', 10],
      ['eve', 6],
      ['dan', 5],
    ]);
    // What was answered before the back-up is known; what came after it is gone, and counts when it comes again.
    expect(await submit('s2', 'bob', 20)).toMatchObject({ replayed: true });
    expect(await submit('s4', 'cy', 30)).toMatchObject({ replayed: false, outcome: 'created' });
    await expect.poll(standing, SOON).toEqual([
      ['cy', 30],
      ['bob', 20],
      ['ada', 10],
      ['eve', 6],
      ['dan', 5],
    ]);
    expect(await othersOf(database.url)).toHaveLength(1);
  });

  it('never takes the place of a file, and what is none changes nothing', async () => {
    expect(await run('save', file)).toMatchObject({ code: 1, output: expect.stringContaining('is there already') });
    const broken = join(folder, 'broken.dump');
    writeFileSync(broken, 'no dump');
    await app.stop();
    expect((await run('restore', broken)).code).toBe(1);
    expect(await run('restore', join(folder, 'none'))).toMatchObject({
      code: 1,
      output: expect.stringContaining('There is no'),
    });
    expect(await othersOf(database.url)).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    await start();
    await expect.poll(standing, SOON).toEqual([
      ['cy', 30],
      ['bob', 20],
      ['ada', 10],
      ['eve', 6],
      ['dan', 5],
    ]);
  });

  /** A folder with pg_dump and pg_restore that do something before, in the language of the shell. */
  function programsThat(before: { pg_dump?: string; pg_restore?: string }): string {
    const bin = mkdtempSync(join(folder, 'bin-'));
    for (const name of ['pg_dump', 'pg_restore'] as const) {
      const real = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
      writeFileSync(join(bin, name), `#!/bin/sh\n${before[name] ?? ''}\nexec ${real} "$@"\n`, { mode: 0o755 });
    }
    return bin;
  }

  it('that is interrupted leaves no program and no part of a file', async () => {
    const sleeping = join(folder, 'sleeping');
    const pg_dump = `echo part > "$(echo "$@" | sed 's/.*--file=//; s/ .*//')"; echo $$ > ${sleeping}; exec sleep 60`;
    const other = join(folder, 'other.dump');
    const child = spawn(process.execPath, ['tools/backup.mjs', 'save', other], {
      env: { ...process.env, DATABASE_URL: database.url, PG_BIN: programsThat({ pg_dump }) },
    });
    const ended = once(child, 'close') as Promise<[number]>;
    await expect.poll(() => existsSync(sleeping) && readFileSync(sleeping, 'utf8'), SOON).toMatch(/\d/);
    const pid = Number(readFileSync(sleeping, 'utf8'));
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended).toEqual([1, null]);
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    expect(readdirSync(folder).filter((name) => name.startsWith('other'))).toEqual([]);
  });

  it('is restored also where connections are cut that were idle for so long', async () => {
    await app.stop();
    const cut = join(folder, 'cut.mjs');
    writeFileSync(
      cut,
      `import pg from ${JSON.stringify(import.meta.resolve('pg'))};
      const client = new pg.Client({ connectionString: process.env.CUT_URL });
      await client.connect();
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'laddercast-backup'");
      await client.end();`,
    );
    const pg_restore = `[ "$1" = --list ] || ${process.execPath} ${cut}`;
    const more = { PG_BIN: programsThat({ pg_restore }), CUT_URL: database.url };
    expect(await runWith(more, 'restore', file)).toMatchObject({ code: 0 });
    await start();
    await expect.poll(standing, SOON).toEqual([
      ['bob', 20],
      ['ada', 10],
    ]);
  });

  it('says that its programs are newer than the server, which may not take what they write', async () => {
    const saysSo = (name: string): string => `[ "$1" = --version ] && echo "${name} (PostgreSQL) 99.1" && exit 0`;
    const newer = join(folder, 'newer.dump');
    const dumped = await runWith({ PG_BIN: programsThat({ pg_dump: saysSo('pg_dump') }) }, 'save', newer);
    expect(dumped).toMatchObject({
      code: 0,
      output: expect.stringContaining(`of PostgreSQL 99, the server of ${server}`),
    });
    await app.stop();
    const before = await othersOf(database.url);
    const pg_restore = `${saysSo('pg_restore')}
      [ "$1" = --list ] || { echo 'unrecognized configuration parameter "transaction_timeout"' >&2; exit 1; }`;
    const restored = await runWith({ PG_BIN: programsThat({ pg_restore }) }, 'restore', newer);
    expect(restored).toMatchObject({
      code: 1,
      output: expect.stringMatching(/transaction_timeout[^]*pg_restore is of PostgreSQL 99[^]*PG_BIN/),
    });
    expect(await othersOf(database.url)).toEqual(before);
    await start();
  });

  it('says how it is called', async () => {
    expect(await run('save')).toMatchObject({ code: 1, output: expect.stringContaining('npm run backup -- FILE') });
    expect(await run('restore', '--help')).toMatchObject({ code: 0, output: expect.stringContaining('DATABASE_URL') });
  });
});
