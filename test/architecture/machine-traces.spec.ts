// Real: every text file of the repository, its lock file included.
import { describe, expect, it } from 'vitest';
import { machineTraces, resolvedAddresses } from './machine-traces.js';
import { readRepositoryFile, repositoryFiles } from './source-tree.js';

const LOCK_FILE = 'package-lock.json';

describe('a clone on another machine', () => {
  it('finds no registry, no mirror and no path of the machine where something was written', () => {
    const files = repositoryFiles().filter(({ path }) => path !== LOCK_FILE);
    expect(files.length).toBeGreaterThan(200);
    expect(files.flatMap(machineTraces)).toEqual([]);
  });

  it('has a lock file that leaves the addresses to npm', () => {
    expect(resolvedAddresses(readRepositoryFile(LOCK_FILE).text)).toEqual([]);
  });

  // Put together here, or this file would be found.
  it.each([
    ['a package registry', `registry=https://${['registry', 'npmjs', 'org'].join('.')}/`],
    ['a package registry', `pip install -i https://${['pypi', 'org'].join('.')}/simple`],
    ['a package registry', `<url>https://${['repo1', 'maven', 'org'].join('.')}/maven2</url>`],
    ['a mirror', `https:${'//'}mirror.example.internal/debian`],
    ['a mirror', `npm_config_registry=http:${'//'}10.0.0.1:8080/npm/`],
    ['a path of one machine', `see ${'/'}work/main/README.md`],
    ['a path of one machine', `"cacheDir": "${'/'}home/ada/.cache"`],
    ['a path of one machine', `cd ${'/'}root/ladder`],
  ])('would be told of %s: %s', (what, line) => {
    expect(machineTraces({ path: 'a.md', text: `first\n${line}` })).toEqual([
      expect.stringContaining(`a.md:2 names ${what}`),
    ]);
  });

  it.each(['libs/work/main.ts', 'https://example.org/home/ada', '${root}/work/main', 'GET /v1/boards', '/health/live'])(
    'would be told nothing of: %s',
    (text) => expect(machineTraces({ path: 'a.md', text })).toEqual([]),
  );

  it('would be told of a package with its address', () => {
    const lock = { packages: { '': {}, 'node_modules/a': { resolved: 'http://a/a.tgz' }, 'node_modules/b': {} } };
    expect(resolvedAddresses(JSON.stringify(lock))).toEqual(['node_modules/a → http://a/a.tgz']);
  });
});
