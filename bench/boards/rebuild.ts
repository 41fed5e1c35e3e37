import { setTimeout as sleep } from 'node:timers/promises';
import type { RankList, RankProjection, RedisConnection } from '@laddercast/projections';
import type { BuiltCode } from '../installation/built-code.js';
import type { Measuring, Service } from '../installation/context.js';
import { findBoard, lanes, takeLayout, type MeasuredBoard } from './entries.js';
import { cpuMeter } from '../meters/watch.js';

/** What a board is brought back with; `board` is read again when its layout changes. */
export interface Rebuilding extends Pick<Measuring, 'service' | 'installation' | 'database' | 'step'> {
  code: BuiltCode;
  redis: RedisConnection;
  board: MeasuredBoard;
  entries: number;
}

export interface Rebuilt {
  bytesPerEntry: number;
  rebuiltPerSecond: number;
  /** Microseconds of CPU of an entry, by process. */
  cpuUs: Record<string, number>;
}

const lookEveryMs = 20;
const sayEveryMs = 10_000;
const startedWithinMs = 60_000;
/** Slower than this, something is wrong. */
const slowestEntriesPerSecond = 1000;
const rewrittenWithinMs = 600_000;
/** How often each process of the api is asked, more or less. */
const asksOfEach = 4;

/** Starts the service with an empty Redis and the layout of another board, and waits until all ranks are back. */
export async function rebuild(context: Rebuilding, name: string, likeBoard: string): Promise<Rebuilt> {
  const { code, redis, board, installation, database, step, entries, service } = context;
  const { pool } = database;
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

export const ranksOf = ({ code, redis }: Pick<Rebuilding, 'code' | 'redis'>): RankProjection =>
  new code.projections.RedisRankProjection(redis);

/** The list that is measured. */
export const listOf = ({ code, board }: Pick<Rebuilding, 'code' | 'board'>): RankList =>
  code.projections.rankListOf(board, board.windowUid, 0);

export const perSecond = (count: number, ms: number): string => Math.round((count * 1000) / ms).toLocaleString('en');

const cpuText = (cpuUs: Record<string, number>): string =>
  Object.entries(cpuUs)
    .map(([name, us]) => `${name} ${us.toFixed(1)}`)
    .join(', ');

/** From when the service finds nothing until its marks say that everything is back: how long, and what it took. */
async function ranksBack(context: Rebuilding, name: string): Promise<{ ms: number } & Pick<Rebuilt, 'cpuUs'>> {
  const { code, redis, step, entries, service } = context;
  const marks = new code.projections.RedisLaneMarks(redis);
  const until = performance.now() + startedWithinMs + (1000 * entries) / slowestEntriesPerSecond;
  let started: { at: number; cpuOf: ReturnType<typeof cpuMeter> } | null = null;
  let saidAt = performance.now();
  for (;;) {
    const reached = await Promise.all(Array.from({ length: lanes }, (_, lane) => marks.readMark(lane)));
    const now = performance.now();
    if (started === null && reached.some((mark) => mark !== null)) started = { at: now, cpuOf: cpuMeter(service) };
    if (started !== null && reached.every((mark) => mark !== null && mark >= entries))
      return { ms: now - started.at, cpuUs: started.cpuOf(entries).cpu };
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
async function untilRead({ url, key, metricsUrlsOf }: Service, board: string): Promise<void> {
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
export async function memoryOf(redis: RedisConnection): Promise<number> {
  const text = String(await redis.command('INFO', 'memory'));
  const field = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return field('used_memory') - field('mem_clients_normal') - field('mem_aof_buffer');
}

/** Until Redis does nothing by itself any more: rewriting its file takes a core. */
export async function rewritten(redis: RedisConnection): Promise<void> {
  for (const until = performance.now() + rewrittenWithinMs; performance.now() < until;) {
    const text = String(await redis.command('INFO', 'persistence'));
    if (!/_in_progress:1|_scheduled:1/.test(text)) return;
    await sleep(1000);
  }
  throw new Error(`Redis has been rewriting its file for ${rewrittenWithinMs / 1000} s.`);
}
