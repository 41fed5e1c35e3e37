import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/ports.mjs';
import { loadFully } from '../load/generator.mjs';

const file = fileURLToPath(import.meta.url);

/**
 * Requests a second that bare Fastify answers, under the same requests, with one and the same text.
 * @param {{ file: string, connections: number, seconds: number, answer: string }} load `answer`: what the service answered
 */
export async function httpFloor({ answer, ...load }) {
  const port = await freePort();
  const child = spawn(process.execPath, [file, String(port), answer], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    const url = `http://127.0.0.1:${port}/`;
    await loadFully({ ...load, url, seconds: 1 });
    return (await loadFully({ ...load, url })).perSecond;
  } finally {
    child.kill('SIGKILL');
  }
}

async function serve(port, answer) {
  const { fastify } = await import('fastify');
  const app = fastify({ bodyLimit: 16 * 1024 * 1024 });
  const constant = JSON.parse(answer);
  app.all('/*', () => constant);
  await app.listen({ port, host: '127.0.0.1' });
  console.log('ready');
}

if (process.argv[1] === file) await serve(Number(process.argv[2]), process.argv[3]);
