import { count, oneOf, someOf } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { builtCode, connectRedis, ownNamespace } from '../installation/built-code.js';
import type { BenchContext, Measuring } from '../installation/context.js';
import type { Call, Target } from '../load/requests.js';
import type { Submissions } from '../boards/submissions.js';
import { once, runLoad } from '../load/load.js';
import { machineOf } from '../../tools/machine.mjs';
import * as data from '../boards/entries.js';
import { listOf, perSecond, ranksOf, rebuild, type Rebuilding } from '../boards/rebuild.js';
import {
  measure,
  measurePing,
  questions,
  rankIn,
  type Latency,
  type ReadFound,
  type ReadPlace,
  type RankStyle,
} from '../ranks/reads.js';
import { rankTables, type LayoutFound, type RanksFound, type StylesFound } from '../ranks/tables.js';
import { measureWrites, submissionsOf, type RankWrites } from '../ranks/writes.js';

/**
 * What a board of a stated size costs, and how long its ranks take: its entries are written straight into PostgreSQL, and
 * the service brings its ranks back from there into an empty Redis, once for each layout.
 */
export const description = 'a large board: memory, bringing its ranks back, reads, submissions and ticks over shards';

const sayEveryMs = 10_000;
/** To empty a Redis with a hundred million entries takes minutes. */
const commandTimeoutMs = 600_000;
const styles: readonly RankStyle[] = ['ordinal', 'competition', 'dense'];
const dense = { dense: true };
const rangeOf = (count: number): data.Definition => ({
  sharding: {
    by: 'range',
    boundaries: Array.from({ length: count - 1 }, (_, index) => ((index + 1) * data.scoreMax) / count),
  },
});
const hashOf = (count: number): data.Definition => ({ sharding: { by: 'hash', count } });

/** What the board's definition says of each layout; `ties`: with 10 different scores. */
const layouts = {
  'hash-1': hashOf(1),
  'hash-4': hashOf(4),
  'hash-16': hashOf(16),
  'range-4': rangeOf(4),
  'range-16': rangeOf(16),
  distinct: dense,
  ties: dense,
} satisfies Record<string, data.Definition>;
type LayoutName = keyof typeof layouts;
const layoutNames = Object.keys(layouts) as LayoutName[];

export const options = {
  entries: { type: 'string', help: 'how many entries the board has (1000000)', default: '1000000', parse: count },
  reads: { type: 'string', help: 'how many reads each figure is of (2000)', default: '2000', parse: count },
  writes: {
    type: 'string',
    help: 'for how many seconds submissions come to each layout (5)',
    default: '5',
    parse: count,
  },
  layouts: {
    type: 'string',
    help: `only some of ${layoutNames.join(',')}`,
    parse: someOf(layoutNames),
  },
  'redis-file': {
    type: 'string',
    help: 'on, or off where memory does not hold the ranks twice: Redis copies itself to rewrite its file (on)',
    default: 'on',
    parse: oneOf(['on', 'off'] as const),
  },
} satisfies Options;

/** What the layouts are measured with, one after the other. */
interface RanksContext extends Rebuilding {
  reads: number;
}

export async function run(given: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { service, installation, step, database, options: asked, keep } = given;
  const { entries, reads, writes, layouts: wanted = layoutNames, 'redis-file': redisFile } = asked;
  const code = await builtCode(installation.root);
  const { pool } = database;
  const known = await makeBoards(service, wanted, step);
  await installation.stop();
  const board = await data.findBoard(pool, 'bench');
  const namespace = await ownNamespace(pool);
  const redis = await connectRedis(code, { url: installation.redisUrl, namespace, commandTimeoutMs });
  if (redisFile === 'off') await redis.command('CONFIG', 'SET', 'appendonly', 'no');
  const found: Omit<RanksFound, 'ping'> = { entries, layouts: {}, styles: {} };
  let filled = null as { isTied: boolean; submissions: Submissions } | null;
  let ping: RanksFound['ping'];
  const context: RanksContext = { code, redis, board, service, installation, database, step, entries, reads };
  try {
    for (const name of wanted) {
      const likeBoard = known.get(name);
      if (likeBoard === undefined) continue;
      const isTied = name === 'ties';
      if (filled?.isTied !== isTied) {
        await fill(context, isTied);
        filled = { isTied, submissions: submissionsOf(entries) };
      }
      const layout: LayoutFound = await rebuild(context, name, likeBoard);
      found.layouts[name] = layout;
      if (name === 'ties' || name === 'distinct') found.styles[name] = await readStyles(context, name);
      else {
        layout.reads = await readAll(context, name);
        layout.writes = await writeSome(context, name, filled.submissions, writes);
      }
      await installation.stop();
    }
    ping = await measurePing(redis, reads);
  } finally {
    await redis.close();
  }
  keep({ ...found, ping });
  const { root, command, services } = installation;
  return rankTables({ ...machineOf(root), command, services, ...found, ping });
}

