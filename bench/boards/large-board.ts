import { builtCode, connectRedis, ownNamespace } from '../installation/built-code.js';
import type { BenchContext, Measuring } from '../installation/context.js';
import { once, runLoad } from '../load/load.js';
import * as data from './entries.js';
import { rebuild } from './rebuild.js';

/** The board of `makeLargeBoard`. */
export interface LargeBoard {
  id: string;
  uid: number;
  windowUid: number;
  entries: number;
  /** How many entries are better when nobody has submitted. */
  better(score: number): number;
}

const id = 'bench';
const commandTimeoutMs = 600_000;

/** What `measure` finds of each board that is wanted, by its name; each begins in a clean state. */
export async function onEachBoard<Values, Name extends string, Found>(
  context: BenchContext<Values>,
  wanted: readonly Name[],
  measure: (clean: BenchContext<Values>, name: Name) => Promise<Found>,
): Promise<Record<string, Found>> {
  const found: Record<string, Found> = {};
  for (const [at, name] of wanted.entries()) {
    const clean = at === 0 ? context : await context.renew();
    context.step(`The board: ${name}`);
    found[name] = await measure(clean, name);
  }
  return found;
}

/**
 * A board with so many entries, all of them in PostgreSQL and in Redis when it resolves: written straight into PostgreSQL
 * as `fillEntries` does, and brought back from there by the service.
 * @param board its options, beside those of `boardOptions`
 */
export async function makeLargeBoard(
  { service, installation, database, step }: Pick<Measuring, 'service' | 'installation' | 'database' | 'step'>,
  { entries, definition }: { entries: number; definition: data.Definition },
): Promise<LargeBoard> {
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
  const namespace = await ownNamespace(pool);
  const redis = await connectRedis(code, { url: installation.redisUrl, namespace, commandTimeoutMs });
  try {
    await rebuild({ code, redis, board, installation, database, step, entries, service }, id, id);
  } finally {
    await redis.close();
  }
  return { id, uid: board.uid, windowUid: board.windowUid, entries, better: counterOf(entries) };
}

/** All first scores are different: how many of them are better. */
function counterOf(entries: number): LargeBoard['better'] {
  const scores = Float64Array.from({ length: entries }, (_, number) => data.distinctScore(number)).sort();
  return (score) => {
    let low = 0;
    let high = entries;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (scores[middle]! > score) high = middle;
      else low = middle + 1;
    }
    return entries - low;
  };
}
