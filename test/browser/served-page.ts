import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = new URL('../../', import.meta.url);

/** A module with all that it imports, for a page. @param entry from the top of the project */
export async function bundled(entry: string): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(entry, root)),
    platform: 'browser',
    tsconfig: false,
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: 'react-jsx' },
    resolve: {
      alias: { '@laddercast/client': fileURLToPath(new URL('clients/typescript/src/index.ts', root)) },
      extensionAlias: { '.js': ['.ts', '.tsx', '.js'] },
    },
  });
  try {
    const { output } = await bundle.generate({ format: 'esm' });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}

/** A page of a game, at an address of its own. @returns its address, and what ends it */
export async function servePage(html: string, script: string): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/main.js';
    response
      .writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' })
      .end(isScript ? script : html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close().closeAllConnections() };
}

/** A file of the project. */
export const projectFile = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8');
