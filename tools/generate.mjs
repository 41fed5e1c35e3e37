import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { prepare, projectRoot } from './build.mjs';
import { vectorPages } from './client-vectors.mjs';
import { stopSteps } from './commands.mjs';
import { onInterruption } from './interruption.mjs';
import { requireNode } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';
import { step } from './progress.mjs';

const help = `Writes what is made from the code: .env.example, docs/reference/, the types of clients/typescript,
and the histories of clients/vectors.

  npm run generate               writes those that are stale
  npm run generate -- --check    writes nothing; exit code 1 when one is stale
  npm run generate -- --help     this text`;

/** The sources whose doc comments are part of a page. */
export const sources = { topics: 'libs/event-log/src/topics.ts', events: 'libs/domain/src/events.ts' };

/**
 * All generated pages.
 * @param {{ Environment: Function, describeEnvironment: () => string, ERRORS: object, TOPICS: readonly string[],
 *   getMetadataStorage: Function, validateSync: Function, metrics: object, topicsSource: string, eventsSource: string }} code what they are made from
 * @returns {{ path: string, text: string }[]} paths from the top of the project
 */
export function pagesOf(code) {
  return [
    { path: '.env.example', text: code.describeEnvironment() },
    { path: 'docs/reference/settings.md', text: settingsPage(code) },
    { path: 'docs/reference/errors.md', text: errorsPage(code) },
    { path: 'docs/reference/topics.md', text: topicsPage(code) },
    { path: 'docs/reference/metrics.md', text: metricsPage(code) },
  ];
}

