// Reads the source: a provider whose factory only hands its parameters to a constructor is one that Nest makes by itself.
import { describe, expect, it } from 'vitest';
import { isTest, isTypeScript, repositoryFiles } from './source-tree.js';

const FACTORY = /useFactory:\s*\(([^{}()]*)\)\s*=>\s*new \w+\(([^()]*)\)/g;

const namesOf = (list: string): string =>
  list
    .split(',')
    .map((part) => part.split(':')[0]!.trim())
    .filter(Boolean)
    .join();

/** The parameters of factories that do nothing with them but pass them on. */
const idleFactories = (text: string): string[] =>
  [...text.matchAll(FACTORY)]
    .map(([, taken, given]) => [namesOf(taken!), namesOf(given!)])
    .filter(([taken, given]) => taken === given)
    .map(([taken]) => taken!);

describe('factories of providers', () => {
  it('decide or open something', () => {
    const files = repositoryFiles().filter((file) => isTypeScript(file) && !isTest(file.path));
    expect(files.flatMap(({ path, text }) => idleFactories(text).map((taken) => `${path}: (${taken})`))).toEqual([]);
  });

  it('are told from those that only call a constructor', () => {
    expect(idleFactories('useFactory: (a: A, b: B) => new C(a, b),')).toEqual(['a,b']);
    expect(idleFactories('useFactory: () => new C(),')).toEqual(['']);
    expect(idleFactories('useFactory: (a: A, lanes: Lanes) => new C(a, lanes.all),')).toEqual([]);
    expect(idleFactories('useFactory: ({ LIMIT }: Environment) => new C(LIMIT),')).toEqual([]);
  });
});
