import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleClient } from './client.mjs';
import { satisfies } from './node-version.mjs';
import { describeFailure, Problem } from './problem.mjs';

const apps = ['api', 'gateway', 'projector', 'standalone'];

/** Packages that the bundle leaves in node_modules, with why; all others are copied into it. */
const outside = new Map([
  ['reflect-metadata', 'decorators need it before the first class of their file, where a copy would come last'],
  ['kafkajs', 'loaded where the log is in Kafka, and not elsewhere'],
  ['swagger-ui-dist', 'its files are served'],
]);

/** Places in packages that are read otherwise: the file, what is there, and what is put there. */
const otherwise = [
  // Nest's own `require` would find a second copy.
  ['@nestjs/mapped-types/dist/type-helpers.utils.js', 'const require = createRequire(import.meta.url);', ''],
  ['@nestjs/platform-ws/adapters/ws-adapter.js', "createRequire(import.meta.url)('ws')", "require('ws')"],
  // Each would take some hundredths of a start, for what few processes ask for, or none.
  [
    'class-validator/cjs/decorator/string/IsPhoneNumber.js',
    'const max_1 = require("libphonenumber-js/max");',
    'const max_1 = { parsePhoneNumber: (...of) => require("libphonenumber-js/max").parsePhoneNumber(...of) };',
  ],
  [
    '@fastify/static/index.js',
    "const { glob } = require('glob')",
    "const glob = (...of) => require('glob').glob(...of)",
  ],
];

/** Packages that find their files from the bundle, too, by the folder where they are themselves. */
const keepTheirPlace = ['ioredis', 'pino', 'thread-stream'];

/** An import of it, but no `require`, loads what its WebSocket needs: several hundredths of a start, too. */
const HTTP = /^import (?:\* as (\w+)|\{ (.+) \}) from "(?:node:)?http";$/gm;
const requiredHttp = (_import, all, names) =>
  `const ${all ?? `{ ${names.replaceAll(' as ', ': ')} }`} = process.getBuiltinModule("node:http");`;

/**
 * Puts each app with what it imports into `dist/bundle/app-<app>.js`, and what several of them share into files beside, so that
 * a start reads some forty files instead of thousands. `<app>.js` is what is run: it looks at the Node first. Classes and functions keep their names. Source maps lead from own code
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
      entryFileNames: 'app-[name].js',
      chunkFileNames: 'shared-[name]-[hash].js',
      keepNames: true,
      sourcemap: true,
      sourcemapExcludeSources: true,
    });
    for (const chunk of output) refuseOwnPlace(chunk);
    for (const app of apps) writeFileSync(join(root, `dist/bundle/${app}.js`), programOf(app, root));
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

/** What any Node can read, and says in a line of the log that an older one will not do, which could not read the app. */
function programOf(app, root) {
  const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const needs = `${app} cannot start: it needs Node ${engines.node.replace('>=', '')} or newer, and this is Node `;
  return `${satisfies}
if (satisfies(process.versions.node, '${engines.node}')) import('./app-${app}.js');
else {
  const msg = '${needs}' + process.versions.node + '.';
  const time = new Date().toISOString();
  console.log(JSON.stringify({ level: 'fatal', time, app: '${app}', version: '${version}', pid: process.pid, msg }));
  process.exitCode = 1;
}
`;
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
      const placeOf = (path) => JSON.stringify(relative(to, path).split(sep).join('/'));
      let code = readFileSync(id, 'utf8');
      for (const [, there, put] of otherwise.filter(([file]) => id.endsWith(join('node_modules', file)))) {
        if (!code.includes(there))
          throw new Problem(`tools/bundle.mjs replaces this in ${id}, where it is no more: ${there}`);
        code = code.replace(there, put);
      }
      code = code.replaceAll('import.meta.url', `new URL(${placeOf(id)}, import.meta.url).href`);
      if (keepTheirPlace.some((name) => id.includes(join('node_modules', name) + sep)))
        code = code.replaceAll(/\b__dirname\b/g, `folderOfModule(${placeOf(dirname(id))})`);
      return { code, map: id.startsWith(dist) ? mapOf(id) : { mappings: '' } };
    },
    // Not before: import.meta would make a module of a package that is none.
    renderChunk: (code) => ({
      code: code
        .replaceAll(
          /\bfolderOfModule\((".*?")\)/g,
          'process.getBuiltinModule("node:url").fileURLToPath(new URL($1, import.meta.url))',
        )
        .replaceAll(HTTP, requiredHttp),
      map: null,
    }),
    // At the end, as letters would come back: one beyond Latin 1 has the whole file kept in two bytes a letter.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type !== 'chunk') continue;
        file.code = file.code.replaceAll(
          /[^\0-\x7f]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
      }
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