/**
 * Makes the board, and one of each layout beside it, for the service to say how that is kept.
 * @returns the layouts that the service builds, each with the id of its board
 */
async function makeBoards(
  { url, key }: Target,
  wanted: readonly LayoutName[],
  step: Measuring['step'],
): Promise<Map<LayoutName, string>> {
  const put = (id: string, layout: data.Definition): Call => ({
    method: 'PUT',
    path: `/v1/boards/${id}`,
    body: { ...data.boardOptions, ...layout },
  });
  const send = async (call: Call): Promise<void> => {
    await runLoad({ url, key, connections: 1, next: once(call) });
  };
  await send(put('bench', {}));
  const known = new Map<LayoutName, string>();
  for (const name of wanted) {
    const id = `as-${name}`;
    try {
      await send(put(id, layouts[name]));
    } catch (error) {
      const { message } = error as Error;
      if (!message.includes('NOT_SUPPORTED')) throw error;
      const { detail } = JSON.parse(message.replace(/^[^{]*/, '')) as { detail: string };
      step(`${name.padEnd(9)} is left out, or measured without: ${detail}`);
      // Styles can be compared without distinct values, too.
      if (layouts[name] !== dense) continue;
      await send(put(id, {}));
    }
    known.set(name, id);
  }
  return known;
}

async function fill({ code, board, database, step, entries }: RanksContext, isTied: boolean): Promise<void> {
  const startedAt = performance.now();
  let saidAt = startedAt;
  step(`Writing ${entries.toLocaleString('en')} entries with ${isTied ? '10 different' : 'distinct'} scores`);
  const onRows = (rows: number): void => {
    if (performance.now() - saidAt < sayEveryMs) return;
    saidAt = performance.now();
    step(`  ${rows.toLocaleString('en')} written`);
  };
  const scoreOf = isTied ? data.tiedScore : data.distinctScore;
  await data.fillEntries({ pool: database.pool, domain: code.domain, board, entries, scoreOf, onRows });
  step(`  ${perSecond(entries, performance.now() - startedAt)} entries/s`);
}

async function readAll(context: RanksContext, name: LayoutName): Promise<Record<string, ReadFound>> {
  const found: Record<string, ReadFound> = {};
  for (const [question, how] of Object.entries(questions)) {
    const one = await measure(how, placeOf(context));
    sayReads(context.step, name, question, one);
    found[question] = one;
  }
  return found;
}

async function writeSome(
  { service, database, board, step }: RanksContext,
  name: LayoutName,
  submissions: Submissions,
  seconds: number,
): Promise<RankWrites> {
  const found = await measureWrites({ service, database, board, submissions, seconds });
  const cpu = Object.entries(found.cpu).map(([process, us]) => `${process} ${us.toFixed(0)}`);
  step(
    `${name.padEnd(9)} a submission p50 ${found.p50.toFixed(2)} ms, p99 ${found.p99.toFixed(2)} ms, ` +
      `CPU µs ${cpu.join(', ')}; a tick ${found.tickMs.toFixed(2)} ms`,
  );
  return found;
}

async function readStyles(context: RanksContext, name: LayoutName): Promise<StylesFound> {
  const found: StylesFound = {};
  for (const style of styles) {
    const one = await measure(rankIn(style), placeOf(context));
    sayReads(context.step, name, style, one);
    found[style] = one;
  }
  return found;
}

const placeOf = (context: RanksContext): ReadPlace => ({
  service: context.service,
  board: context.board.id,
  ranks: ranksOf(context),
  list: listOf(context),
  entries: context.entries,
  reads: context.reads,
});

function sayReads(step: Measuring['step'], name: LayoutName, question: string, { service, plain }: ReadFound): void {
  const say = (one: Latency | null): string =>
    one ? `p50 ${one.p50.toFixed(2)} ms, p99 ${one.p99.toFixed(2)} ms` : 'not built yet';
  step(`${name.padEnd(9)} ${question.padEnd(15)} ${say(service)}${plain ? `; without HTTP ${say(plain)}` : ''}`);
}
