import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleClient } from './client.mjs';
import { describeFailure, Problem } from './problem.mjs';

const apps = ['api', 'gateway', 'projector', 'standalone'];

/** Packages that the bundle leaves in node_modules, with why; all others are copied into it. */
const outside = new Map([
  ['reflect-metadata', 'decorators need it before the first class of their file, where a copy would come last'],
  ['kafkajs', 'loaded where the log is in Kafka, and not elsewhere'],
  ...['class-transformer', 'class-validator', 'swagger-ui-dist', 'ws'].map((name) => [
    name,
    'Nest finds it by itself (createRequire): a copy in the bundle would be a second one',
  ]),
  ['pg', 'typeorm finds it by its name: a copy in the bundle would be a second one'],
  ...['ioredis', 'pino', 'pino-http', '@fastify/static'].map((name) => [
    name,
    'it, or what it needs, asks for files beside its own',
  ]),
]);

/**
 * Puts each app with what it imports into `dist/bundle/<app>.js`, and what several of them share into files beside, so that
 * a start reads some forty files instead of thousands. Classes and functions keep their names. Source maps lead from own code
 * to TypeScript, without its text; code of packages has none, as each process would read and keep them.
 * @param root the folder with `dist`, as the compiler has written it
 * @throws Problem when something in the bundle would not find its files
 */
export async function bundle(root) {
  const input = Object.fromEntries(apps.map((app) => [app, join(root, `dist/apps/${app}/src/main.js`)]));
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external: (id) => outside.has(packageOf(id)),
    plugins: [compiledCode(root)],
    onLog(level, { code, message }) {
      // Nest and typeorm name packages that they can do without.
      if (level === 'warn' && code !== 'UNRESOLVED_IMPORT') console.warn(message);
    },
  });
  try {
    const { output } = await bundled.write({
      dir: join(root, 'dist/bundle'),
      cleanDir: true,
      format: 'esm',
      chunkFileNames: 'shared-[name]-[hash].js',
      keepNames: true,
      sourcemap: true,
      sourcemapExcludeSources: true,
    });
    for (const chunk of output) refuseOwnPlace(chunk);
  } finally {
    await bundled.close();
  }
}

/**
 * Puts the client as one module beside the files of the live page, as `client.js`.
 * @param root the folder with `dist`, and with the sources of the client
 */
export async function bundlePageClient(root) {
  writeFileSync(join(root, 'dist/apps/standalone/public/client.js'), await bundleClient('index', root));
}

/** The package that an import names: `@a/b` of `@a/b/c.js`. */
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];

/** Reads modules so that `import.meta.url` stays what it is without the bundle, and with the maps described at `bundle`. */
function compiledCode(root) {
  const dist = join(root, 'dist') + sep;
  const to = join(root, 'dist/bundle');
  return {
    name: 'compiled-code',
    load(id) {
      if (!/\.[cm]?js$/.test(id)) return null;
      const place = JSON.stringify(relative(to, id).split(sep).join('/'));
      const code = readFileSync(id, 'utf8').replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
      return { code, map: id.startsWith(dist) ? mapOf(id) : { mappings: '' } };
    },
  };
}

function mapOf(id) {
  const file = `${id}.map`;
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { mappings: '' };
}

function refuseOwnPlace({ fileName, code = '' }) {
  const [, line] = /^(.*\b(?:__(?:dirname|filename)|import\.meta\.(?:dirname|filename))\b.*)$/m.exec(code) ?? [];
  if (line === undefined) return;
  throw new Problem(
    `dist/bundle/${fileName} has a package that asks for its own place, which it does not have there. Name the package in\n` +
      `\`outside\` in tools/bundle.mjs. The line is: ${line.trim()}`,
  );
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    const root = process.argv[2] ?? resolve(dirname(fileURLToPath(import.meta.url)), '..');
    await bundle(root);
    await bundlePageClient(root);
  } catch (error) {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
