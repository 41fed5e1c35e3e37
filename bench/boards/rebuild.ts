import { setTimeout as sleep } from 'node:timers/promises';
import { findBoard, lanes, takeLayout } from './entries.js';
import { cpuMeter } from '../meters/watch.js';

const lookEveryMs = 20;
const sayEveryMs = 10_000;
const startedWithinMs = 60_000;
/** Slower than this, something is wrong. */
const slowestEntriesPerSecond = 1000;
const rewrittenWithinMs = 600_000;
/** How often each process of the api is asked, more or less. */
const asksOfEach = 4;

/**
 * Starts the service with an empty Redis and the layout of another board, and waits until all ranks are back.
 * @returns `{ bytesPerEntry, rebuiltPerSecond, cpuUs }`, the last: of an entry, by process
 */
export async function rebuild(context, name, likeBoard) {
  const { code, redis, board, installation, pool, step, entries, service } = context;
  await takeLayout({ pool, domain: code.domain, board, entries }, likeBoard);
  Object.assign(board, await findBoard(pool, board.id));
  // Not behind: what is still being freed would count as memory of before.
  await redis.command('FLUSHALL', 'SYNC');
  const before = await memoryOf(redis);
  const [{ ms, cpuUs }] = await Promise.all([ranksBack(context, name), installation.start()]);
  const { total } = await ranksOf(context).total(listOf(context));
  if (total !== entries) throw new Error(`${name}: ${total} entries are back instead of ${entries}.`);
  await rewritten(redis);
  const bytesPerEntry = ((await memoryOf(redis)) - before) / entries;
  step(
    `${name.padEnd(9)} ${bytesPerEntry.toFixed(1)} bytes an entry, ${perSecond(entries, ms)} entries/s brought back; CPU µs ${cpuText(cpuUs)}`,
  );
  await untilRead(service, board.id);
  return { bytesPerEntry, rebuiltPerSecond: (1000 * entries) / ms, cpuUs };
}

export const ranksOf = ({ code, redis }) => new code.projections.RedisRankProjection(redis);

/** The list that is measured. */
export const listOf = ({ code, board }) => code.projections.rankListOf(board, board.windowUid, 0);

export const perSecond = (count, ms) => Math.round((count * 1000) / ms).toLocaleString('en');

const cpuText = (cpuUs) =>
  Object.entries(cpuUs)
    .map(([name, us]) => `${name} ${us.toFixed(1)}`)
    .join(', ');

/** From when the service finds nothing until its marks say that everything is back: how long, and what it took. */
async function ranksBack(context, name) {
  const { code, redis, step, entries, service } = context;
  const marks = new code.projections.RedisLaneMarks(redis);
  const until = performance.now() + startedWithinMs + (1000 * entries) / slowestEntriesPerSecond;
  let startedAt = null;
  let cpuOf = null;
  let saidAt = performance.now();
  for (;;) {
    const reached = await Promise.all(Array.from({ length: lanes }, (_, lane) => marks.readMark(lane)));
    const now = performance.now();
    if (startedAt === null && reached.some((mark) => mark !== null)) {
      startedAt = now;
      cpuOf = cpuMeter(service);
    }
    if (reached.every((mark) => mark !== null && mark >= entries))
      return { ms: now - startedAt, cpuUs: cpuOf(entries).cpu };
    if (now > until) throw new Error(`${name}: the ranks are not back yet.`);
    if (now - saidAt > sayEveryMs) {
      saidAt = now;
      const { total } = await ranksOf(context).total(listOf(context));
      step(`  ${name}: ${total.toLocaleString('en')} entries are back`);
    }
    await sleep(lookEveryMs);
  }
}

/** Until all processes of the api have seen it, too: connections go to them by turns. */
async function untilRead({ url, key, metricsUrlsOf }, board) {
  const path = new URL(`/v1/boards/${board}/rank?score=1`, url);
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  const wanted = asksOfEach * metricsUrlsOf('api').length;
  const until = performance.now() + startedWithinMs;
  for (let seen = 0; seen < wanted;) {
    const { status } = await fetch(path, { headers });
    seen = status === 200 ? seen + 1 : 0;
    if (seen > 0) continue;
    if (performance.now() > until) throw new Error(`GET ${path.pathname}: still ${status}`);
    await sleep(lookEveryMs);
  }
}

/** What Redis holds, without the buffers of connections and of the file that it appends to. */
async function memoryOf(redis) {
  const text = String(await redis.command('INFO', 'memory'));
  const field = (name) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return field('used_memory') - field('mem_clients_normal') - field('mem_aof_buffer');
}

/** Until Redis does nothing by itself any more: rewriting its file takes a core. */
async function rewritten(redis) {
  for (const until = performance.now() + rewrittenWithinMs; performance.now() < until;) {
    const text = String(await redis.command('INFO', 'persistence'));
    if (!/_in_progress:1|_scheduled:1/.test(text)) return;
    await sleep(1000);
  }
  throw new Error(`Redis has been rewriting its file for ${rewrittenWithinMs / 1000} s.`);
}
