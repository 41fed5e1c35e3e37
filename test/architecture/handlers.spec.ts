// Real: every TypeScript file of the libs, apps and examples.
import { describe, expect, it } from 'vitest';
import { isTest, isTypeScript, repositoryFiles } from './source-tree.js';

const HANDLER = /^@(Command|Query)Handler\(/gm;
const files = repositoryFiles().filter((file) => isTypeScript(file) && !isTest(file.path));

describe('handlers of commands and queries', () => {
  const counts = files.map(({ path, text }) => ({ path, handlers: text.match(HANDLER)?.length ?? 0 }));

  it('stand one in a file, which is named after it', () => {
    const faults = counts.filter(({ path, handlers }) => handlers !== (path.endsWith('.handler.ts') ? 1 : 0));
    expect(faults.map(({ path }) => path)).toEqual([]);
  });

  it('are found', () => {
    expect(counts.filter(({ handlers }) => handlers > 0).length).toBeGreaterThan(30);
  });
});
