import { count, oneOf, someOf } from '../command-line/arguments.js';
import { builtCode, connectRedis } from '../installation/built-code.js';
import { once, runLoad } from '../load/load.js';
import { machineOf } from '../../tools/machine.mjs';
import * as data from '../boards/entries.js';
import { listOf, perSecond, ranksOf, rebuild } from '../boards/rebuild.js';
import { measure, measurePing, questions, rankIn } from '../ranks/reads.js';
import { rankTables } from '../ranks/tables.js';
import { measureWrites, submissionsOf } from '../ranks/writes.js';

/**
 * What a board of a stated size costs, and how long its ranks take: its entries are written straight into PostgreSQL, and
 * the service brings its ranks back from there into an empty Redis, once for each layout.
 */
export const description = 'a large board: memory, bringing its ranks back, reads, submissions and ticks over shards';

const sayEveryMs = 10_000;
/** To empty a Redis with a hundred million entries takes minutes. */
const commandTimeoutMs = 600_000;
const styles = ['ordinal', 'competition', 'dense'];
const dense = { dense: true };
const rangeOf = (count) => ({
  sharding: {
    by: 'range',
    boundaries: Array.from({ length: count - 1 }, (_, index) => ((index + 1) * data.scoreMax) / count),
  },
});
const hashOf = (count) => ({ sharding: { by: 'hash', count } });

/** What the board's definition says of each layout; `ties`: with 10 different scores. */
export const layouts = {
  'hash-1': hashOf(1),
  'hash-4': hashOf(4),
  'hash-16': hashOf(16),
  'range-4': rangeOf(4),
  'range-16': rangeOf(16),
  distinct: dense,
  ties: dense,
};

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
    help: `only some of ${Object.keys(layouts).join(',')}`,
    parse: someOf(Object.keys(layouts)),
  },
  'redis-file': {
    type: 'string',
    help: 'on, or off where memory does not hold the ranks twice: Redis copies itself to rewrite its file (on)',
    default: 'on',
    parse: oneOf(['on', 'off']),
  },
};

export async function run({ service, installation, step, database, options: asked, keep }) {
  const { entries, reads, writes, layouts: wanted = Object.keys(layouts), 'redis-file': redisFile } = asked;
  const code = await builtCode(installation.root);
  const { pool } = database;
  const known = await makeBoards(service, wanted, step);
  await installation.stop();
  const board = await data.findBoard(pool, 'bench');
  const redis = await connectRedis(code, pool, installation.redisUrl, commandTimeoutMs);
  if (redisFile === 'off') await redis.command('CONFIG', 'SET', 'appendonly', 'no');
  const found = { entries, layouts: {}, styles: {} };
  let filled = null;
  const context = { code, redis, board, service, installation, database, pool, step, entries, reads };
  try {
    for (const name of wanted.filter((one) => known.has(one))) {
      const isTied = name === 'ties';
      if (filled !== isTied) await fill(context, isTied);
      if (filled !== isTied) context.submissions = submissionsOf(entries);
      filled = isTied;
      found.layouts[name] = await rebuild(context, name, known.get(name));
      if (name === 'ties' || name === 'distinct') found.styles[name] = await readStyles(context, name);
      else {
        const read = await readAll(context, name);
        Object.assign(found.layouts[name], { reads: read, writes: await writeSome(context, name, writes) });
      }
      await installation.stop();
    }
    found.ping = await measurePing(redis, reads);
  } finally {
    await redis.close();
  }
  keep(found);
  const { root, command, services } = installation;
  return rankTables({ ...machineOf(root), command, services, ...found });
}

/**
 * Makes the board, and one of each layout beside it, for the service to say how that is kept.
 * @returns the layouts that the service builds, each with the id of its board
 */
async function makeBoards({ url, key }, wanted, step) {
  const put = (id, layout) => ({ method: 'PUT', path: `/v1/boards/${id}`, body: { ...data.boardOptions, ...layout } });
  const send = (call) => runLoad({ url, key, connections: 1, next: once(call) });
  await send(put('bench', {}));
  const known = new Map();
  for (const name of wanted) {
    const id = `as-${name}`;
    try {
      await send(put(id, layouts[name]));
    } catch (error) {
      if (!error.message.includes('NOT_SUPPORTED')) throw error;
      step(
        `${name.padEnd(9)} is left out, or measured without: ${JSON.parse(error.message.replace(/^[^{]*/, '')).detail}`,
      );
      // Styles can be compared without distinct values, too.
      if (layouts[name] !== dense) continue;
      await send(put(id, {}));
    }
    known.set(name, id);
  }
  return known;
}

async function fill({ code, board, pool, step, entries }, isTied) {
  const startedAt = performance.now();
  let saidAt = startedAt;
  step(`Writing ${entries.toLocaleString('en')} entries with ${isTied ? '10 different' : 'distinct'} scores`);
  const onRows = (rows) => {
    if (performance.now() - saidAt < sayEveryMs) return;
    saidAt = performance.now();
    step(`  ${rows.toLocaleString('en')} written`);
  };
  const scoreOf = isTied ? data.tiedScore : data.distinctScore;
  await data.fillEntries({ pool, domain: code.domain, board, entries, scoreOf, onRows });
  step(`  ${perSecond(entries, performance.now() - startedAt)} entries/s`);
}

async function readAll(context, name) {
  const found = {};
  for (const [question, how] of Object.entries(questions)) {
    found[question] = await measure(how, placeOf(context));
    sayReads(context.step, name, question, found[question]);
  }
  return found;
}

async function writeSome(context, name, seconds) {
  const found = await measureWrites({ ...context, seconds });
  const cpu = Object.entries(found.cpu).map(([process, us]) => `${process} ${us.toFixed(0)}`);
  context.step(
    `${name.padEnd(9)} a submission p50 ${found.p50.toFixed(2)} ms, p99 ${found.p99.toFixed(2)} ms, ` +
      `CPU µs ${cpu.join(', ')}; a tick ${found.tickMs.toFixed(2)} ms`,
  );
  return found;
}

async function readStyles(context, name) {
  const found = {};
  for (const style of styles) {
    found[style] = await measure(rankIn(style), placeOf(context));
    sayReads(context.step, name, style, found[style]);
  }
  return found;
}

const placeOf = (context) => ({
  service: context.service,
  board: context.board.id,
  ranks: ranksOf(context),
  list: listOf(context),
  entries: context.entries,
  reads: context.reads,
});

function sayReads(step, name, question, { service, plain }) {
  const say = (one) => (one ? `p50 ${one.p50.toFixed(2)} ms, p99 ${one.p99.toFixed(2)} ms` : 'not built yet');
  step(`${name.padEnd(9)} ${question.padEnd(15)} ${say(service)}${plain ? `; without HTTP ${say(plain)}` : ''}`);
}
