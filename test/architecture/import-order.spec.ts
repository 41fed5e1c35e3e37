// Real: every TypeScript file of the repository, read by TypeScript's own parser.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultOfImportOrder, LIBS } from './import-order.js';
import { importsOf, packageOf } from './imports.js';
import { isTest, isTypeScript, readRepositoryFile, repositoryFiles, repositoryRoot } from './source-tree.js';

const files = repositoryFiles().filter(
  (file) => isTypeScript(file) && /^(libs|apps|clients|packages|examples|test|bench)\//.test(file.path),
);
const faultsOf = (path: string, text: string): string[] =>
  importsOf({ path, text }).flatMap((one) => faultOfImportOrder(one) ?? []);

describe('the imports of the repository', () => {
  it('are found in every lib and app', () => {
    const folders = new Set(files.map(({ path }) => path.split('/').slice(0, 2).join('/')));
    for (const kind of ['libs', 'apps']) {
      for (const name of readdirSync(join(repositoryRoot, kind))) expect(folders).toContain(`${kind}/${name}`);
    }
    expect(files.flatMap(importsOf).length).toBeGreaterThan(300);
  });

  it('go from each lib only to libs before it, and only through their index', () => {
    expect(files.flatMap(importsOf).flatMap((one) => faultOfImportOrder(one) ?? [])).toEqual([]);
  });

  it('know every lib of the tree and of tsconfig.json', () => {
    const { compilerOptions } = JSON.parse(readRepositoryFile('tsconfig.json').text) as {
      compilerOptions: { paths: Record<string, string[]> };
    };
    expect(readdirSync(join(repositoryRoot, 'libs')).sort()).toEqual([...LIBS].sort());
    expect(Object.keys(compilerOptions.paths)).toEqual(LIBS.map((lib) => `@laddercast/${lib}`));
  });

  it('name only packages that package.json declares, where something of them is left at run time', () => {
    const { dependencies } = JSON.parse(readRepositoryFile('package.json').text) as {
      dependencies: Record<string, string>;
    };
    const missing = files
      .filter(
        ({ path }) => /^(libs|apps|packages|examples)\//.test(path) && !/^\w+\/testing\//.test(path) && !isTest(path),
      )
      // A page, and no part of the service.
      .filter(({ path }) => !path.startsWith('examples/react-board/'))
      .flatMap(importsOf)
      .filter(({ typeOnly }) => !typeOnly)
      .filter(({ specifier }) => {
        const name = packageOf(specifier);
        return name !== null && !name.startsWith('@laddercast/') && !Object.hasOwn(dependencies, name);
      });
    expect(missing.map(({ from, line, specifier }) => `${from}:${line} ${specifier}`)).toEqual([]);
  });
});

