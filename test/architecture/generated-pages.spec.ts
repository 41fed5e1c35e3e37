// Real: the pages of the repository, and the code that they are made from.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ERRORS } from '@laddercast/domain';
import { TOPICS } from '@laddercast/event-log';
import { describeEnvironment, Environment, metrics } from '@laddercast/platform';
import { getMetadataStorage, validateSync } from 'class-validator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRepositoryFile, repositoryRoot } from './source-tree.js';

interface Page {
  path: string;
  text: string;
}

/** The generator is a plain Node script: this is what it promises. */
interface Generator {
  sources: { topics: string; events: string };
  pagesOf(code: Record<string, unknown>): Page[];
  stalePages(root: string, pages: Page[]): Page[];
}

const url = new URL('../../tools/generate.mjs', import.meta.url);
const { pagesOf, stalePages, sources } = (await import(/* @vite-ignore */ url.href)) as Generator;

const code = {
  Environment,
  describeEnvironment,
  getMetadataStorage,
  validateSync,
  ERRORS,
  TOPICS,
  metrics,
  topicsSource: readRepositoryFile(sources.topics).text,
  eventsSource: readRepositoryFile(sources.events).text,
};
/** What a page needs to know of a metric. */
class TeaGauge {
  name = 'laddercast_cups';
  help = 'How many cups.';
  labelNames: string[] = [];
}

const paths = (pages: Page[]): string[] => pages.map(({ path }) => path);

describe('the generated pages', () => {
  it('are as the code has them; if not, run npm run generate', () => {
    expect(paths(stalePages(repositoryRoot, pagesOf(code)))).toEqual([]);
  });

  it('name every setting with its default, its bounds and whether it has to be set', () => {
    const { text } = pagesOf(code).find(({ path }) => path === 'docs/reference/settings.md')!;
    for (const name of Object.keys(new Environment())) expect(text).toContain(`| \`${name}\` |`);
    expect(text).toContain('| `PORT` | `3000` | 0 to 65535 |');
    const needed = [...text.matchAll(/^\| `(\w+)` \| none: it has to be set \|/gm)].map(([, name]) => name);
    expect(needed).toEqual(['DATABASE_URL', 'REDIS_URL']);
    expect(text).toMatch(/\| `KAFKA_TLS_CERT_FILE` \| not set \|/);
    expect(text).toMatch(/\| `TRUSTED_PROXIES` \| not set \| text \| .* Example: `10\.0\.0\.0\/8,fd00::\/8` \|/);
    expect(text).toMatch(/\| `JWT_SECRET` \| not set \| 32 characters or more \|/);
    expect(text).toMatch(/\| `EVENT_LOG` \| `postgres` \| `postgres`, `kafka` \|/);
  });

  it('name every metric with its type, its labels, its unit and who it comes from', () => {
    const { text } = pagesOf(code).find(({ path }) => path === 'docs/reference/metrics.md')!;
    expect(text).toMatch(
      /\| `laddercast_consumer_lag_seconds` \| gauge \| `group`, `lane` \| seconds \| .+ \| keeper \|/,
    );
    expect(text).toMatch(/\| `laddercast_request_seconds` \| histogram \| .+ \| every process \|/);
    const names = [...text.matchAll(/^\| `(laddercast_\w+)`/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(Object.keys(metrics).length);
  });

  it('name every error and every topic', () => {
    const text = pagesOf(code)
      .map((page) => page.text)
      .join();
    for (const [name, { status }] of Object.entries(ERRORS)) expect(text).toContain(`| \`${name}\` | ${status} |`);
    for (const topic of TOPICS) expect(text).toContain(`| ${topic} |`);
  });
});

describe('the check of the generated pages', () => {
  let root: string;
  const write = (page: Page): void => {
    mkdirSync(dirname(join(root, page.path)), { recursive: true });
    writeFileSync(join(root, page.path), page.text);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'generated-pages-'));
    pagesOf(code).forEach(write);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('has nothing to say of pages just written', () => {
    expect(paths(stalePages(root, pagesOf(code)))).toEqual([]);
  });

  it('names a page that was edited by hand', () => {
    write({ path: 'docs/reference/errors.md', text: `${readRepositoryFile('docs/reference/errors.md').text}\nMore.` });
    expect(paths(stalePages(root, pagesOf(code)))).toEqual(['docs/reference/errors.md']);
  });

  it('names a page that is missing', () => {
    rmSync(join(root, '.env.example'));
    expect(paths(stalePages(root, pagesOf(code)))).toEqual(['.env.example']);
  });

  it('names the pages that a new error, setting or event changes', () => {
    const changed = {
      ...code,
      ERRORS: { ...ERRORS, TEAPOT: { status: 418, title: 'A teapot', retriable: false } },
      describeEnvironment: () => `${describeEnvironment()}\n# How many cups.\nCUPS=4\n`,
      eventsSource: code.eventsSource.replaceAll('version', 'revision'),
      metrics: { ...metrics, cups: new TeaGauge() },
    };
    expect(paths(stalePages(root, pagesOf(changed)))).toEqual(paths(pagesOf(code)));
  });

  it('refuses a topic that its table does not explain', () => {
    expect(() => pagesOf({ ...code, TOPICS: [...TOPICS, 'tea-served'] })).toThrow('lacks tea-served');
  });
});