/** The pages that are not on the disk as they should be. */
export function stalePages(root, pages) {
  return pages.filter(({ path, text }) => {
    const file = join(root, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== text;
  });
}

function page(title, source, ...parts) {
  return `<!-- Generated from ${source} by npm run generate. -->\n\n# ${title}\n\n${parts.join('\n\n')}\n`;
}

function table(columns, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

function settingsPage({ Environment, describeEnvironment, getMetadataStorage, validateSync }) {
  const rules = getMetadataStorage().getTargetValidationMetadatas(Environment, '', false, false);
  const needed = validateSync(new Environment()).map(({ property }) => property);
  const rows = settingsOf(describeEnvironment()).map(({ name, doc, value, example }) => {
    const own = rules.filter(({ propertyName }) => propertyName === name);
    const byDefault =
      value !== undefined ? `\`${value}\`` : needed.includes(name) ? 'none: it has to be set' : 'not set';
    return [`\`${name}\``, byDefault, allowed(own), example ? `${doc} Example: \`${example}\`` : doc];
  });
  return page(
    'Settings',
    'libs/platform/src/environment.ts',
    'Settings are environment variables. They are read once and checked together at start-up: a process with a wrong one\n' +
      'lists every fault and ends. An empty variable counts as not set.',
    table(['setting', 'default', 'allowed', 'what it is'], rows),
  );
}

/** `.env.example` read back: comment lines, then `NAME=value`, or `# NAME=example` for a setting without default. */
function settingsOf(text) {
  return text
    .split('\n\n')
    .slice(1)
    .map((block) => {
      const lines = block.trim().split('\n');
      const [, commented, name, value] = /^(# )?([A-Z0-9_]+)=(.*)$/.exec(lines.at(-1));
      const doc = lines
        .slice(0, -1)
        .map((line) => line.slice(2))
        .join(' ');
      return commented ? { name, doc, example: value } : { name, doc, value };
    });
}

function allowed(rules) {
  const of = (rule) => rules.find(({ name }) => name === rule)?.constraints[0];
  const [min, max, values, length, pattern] = ['min', 'max', 'isIn', 'minLength', 'matches'].map(of);
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (min !== undefined) return max === undefined ? `${min} or more` : `${min} to ${max}`;
  if (length !== undefined) return `${length} characters or more`;
  return pattern ? `\`${pattern.source.replaceAll('\\/', '/')}\`` : 'text';
}

function errorsPage({ ERRORS }) {
  const rows = Object.entries(ERRORS)
    .map(([code, { status, title, retriable }]) => [`\`${code}\``, status, title, retriable ? 'yes' : 'no'])
    .sort((a, b) => a[1] - b[1]);
  return page(
    'Errors',
    'libs/domain/src/errors.ts',
    'Every failure is an RFC 9457 problem (`application/problem+json`), over sockets too. `code` is stable; `detail` says\n' +
      'what to do. *Retry* means that the very same request can succeed later; where a `Retry-After` is sent, wait that long.',
    table(['code', 'status', 'title', 'retry'], rows),
  );
}

function topicsPage({ TOPICS, topicsSource, eventsSource }) {
  const doc = docComment(topicsSource);
  const missing = TOPICS.filter((topic) => !doc.includes(`| ${topic} |`));
  if (missing.length > 0) {
    throw new Problem(`${sources.topics}: the table in the doc comment lacks ${missing.join(', ')}.`);
  }
  const [text, ...rows] = doc.split(/\n(?=\|)/);
  return page(
    'Topics',
    `${sources.topics} and ${sources.events}`,
    text.trim(),
    rows.map((row) => row.trim()).join('\n'),
    '## Payloads',
    `\`\`\`ts\n${eventsSource.slice(eventsSource.indexOf('*/') + 2).trim()}\n\`\`\``,
  );
}

function metricsPage({ metrics }) {
  const rows = Object.values(metrics).map((metric) => {
    const { name, help, labelNames } = metric;
    const [what, from] = help.split(/ From: (.*)\.$/);
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    const [, unit = ''] = /_(seconds|bytes|submissions|events|entries)(_max|_total)?$/.exec(name) ?? [];
    return [`\`${name}\``, metric.constructor.name.toLowerCase(), labels, unit, what, from ?? 'who does it'];
  });
  return page(
    'Metrics',
    'libs/platform/src/telemetry/metrics.ts',
    'Every process answers `GET /metrics` on `METRICS_PORT` in the format of Prometheus (with `API_PROCESSES` above 1, api\n' +
      'process n, from 0, on `METRICS_PORT` + n): these, and those of Node (`process_*`, `nodejs_*`). A histogram has `_bucket`,\n' +
      '`_sum` and `_count`. *keeper*: the one process, api or projector, that says what is about the whole installation; so sums over all processes are right. Gauges that are computed are read when Prometheus\n' +
      'asks, for a second at most: where a store hangs, the last value stays for a minute and is left out then\n' +
      '(`laddercast_collection_age_seconds` says how old it is). Boards and windows are labels of `laddercast_shard_entries` only.',
    table(['name', 'type', 'labels', 'unit', 'what it says', 'from'], rows),
  );
}

/** The text of the first doc comment. */
function docComment(source) {
  const [, body] = /\/\*\*\n?([\s\S]*?)\*\//.exec(source);
  return body
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim();
}

/** What the documents of the service are made by. */
async function builtService(root) {
  const built = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
  const parts = await Promise.all([
    import('@nestjs/common'),
    import('@nestjs/core'),
    import('@nestjs/platform-fastify'),
    built('apps/api/src/api.module.js'),
    built('apps/api/src/openapi/open-api.js'),
    built('libs/leaderboard/src/index.js'),
    built('libs/platform/src/index.js'),
    built('libs/realtime/src/index.js'),
  ]);
  return Object.assign({}, ...parts);
}

async function builtCode(root) {
  const built = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
  const [platform, metrics, domain, topics, validator] = await Promise.all([
    built('libs/platform/src/environment.js'),
    built('libs/platform/src/telemetry/metrics.js'),
    built('libs/domain/src/errors.js'),
    built('libs/event-log/src/topics.js'),
    import('class-validator'),
  ]);
  const read = (path) => readFileSync(join(root, path), 'utf8');
  return {
    ...platform,
    ...metrics,
    ...domain,
    ...topics,
    getMetadataStorage: validator.getMetadataStorage,
    validateSync: validator.validateSync,
    topicsSource: read(sources.topics),
    eventsSource: read(sources.events),
  };
}

async function main() {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) return console.log(help);
  requireNode(projectRoot);
  await prepare(projectRoot);
  const code = await builtCode(projectRoot);
  // Not before the packages are there.
  const { clientPages, documentsOf } = await import('./client-types.mjs');
  const ofClient = await clientPages({ ...(await documentsOf(await builtService(projectRoot))), ERRORS: code.ERRORS });
  const stale = stalePages(projectRoot, [...pagesOf(code), ...ofClient, ...vectorPages()]);
  if (stale.length === 0) return step('The generated pages are up to date');
  const names = stale.map(({ path }) => path).join(', ');
  if (values.check) throw new Problem(`Stale: ${names}. Run npm run generate and commit what it writes.`);
  for (const { path, text } of stale) {
    mkdirSync(dirname(join(projectRoot, path)), { recursive: true });
    writeFileSync(join(projectRoot, path), text);
  }
  step(`Written: ${names}`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  onInterruption(() => void stopSteps().then(() => process.exit(130)));
  try {
    await main();
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
