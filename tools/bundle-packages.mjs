import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { Problem } from './problem.mjs';

/** The packages of teams, and what can be imported of each: `.` is `src/index.ts`. */
const packages = { leaderboard: ['index', 'for-testing'], testing: ['index'] };
/** Loaded by their names at run time, where no import says so. */
const loadedByName = ['kafkajs', 'pino-http'];
const outer = '@laddercast/leaderboard';
/** Files that code asks for, beside where it was before it was bundled. */
const files = ['libs/projections/src/lua', 'apps/standalone/public'];

/**
 * Makes the folders of the packages under `dist/packages`, ready for `npm pack`: `lib` with programs and declarations, `files` with what code reads at run time, and the manifest. What the packages import of others stays outside, so
 * that a team has one copy of it.
 * @param {string} root the folder with `dist`, as the compiler has written it, the declarations in `dist/packages/.types`
 * @throws Problem when something in a package would not be found
 */
export async function bundlePackages(root) {
  const { version, license, engines } = manifestOf(root);
  const offered = new Set();
  for (const [name, entries] of Object.entries(packages)) {
    const folder = join(root, 'dist/packages', name);
    for (const old of ['lib', 'files']) rmSync(join(folder, old), { recursive: true, force: true });
    const used = new Set(name === 'leaderboard' ? loadedByName : []);
    for (const chunk of await writePrograms(root, name, entries)) {
      for (const id of [...chunk.imports, ...chunk.dynamicImports])
        if (!id.startsWith('shared-')) used.add(packageOf(id));
      if (name === 'leaderboard') for (const one of chunk.name === 'for-testing' ? chunk.exports : []) offered.add(one);
      else refuseMissing(chunk, offered);
    }
    for (const id of await writeDeclarations(root, name)) used.add(packageOf(id));
    if (name === 'leaderboard')
      for (const file of files) cpSync(join(root, 'dist', file), join(folder, 'files', file), { recursive: true });
    for (const file of ['LICENSE', 'NOTICE']) cpSync(join(root, file), join(folder, file));
    cpSync(join(root, 'packages', name, 'README.md'), join(folder, 'README.md'));
    const manifest = manifestFor(root, name, { entries, used, version, license, engines });
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

async function writePrograms(root, name, entries) {
  const src = join(root, 'dist/packages', name, 'src');
  const bundled = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.js`)])),
    cwd: root,
    platform: 'node',
    plugins: [outside(join(root, 'dist'), name, '.js'), ownPlace(root, name)],
    onLog(level, { message }) {
      if (level === 'warn') console.warn(message);
    },
  });
  try {
    const { output } = await bundled.write({
      dir: join(root, 'dist/packages', name, 'lib'),
      format: 'esm',
      chunkFileNames: 'shared-[name]-[hash].js',
      keepNames: true,
    });
    return output.filter(({ type }) => type === 'chunk');
  } finally {
    await bundled.close();
  }
}

/** One declaration with all that it names of ours. @returns the packages that it names */
async function writeDeclarations(root, name) {
  const types = join(root, 'dist/packages/.types');
  const bundled = await rollup({
    input: join(types, 'packages', name, 'src/index.d.ts'),
    plugins: [outside(types, name, '.d.ts'), dts()],
    onwarn({ message }) {
      throw new Problem(`The declarations of @laddercast/${name}: ${message}`);
    },
  });
  const file = join(root, 'dist/packages', name, 'lib/index.d.ts');
  const { output } = await bundled.write({ file, format: 'es' });
  await bundled.close();
  return [...output[0].code.matchAll(/\bfrom '([^'.][^']*)'/g)].map(([, id]) => id);
}

/** Leaves packages outside; to `testing` everything of ours is one of them that is not its own. */
function outside(tree, name, extension) {
  const own = [
    join(tree, 'packages', name),
    join(tree, 'libs/testing'),
    join(tree, 'tools'),
    join(dirname(tree), 'tools'),
  ].map((folder) => folder + sep);
  // Programs of tools/ are not compiled: a copy in dist may be old.
  const tools = join(tree, 'tools') + sep;
  /** @param {string} path */
  const asWritten = (path) =>
    extension === '.js' && path.startsWith(tools) ? join(dirname(tree), 'tools', relative(tools, path)) : path;
  return {
    name: 'outside',
    resolveId(id, importer) {
      if (importer === undefined) return null;
      const path = id.startsWith('.')
        ? resolve(dirname(importer), extension === '.js' ? id : id.replace(/\.([cm]?)js$/, '.d.$1ts'))
        : /^@laddercast\/\w+(-\w+)*$/.test(id)
          ? join(tree, 'libs', id.slice('@laddercast/'.length), `src/index${extension}`)
          : null;
      if (path === null) return { id, external: true };
      if (name !== 'testing') return path;
      // Of what our own tests share it has only what it uses.
      if (own.some((folder) => path.startsWith(folder))) return { id: asWritten(path), moduleSideEffects: false };
      return { id: extension === '.js' ? `${outer}/for-testing` : outer, external: true };
    },
  };
}

/** Has `import.meta.url` of a module be its place in `files`, beside what it asks for. */
function ownPlace(root, name) {
  const dist = join(root, 'dist') + sep;
  return {
    name: 'own-place',
    load(id) {
      const code = readFileSync(id, 'utf8');
      const place = JSON.stringify(`../files/${relative(dist, id).split(sep).join('/')}`);
      if (name !== 'leaderboard' && code.includes('import.meta.url'))
        throw new Problem(`${id} asks for its own place.`);
      return {
        code: code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`),
        map: { mappings: '' },
      };
    },
  };
}

