import { dirname, join, relative, resolve, sep } from 'node:path';
import { rolldown } from 'rolldown';

/** The programs of bench/, each with its file: the two commands, and what they run in processes of their own. */
const programs = {
  bench: 'bench/bench.ts',
  profile: 'bench/profile.ts',
  client: 'bench/load/client.ts',
  'http-server': 'bench/floors/http-server.ts',
  'sockets-child': 'bench/live/sockets-child.ts',
};

/**
 * Puts the programs of bench/ into `dist/bench/<name>.js`, for a Node that reads no TypeScript (20). The code of tools/ and
 * packages stay where they are.
 * @param {string} root
 */
export async function bundleBench(root) {
  const bundled = await rolldown({
    input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(root, file)])),
    cwd: root,
    platform: 'node',
    tsconfig: false,
    plugins: [whatStays(root)],
    resolve: { extensionAlias: { '.js': ['.ts'] } },
  });
  try {
    await bundled.write({
      dir: join(root, 'dist/bench'),
      cleanDir: true,
      format: 'esm',
      chunkFileNames: 'shared-[name]-[hash].js',
      keepNames: true,
      sourcemap: true,
    });
  } finally {
    await bundled.close();
  }
}

/**
 * Packages, by their names, and files of tools/, by their way from the bundle.
 * @param {string} root
 * @returns {import('rolldown').Plugin}
 */
function whatStays(root) {
  return {
    name: 'what-stays',
    resolveId(id, importer) {
      if (importer === undefined) return null;
      if (!id.startsWith('.')) return { id, external: true };
      if (!id.endsWith('.mjs')) return null;
      const file = relative(join(root, 'dist/bench'), resolve(dirname(importer), id));
      return { id: file.split(sep).join('/'), external: true };
    },
  };
}
