import { builtCode, connectRedis } from '../installation/built-code.js';
import { once, runLoad } from '../load/load.js';
import * as data from './entries.js';
import { rebuild } from './rebuild.js';

const id = 'bench';
const commandTimeoutMs = 600_000;

/** What `measure` finds of each board that is wanted, by its name; each begins in a clean state. */
export async function onEachBoard(context, wanted, measure) {
  const found = {};
  let clean = context;
  for (const name of wanted) {
    clean ??= await context.renew();
    context.step(`The board: ${name}`);
    found[name] = await measure(clean, name);
    clean = null;
  }
  return found;
}

/**
 * A board with so many entries, all of them in PostgreSQL and in Redis when it resolves: written straight into PostgreSQL
 * as `fillEntries` does, and brought back from there by the service.
 * @param definition options of the board, beside those of `boardOptions`
 * @returns `{ id, uid, windowUid, entries, better(score) }`; `better`: how many entries are better when nobody has submitted
 */
export async function makeLargeBoard({ service, installation, database, step }, { entries, definition }) {
  const { pool } = database;
  const code = await builtCode(installation.root);
  const body = { ...data.boardOptions, ...definition };
  const { url, key } = service;
  await runLoad({ url, key, connections: 1, next: once({ method: 'PUT', path: `/v1/boards/${id}`, body }) });
  await installation.stop();
  const board = await data.findBoard(pool, id);
  step(`Writing ${entries.toLocaleString('en')} entries`);
  const fill = { pool, domain: code.domain, board, entries, scoreOf: data.distinctScore, onRows: () => {} };
  await data.fillEntries(fill);
  // What is measured from here on survives a crash, as it does in operation.
  await pool.query('ALTER TABLE entries SET LOGGED');
  await pool.query('ANALYZE entries');
  await pool.query('CHECKPOINT');
  const redis = await connectRedis(code, pool, installation.redisUrl, commandTimeoutMs);
  try {
    await rebuild({ code, redis, board, installation, pool, step, entries, service }, id, id);
  } finally {
    await redis.close();
  }
  return { id, uid: board.uid, windowUid: board.windowUid, entries, better: counterOf(entries) };
}

/** All first scores are different: how many of them are better. */
function counterOf(entries) {
  const scores = Float64Array.from({ length: entries }, (_, number) => data.distinctScore(number)).sort();
  return (score) => {
    let [low, high] = [0, entries];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (scores[middle] > score) high = middle;
      else low = middle + 1;
    }
    return entries - low;
  };
}
