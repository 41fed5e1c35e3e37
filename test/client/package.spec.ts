// Real: npm, the tarball that would be published, the TypeScript compiler, and the built service.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { playerToken, RestClient } from '../e2e/rest-client.js';

/** The builder is a plain Node script: this is what it promises. */
interface ClientBuilder {
  buildClient(): Promise<void>;
  packClient(into: string): Promise<string>;
  bundleClient(entry: 'index' | 'rest' | 'node'): Promise<string>;
}

const run = promisify(execFile);
const root = new URL('../../', import.meta.url).pathname;
const url = new URL('../../tools/client.mjs', import.meta.url).href;
const { buildClient, packClient, bundleClient } = (await import(/* @vite-ignore */ url)) as ClientBuilder;

describe('the size of the client, minified and with gzip', () => {
  const sizeOf = async (entry: 'index' | 'rest'): Promise<number> =>
    gzipSync(await bundleClient(entry), { level: 9 }).length;

  it('is below 10,000 bytes with all that it exports', async () => {
    expect(await sizeOf('index')).toBeLessThan(10_000);
  });

  it('is below 4,000 bytes without live and queue', async () => {
    const size = await sizeOf('rest');
    expect(size).toBeGreaterThan(1000);
    expect(size).toBeLessThan(4000);
  });

  it('holds nothing of Node outside of the entry for Node', async () => {
    expect(await bundleClient('index')).not.toMatch(/node:|require\(|process\./);
    expect(await bundleClient('node')).toMatch(/node:fs/);
  });
});

describe('the package of the client', () => {
  let service: RunningStandalone;
  let folder: string;

  beforeAll(async () => {
    service = await startStandalone();
    folder = await mkdtemp(join(tmpdir(), 'ladder-stranger-'));
    await buildClient();
    const tarball = await packClient(join(folder, 'pack'));
    const admin = new RestClient(service.url, service.adminKey);
    const windows = ['alltime', 'daily'];
    await admin.makeBoard('blitz', {
      submitters: 'players',
      windows,
      push: { intervalMs: 100 },
      limits: { scoreMax: 1e6 },
    });
    for (let at = 1; at <= 12; at += 1) {
      await admin.post('/v1/boards/blitz/scores', { playerId: `p${at}`, score: 100 * at });
    }
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    // Offline: a package without dependencies needs nothing else. What Node 20 lacks is from this repository's own.
    const others = ['ws', '@types/ws', '@types/node'].map((name) => join(root, 'node_modules', name));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball, ...others], { cwd: folder });
  });
  afterAll(async () => {
    await service?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Compiles a program in the stranger's folder as strictly as can be. @returns what the compiler says */
  async function compiled(name: string, text: string, compilerOptions: object): Promise<string> {
    const strictly = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const options = { ...strictly, module: 'nodenext', target: 'ES2022', ...compilerOptions };
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'index.ts'), text);
    await writeFile(join(folder, name, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
    const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(folder, name)];
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => error);
    return stdout;
  }

  /** Compiles a program and runs it. @returns what it printed */
  async function program(name: string, text: string, compilerOptions: object): Promise<string> {
    expect(await compiled(name, text, compilerOptions)).toBe('');
    const env = { PATH: process.env['PATH'], LADDER_KEY: service.adminKey };
    const options = { cwd: join(folder, name), env, timeout: 60_000 };
    const { stdout, stderr } = await run(process.execPath, [join(folder, name, 'index.js')], options);
    expect(stderr).toBe('');
    return stdout;
  }

  const ofNode = { types: ['node'], lib: ['ES2022'], skipLibCheck: true };
  const ofBrowsers = { types: [], lib: ['ES2022', 'DOM'] };

  it('has no dependencies, no side effects, only ES modules, and its types come first', async () => {
    const manifest = JSON.parse(
      await readFile(join(folder, 'node_modules/@laddercast/client/package.json'), 'utf8'),
    ) as { type: string; sideEffects: boolean; dependencies?: object; exports: Record<string, object> };
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false });
    expect(manifest.dependencies).toBeUndefined();
    for (const entry of Object.values(manifest.exports)) expect(Object.keys(entry)).toEqual(['types', 'default']);
  });

  it('takes a stranger from an empty folder to a live top ten in ten lines', async () => {
    const printed = await program(
      'top-ten',
      `import { createLadder } from '@laddercast/client';
       import { WebSocket } from 'ws';
       const ladder = createLadder({ url: '${service.url}', WebSocket });
       for await (const { entries, total } of ladder.board('blitz').top()) {
         if (total < 12) continue;
         for (const { rank, playerId, score } of entries) console.log(rank, playerId, score);
         break;
       }
       ladder.close();`,
      ofNode,
    );
    const lines = Array.from({ length: 10 }, (_, index) => `${index + 1} p${12 - index} ${1200 - 100 * index}`);
    expect(printed.trim().split('\n')).toEqual(lines);
  });

  it('is typed: what the API does not know is refused by the compiler', async () => {
    const said = await compiled(
      'wrong',
      `import { createLadder } from '@laddercast/client';
       const blitz = createLadder({ url: '' }).board('blitz');
       void blitz.entries({ limits: 10 });
       void blitz.submit({ playerId: 'ada', score: '10' });
       blitz.watchTop({ limit: 10 }, (list) => list.entries[0]!.points);`,
      { types: [], lib: ['ES2022'] },
    );
    const faults = [...said.matchAll(/index\.ts\((\d+),/g)].map(([, line]) => Number(line));
    expect(faults).toEqual([3, 4, 5]);
  });

  describe('has a README whose examples', () => {
    const example = async (isOfNode: boolean): Promise<string> => {
      const readme = await readFile(join(root, 'clients/typescript/README.md'), 'utf8');
      const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block!);
      return blocks
        .filter((block) => block.includes('@laddercast/client/node') === isOfNode)
        .join('\n')
        .replaceAll('https://ladder.example', service.url);
    };

    it('run in a browser’s world', async () => {
      const token = await playerToken(service.jwtSecret, 'ada');
      // Only Node 22 and later have a WebSocket, as browsers have.
      const world = `import * as ws from 'ws';\nObject.assign(globalThis, { WebSocket: ws.WebSocket });\n`;
      await mkdir(join(folder, 'readme'));
      await writeFile(join(folder, 'readme/ws.d.ts'), `declare module 'ws';\n`);
      const jwt = `const getJwt = async (): Promise<string> => '${token}';\n`;
      const printed = await program('readme', `${world}${jwt}${await example(false)}`, {
        ...ofBrowsers,
        paths: { ws: ['./ws.d.ts'] },
      });
      expect(printed).toMatch(/^1 p12 1,200$/m);
      expect(printed).toMatch(/^created \d+$/m);
      expect(printed).toMatch(/^[0-9a-f-]{36} settled undefined$/m);
      expect(printed).toMatch(/^0 wait$/m);
      expect(printed).toMatch(/^SCORE_OUT_OF_BOUNDS 422 null \[\]$/m);
    });

    it('run in Node', async () => {
      await program('readme-node', await example(true), ofNode);
      await expect
        .poll(async () => (await new RestClient(service.url).get('/v1/boards/blitz/players/bob')).status)
        .toBe(200);
    });
  });
});