describe('the check of the order', () => {
  it.each([
    ['libs/domain/src/a.ts', `import { nowMs } from '@laddercast/platform';`, 'domain imports nothing'],
    ['libs/domain/src/a.ts', `import { randomUUID } from 'node:crypto';`, 'domain imports nothing'],
    ['libs/ledger/src/a.ts', `import { EventLog } from '@laddercast/event-log';`, 'event-log comes after ledger'],
    ['libs/ledger/src/a.ts', `import type { EventLog } from '@laddercast/event-log';`, 'comes after'],
    ['libs/ledger/src/a.ts', `export * from '@laddercast/queries';`, 'comes after'],
    ['libs/ledger/src/a.ts', `export type { Page } from '@laddercast/queries';`, 'comes after'],
    ['libs/ledger/src/a.ts', `const lib = await import('@laddercast/queries');`, 'comes after'],
    ['libs/ledger/src/a.ts', `let page: import('@laddercast/queries').Page;`, 'comes after'],
    ['libs/ledger/src/a.ts', `const lib = require('@laddercast/queries');`, 'comes after'],
    ['libs/ledger/src/a.ts', `import lib = require('@laddercast/queries');`, 'comes after'],
    ['libs/ledger/src/a.spec.ts', `import { EventLog } from '@laddercast/event-log';`, 'comes after'],
    ['libs/queries/src/a.ts', `import { Ledger } from '@laddercast/ledger/src/ledger.js';`, 'by its name alone'],
    ['libs/queries/src/a.ts', `import { Ledger } from '../../ledger/src/ledger.js';`, 'as @laddercast/ledger'],
    ['libs/queries/src/a.ts', `import { Ledger } from '@laddercast/queries';`, 'by their paths'],
    ['libs/queries/src/a.ts', `import { main } from '../../../apps/api/src/main.js';`, 'may not reach into apps/api'],
    ['libs/queries/src/a.ts', `import { x } from '../../../test/x.js';`, 'may not reach into test'],
    ['libs/queries/src/a.ts', `import { board } from '@laddercast/testing';`, 'comes after'],
    ['libs/extras/src/a.ts', `import { Board } from '@laddercast/domain';`, 'has no place in the order'],
    ['libs/queries/src/a.ts', `import { x } from '@laddercast/extras';`, 'no lib "extras"'],
    ['libs/extension/src/a.ts', `import { applyRun } from '@laddercast/domain';`, 'only types'],
    ['libs/extension/src/a.ts', `import { type Board, applyRun } from '@laddercast/domain';`, 'only types'],
    ['apps/api/src/a.ts', `import { x } from '../../gateway/src/x.js';`, 'may not reach into apps/gateway'],
    ['apps/api/src/a.ts', `import { x } from '@laddercast/testing';`, 'testing is for tests'],
    ['apps/api/src/a.ts', `import { x } from '../../../packages/leaderboard/src/x.js';`, 'may not reach into packages'],
    ['packages/leaderboard/src/a.ts', `import { x } from '@laddercast/testing';`, 'testing is for tests'],
    ['packages/leaderboard/src/a.ts', `import { x } from '../../../libs/queries/src/x.js';`, 'as @laddercast/queries'],
    ['packages/leaderboard/src/a.ts', `import { x } from '../../../tools/x.mjs';`, 'may not reach into tools'],
    ['examples/pass/a.ts', `import { Ledger } from '@laddercast/ledger';`, 'an example imports only'],
    ['examples/pass/a.ts', `import { Redis } from 'ioredis';`, 'an example imports only'],
    ['examples/pass/a.ts', `import { createLadder } from '@laddercast/client';`, 'an example imports only'],
    ['examples/react-board/a.tsx', `import { defineBoard } from '@laddercast/leaderboard';`, 'the example of a page'],
    ['examples/react-board/a.ts', `import { x } from '../../clients/typescript/src/x.js';`, 'may not reach into'],
    ['test/e2e/a.spec.ts', `import { x } from '../../libs/ledger/src/x.js';`, 'as @laddercast/ledger'],
    ['clients/typescript/src/a.ts', `import { ERRORS } from '@laddercast/domain';`, 'only its own files'],
    ['clients/typescript/src/a.ts', `import type { Board } from '@laddercast/domain';`, 'only its own files'],
    ['clients/typescript/src/a.ts', `import { readFile } from 'node:fs/promises';`, 'only its own files'],
    ['clients/typescript/src/a.ts', `import { WebSocket } from 'ws';`, 'only its own files'],
    ['clients/typescript/src/node.ts', `import { WebSocket } from 'ws';`, 'only its own files'],
    ['clients/typescript/src/a.ts', `import { x } from '../../../libs/domain/src/x.js';`, 'as @laddercast/domain'],
    [
      'libs/queries/src/a.ts',
      `import { x } from '../../../clients/typescript/src/x.js';`,
      'may not reach into clients',
    ],
    ['bench/parts/a.ts', `import { laneOf } from '@laddercast/domain';`, 'only types'],
    ['bench/parts/a.ts', `import type { X } from '../../libs/ledger/src/x.js';`, 'as @laddercast/ledger'],
  ])('refuses in %s: %s', (path, text, reason) => {
    expect(faultsOf(path, text)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    ['libs/domain/src/a.ts', `import { rate } from 'openskill/models';`],
    ['libs/extension/src/a.ts', `import type { Board } from '@laddercast/domain';`],
    ['libs/extension/src/a.ts', `import { type Board } from '@laddercast/domain';`],
    ['libs/ledger/src/entities/a.ts', `import { laneOf } from '../lanes.js';`],
    ['libs/queries/src/a.spec.ts', `import { newBoard } from '@laddercast/testing';`],
    ['libs/realtime/test/a.ts', `import { RankGateway } from '@laddercast/realtime';`],
    ['test/integration/a.spec.ts', `import { x } from '../../libs/realtime/test/x.js';`],
    ['apps/standalone/src/a.ts', `import { ApiModule } from '../../api/src/api.module.js';`],
    ['clients/typescript/src/node.ts', `import { readFile } from 'node:fs/promises';`],
    ['clients/typescript/src/a.spec.ts', `import { SteppedClock } from '../test/stepped-clock.js';`],
    ['test/e2e/a.spec.ts', `import { createLadder } from '../../clients/typescript/src/index.js';`],
    ['packages/leaderboard/src/a.ts', `import { ApiModule } from '../../../apps/api/src/api.module.js';`],
    ['packages/testing/src/a.ts', `import { DatabaseClock } from '@laddercast/testing';`],
    ['packages/testing/src/a.ts', `import { tryLock } from '../../../tools/lock.mjs';`],
    ['bench/parts/a.ts', `import type { Board } from '@laddercast/domain';`],
    ['bench/parts/a.ts', `import { step } from '../../tools/progress.mjs';`],
    ['examples/pass/a.ts', `import { defineBoard } from '@laddercast/leaderboard';`],
    ['examples/react-board/a.tsx', `import { createRoot } from 'react-dom/client';`],
    ['examples/react-board/a.ts', `import { createLadder } from '@laddercast/client';`],
    ['libs/ledger/src/a.ts', `// import { EventLog } from '@laddercast/event-log';`],
    ['libs/ledger/src/a.ts', `const text = "import x from '@laddercast/event-log'";`],
  ])('allows in %s: %s', (path, text) => {
    expect(faultsOf(path, text)).toEqual([]);
  });
});
