// Real: every Markdown page of the repository, and the files that they name.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headingLinksOf, headingsOf, referencesOf } from './links.js';
import { repositoryFiles, repositoryRoot } from './source-tree.js';

const pages = repositoryFiles().filter(({ path }) => path.endsWith('.md'));
const missing = (page: { path: string; text: string }): string[] =>
  referencesOf(page)
    .filter(({ target }) => !existsSync(join(repositoryRoot, target)))
    .map(({ from, line, target }) => `${from}:${line} ${target}`);

const missingHeadings = (page: { path: string; text: string }): string[] =>
  headingLinksOf(page)
    .filter(({ target, heading }) => {
      const text = target === page.path ? page.text : pages.find(({ path }) => path === target)?.text;
      return !headingsOf(text ?? '').includes(heading);
    })
    .map(({ from, line, target, heading }) => `${from}:${line} ${target}#${heading}`);

describe('the pages', () => {
  it('name only files and folders that are there', () => {
    expect(pages.flatMap(referencesOf).length).toBeGreaterThan(50);
    expect(pages.flatMap(missing)).toEqual([]);
  });

  it('link only to headings that are there', () => {
    expect(pages.flatMap(headingLinksOf).length).toBeGreaterThan(1);
    expect(pages.flatMap(missingHeadings)).toEqual([]);
  });

  it.each([
    ['of another page', 'docs/page.md', '[laws](architecture.md#lores)', 'docs/architecture.md#lores'],
    ['of its own', 'docs/page.md', '# Page\n\nSee [above](#paje).', 'docs/page.md#paje'],
  ])('would be told of a heading %s that is not there', (_case, path, text, target) => {
    expect(missingHeadings({ path, text })).toEqual([expect.stringMatching(new RegExp(` ${target}$`))]);
  });

  it.each([
    ['docs/page.md', '[laws](architecture.md#laws)'],
    ['docs/page.md', '# A page, of ours\n\n[here](#a-page-of-ours)'],
  ])('would be told nothing of a heading that is there', (path, text) =>
    expect(missingHeadings({ path, text })).toEqual([]),
  );

  it.each([
    ['a link', 'See [the log](../docs/nothing.md).', 'docs/nothing.md'],
    ['a link with an anchor', '[here](architecture.md#laws) and [there](gone.md#laws)', 'docs/gone.md'],
    ['a picture', '![The board](images/nothing.png)', 'docs/images/nothing.png'],
    ['a path in code', 'in `libs/ledger/src/nothing.ts`', 'libs/ledger/src/nothing.ts'],
    ['a path in a listing', 'libs/nothing/src/a.ts      what it does', 'libs/nothing/src/a.ts'],
  ])('would be told of %s that leads nowhere', (_case, text, target) => {
    expect(missing({ path: 'docs/page.md', text })).toEqual([`docs/page.md:1 ${target}`]);
  });

  it.each(['[a page](https://example.org/libs/x.md)', '`libs/ledger`', '[up](../README.md)', 'GET /v1/docs/x'])(
    'would be told nothing of: %s',
    (text) => expect(missing({ path: 'docs/page.md', text })).toEqual([]),
  );
});
