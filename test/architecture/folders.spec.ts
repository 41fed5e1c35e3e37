// Real: every TypeScript file of the libs and of the benchmark, read by TypeScript's own parser; the page that names folders.
import { describe, expect, it } from 'vitest';
import { folderCircles } from './folders.js';
import { isTypeScript, readRepositoryFile, repositoryFiles } from './source-tree.js';

const everyFile = repositoryFiles();
const files = everyFile.filter((file) => isTypeScript(file) && /^(libs|bench)\//.test(file.path));

/** A folder that holds more is a corridor: its rooms were not made. */
const FILES_OF_FOLDER_MAX = 20;

/** `ledger/lanes`, for each row of the table of folders; a lib is named in the first of its rows. */
function namedFolders(page: string): string[] {
  const table = page.slice(page.indexOf('### Folders of the libs'));
  let lib = '';
  return [...table.matchAll(/^\| (?:`([\w-]+)`)? *\| `([\w-]+)` *\| *\S.* \|$/gm)].map(([, named, folder]) => {
    lib = named ?? lib;
    return `${lib}/${folder}`;
  });
}

describe('the folders of a lib, and of the benchmark', () => {
  it('import each other without a circle', () => {
    expect(folderCircles(files)).toEqual([]);
  });

  it(`hold at most ${FILES_OF_FOLDER_MAX} files each, specs apart`, () => {
    const counts = new Map<string, number>();
    for (const { path } of files) {
      if (path.endsWith('.spec.ts')) continue;
      const folder = path.slice(0, path.lastIndexOf('/'));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > FILES_OF_FOLDER_MAX)).toEqual([]);
  });

  it('are named in docs/architecture.md, each of a lib in one line that says what it holds', () => {
    const folders = everyFile.flatMap(({ path }) => {
      const [, lib, folder] = /^libs\/([^/]+)\/src\/([^/]+)\//.exec(path) ?? [];
      return lib === undefined ? [] : [`${lib}/${folder}`];
    });
    expect(namedFolders(readRepositoryFile('docs/architecture.md').text).sort()).toEqual([...new Set(folders)].sort());
  });

  it.each([
    [
      'a circle of two',
      {
        'libs/x/src/a/one.ts': `import '../b/two.js';`,
        'libs/x/src/b/two.ts': `import type { A } from '../a/one.js';`,
      },
    ],
    [
      'a circle of three, one step over a file beside the index',
      {
        'libs/x/src/a/one.ts': `import '../words.js';`,
        'libs/x/src/words.ts': `export * from './b/two.js';`,
        'libs/x/src/b/two.ts': `import '../a/three.js';`,
      },
    ],
    [
      'a circle of the benchmark',
      {
        'bench/a/one.ts': `import '../b/two.js';`,
        'bench/b/two.ts': `import type { A } from '../a/one.js';`,
      },
    ],
  ])('are refused: %s', (_what, tree) => {
    const texts = Object.entries(tree).map(([path, text]) => ({ path, text }));
    expect(folderCircles(texts).length).toBe(texts.length);
  });

  it('may all be imported by what composes the lib', () => {
    const composed = [
      { path: 'libs/x/src/x.module.ts', text: `import './a/one.js';` },
      { path: 'libs/x/src/a/one.ts', text: `import '../b/two.js';` },
      { path: 'libs/x/src/b/two.ts', text: '' },
    ];
    expect(folderCircles(composed)).toEqual([]);
  });
});
