// Real: every test of the repository.
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { isCode, isTest, lineOf, nodesOf, parse, repositoryFiles, type TextFile } from './source-tree.js';

/** `expect`, or a function that is named after it. */
const isExpectation = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^expect([A-Z]|$)/.test(node.expression.text);

const isPoll = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && node.expression.getText().replace(/\s/g, '') === 'expect.poll';

/** What `expect.poll` calls may throw as often as it likes: it is called again, and only the last time counts. */
function waitedFor(file: TextFile): string[] {
  if (!/\.poll\(/.test(file.text)) return [];
  const expectations = [...nodesOf(parse(file))]
    .filter(isPoll)
    .flatMap(({ arguments: [polled] }) => (polled ? [...nodesOf(polled)].filter(isExpectation) : []));
  return expectations.map(
    (node) => `${file.path}:${lineOf(node)} is only waited for: note it, and look after the poll`,
  );
}

describe('what a test expects', () => {
  const tests = repositoryFiles().filter((file) => isCode(file) && isTest(file.path));

  it('stands nowhere in what is polled, where it cannot fail', () => {
    expect(tests.filter(({ text }) => /\.poll\(/.test(text)).length).toBeGreaterThan(100);
    expect(tests.flatMap(waitedFor)).toEqual([]);
  });

  it.each([
    ['await expect.poll(async () => { expect(await read()).toBe(1); return done(); }).toBe(true);', 1],
    ['await expect\n  .poll(async () => { await expectRows(); return done(); })\n  .toBe(true);', 1],
    ['await expect.poll(async () => expected(await read())).toBe(true);', 0],
    ['await expect.poll(read).toEqual(expect.any(Number)); expect(1).toBe(1);', 0],
  ])('is found there: %j', (text, count) => expect(waitedFor({ path: 'test/a.spec.ts', text })).toHaveLength(count));
});