function refuseMissing({ fileName, code }, offered) {
  for (const [, names, id] of code.matchAll(/^import \{([^}]*)\} from "([^"]+)"/gm)) {
    if (packageOf(id) !== outer) continue;
    const missing = names
      .split(',')
      .map((one) => one.trim().split(' as ')[0])
      .filter((one) => !offered.has(one));
    if (missing.length > 0) {
      throw new Problem(
        `${fileName} of @laddercast/testing needs ${missing.join(', ')}: export them in packages/leaderboard/src/for-testing.ts.`,
      );
    }
  }
}

function manifestFor(root, name, { entries, used, version, license, engines }) {
  const own = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const lockedOf = (one) => (one === outer ? version : locked[`node_modules/${one}`]?.version);
  const peers = Object.keys(own.peerDependencies);
  const optional = Object.keys(own.optionalDependencies ?? {});
  const needed = [...used].filter((one) => one !== null && !peers.includes(one) && !optional.includes(one)).sort();
  const unknown = needed.filter((one) => lockedOf(one) === undefined);
  if (unknown.length > 0)
    throw new Problem(`@laddercast/${name} imports ${unknown.join(', ')}, which the lock file does not have.`);
  const versions = (names, range = '') => Object.fromEntries(names.map((one) => [one, range + lockedOf(one)]));
  const paths = entries.map((entry) =>
    entry === 'index'
      ? ['.', { types: './lib/index.d.ts', default: './lib/index.js' }]
      : [`./${entry}`, `./lib/${entry}.js`],
  );
  return {
    ...{ name: own.name, version, description: own.description, license, type: 'module', engines },
    exports: { ...Object.fromEntries(paths), './package.json': './package.json' },
    files: ['lib', 'files', 'NOTICE'],
    dependencies: versions(needed),
    peerDependencies: { ...versions(peers, '^'), ...(peers.includes(outer) && { [outer]: version }) },
    ...(optional.length > 0 && { optionalDependencies: versions(optional) }),
  };
}

const manifestOf = (root) => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The package that an import names; null for one of Node. */
function packageOf(id) {
  return id.startsWith('node:') ? null : /^(?:@[^/]+\/)?[^/]+/.exec(id)[0];
}
