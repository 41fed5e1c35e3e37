// Real: every source file of the repository.
import { describe, expect, it } from 'vitest';
import { constructorsOf, linesOfCode } from './sizes.js';
import { isCode, isTest, isTypeScript, repositoryFiles } from './source-tree.js';

const LINES_MAX = 400;
const DEPENDENCIES_MAX = 5;
/** Of a class whose constructor nobody calls by hand. */
const INJECTED_MAX = 7;

const files = repositoryFiles();

describe('sizes', () => {
  it(`no file of code has more than ${LINES_MAX} lines`, () => {
    const written = files.filter(isCode).filter(({ path }) => !path.includes('/generated/'));
    const long = written.filter((file) => linesOfCode(file) > LINES_MAX);
    expect(long.map((file) => `${file.path}: ${linesOfCode(file)}`)).toEqual([]);
  });

  it(`no constructor takes more than ${DEPENDENCIES_MAX} dependencies, or ${INJECTED_MAX} where Nest calls it`, () => {
    const wide = files
      .filter(
        (file) => isTypeScript(file) && /^(libs|apps|clients|examples|bench)\//.test(file.path) && !isTest(file.path),
      )
      // A command or a query is a message: its constructor takes its fields.
      .filter(({ path }) => !/\/(commands|queries)\.ts$/.test(path))
      .flatMap((file) => constructorsOf(file).map((one) => ({ ...one, path: file.path })))
      .filter(({ parameters, isInjected }) => parameters > (isInjected ? INJECTED_MAX : DEPENDENCIES_MAX));
    expect(wide.map(({ path, className, parameters }) => `${path} ${className}: ${parameters}`)).toEqual([]);
  });

  it('count code, not comments or blank lines', () => {
    expect(linesOfCode({ path: 'a.ts', text: '// why\n\nconst a = 1;\n/**\n * what\n */\nconst b = 2; // c\n' })).toBe(
      2,
    );
  });

  it('see the constructors of named and of anonymous classes', () => {
    const text = `@Injectable() class A { constructor(private readonly b: B, c: C) {} }\nexport default class { constructor() {} }`;
    expect(constructorsOf({ path: 'a.ts', text })).toEqual([
      { className: 'A', parameters: 2, isInjected: true },
      { className: '(anonymous)', parameters: 0, isInjected: false },
    ]);
  });
});
