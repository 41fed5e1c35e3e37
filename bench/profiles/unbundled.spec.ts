import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unbundled } from './unbundled.js';

let root: string;
const bundled = ['import "pino";', '// node_modules/a/b.js', '', 'f()', '// dist/libs/x/src/y.js', 'g()', 'h()'].join(
  '\n',
);

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'unbundled-'));
  mkdirSync(join(root, 'dist/bundle'), { recursive: true });
  writeFileSync(join(root, 'dist/bundle/api.js'), bundled);
  // Line 5 of the bundle, from 0, is line 8 of the source.
  const map = { version: 3, sources: ['../../libs/x/src/y.ts'], names: [], mappings: ';;;;;AAQA' };
  writeFileSync(join(root, 'dist/bundle/api.js.map'), JSON.stringify(map));
});
afterAll(() => rmSync(root, { recursive: true }));

describe('a profile of a bundle', () => {
  const placesOf = (frames: [functionName: string, url: string, lineNumber: number][]) => {
    const nodes = frames.map(([functionName, url, lineNumber], id) => ({
      id,
      callFrame: { functionName, url, lineNumber, columnNumber: 0 },
    }));
    return unbundled({ nodes, samples: [] }).nodes.map(({ callFrame }) => callFrame);
  };
  const url = (path: string): string => pathToFileURL(join(root, path)).href;

  it('has functions where they come from', () => {
    const frames = placesOf([
      ['f$12', url('dist/bundle/api.js'), 3],
      ['g', url('dist/bundle/api.js'), 5],
      ['', url('dist/bundle/api.js'), 0],
    ]);
    expect(frames).toEqual([
      { functionName: 'f', url: url('node_modules/a/b.js'), lineNumber: 2 },
      { functionName: 'g', url: url('libs/x/src/y.ts'), lineNumber: 8 },
      { functionName: '', url: url('dist/bundle/api.js'), lineNumber: 0 },
    ]);
  });

  it('keeps what is not of a bundle', () => {
    const frames = placesOf([
      ['(idle)', '', -1],
      ['load', 'node:fs', 5],
      ['f', url('node_modules/pino/pino.js'), 7],
    ]);
    expect(frames.map(({ url: place }) => place)).toEqual(['', 'node:fs', url('node_modules/pino/pino.js')]);
  });
});
