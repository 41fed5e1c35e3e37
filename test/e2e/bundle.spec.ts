import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';

const BUNDLE = join(process.cwd(), 'dist/bundle');
/** At its end, a process writes which files of CommonJS it has loaded. */
const HOOK = `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED_FILE, JSON.stringify(Object.keys(require.cache))))`;
/** `glob` and `kafkajs` are not: few processes ask for them. */
const MAY_BE_OUTSIDE = ['reflect-metadata', 'swagger-ui-dist'];

const packageOf = (path: string): string | undefined =>
  /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.replaceAll('\\', '/'))?.[1];

function packagesInside(): Set<string> {
  const modules = readdirSync(BUNDLE)
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => readFileSync(join(BUNDLE, file), 'utf8').match(/^\/\/ node_modules\/.+$/gm) ?? []);
  return new Set(modules.map((module) => packageOf(module)!));
}

describe('the bundle', () => {
  let folder: string;
  let app: RunningStandalone;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bundle-spec-'));
    writeFileSync(join(folder, 'hook.cjs'), HOOK);
    app = await startStandalone({
      NODE_OPTIONS: `--require=${join(folder, 'hook.cjs')}`,
      LOADED_FILE: join(folder, 'loaded.json'),
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('serves the pages that packages and the service bring', async () => {
    for (const path of ['/', '/docs/', '/docs/swagger-ui-bundle.js']) {
      const response = await fetch(`${app.url}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      await response.arrayBuffer();
    }
  });

  it('has the only copy of each package that keeps something', async () => {
    await app.stop();
    const loaded = JSON.parse(readFileSync(join(folder, 'loaded.json'), 'utf8')) as string[];
    const outside = new Set(loaded.map(packageOf).filter((name) => name !== undefined));
    expect(outside).toContain('reflect-metadata');
    const inside = packagesInside();
    expect(inside.size).toBeGreaterThan(50);
    expect([...outside].filter((name) => inside.has(name))).toEqual([]);
    // Each file outside takes its part of a start: what is left there has its reason in tools/bundle.mjs.
    expect([...outside].filter((name) => !MAY_BE_OUTSIDE.includes(name!))).toEqual([]);
  });
});
