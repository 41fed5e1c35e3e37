import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { benchProgram } from '../../tools/build.mjs';
import { freePort } from '../../tools/ports.mjs';
import { loadFully } from '../load/generator.js';

/**
 * Requests a second that bare Fastify answers, under the same requests, with one and the same text.
 * @param load `file`: of `writeRequests`; `answer`: what the service answered
 */
export async function httpFloor({
  answer,
  ...load
}: {
  file: string;
  connections: number;
  seconds: number;
  answer: string;
}): Promise<number> {
  const port = await freePort();
  const args = [benchProgram('http-server'), String(port), answer];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    const url = `http://127.0.0.1:${port}/`;
    await loadFully({ ...load, url, seconds: 1 });
    return (await loadFully({ ...load, url })).perSecond;
  } finally {
    child.kill('SIGKILL');
  }
}
