import { runLoad } from '../load/load.js';
import { playerOf } from '../boards/entries.js';

const warmUpReads = 200;
const deepRows = 50;
const around = 5;

/**
 * What is read. `path` is how the service is asked, `plain` how a plain client asks the same scripts, without HTTP and
 * PostgreSQL; both get the number of a player.
 */
export const questions = {
  'exact rank': {
    path: (player) => `/players/${playerOf(player)}?around=0`,
    plain: (ranks, list, player) => ranks.player(list, playerOf(player), 0, 0, 'ordinal'),
  },
  'around me (11)': {
    path: (player) => `/players/${playerOf(player)}?around=${around}`,
    plain: (ranks, list, player) => ranks.player(list, playerOf(player), around, around, 'ordinal'),
  },
  'deep page (50)': {
    path: (player) => `/entries?limit=${deepRows}&offset=${player}`,
    plain: (ranks, list, player) => ranks.page(list, player, deepRows, 'ordinal'),
  },
  'estimated rank': { path: (player) => `/players/${playerOf(player)}?around=0&accuracy=estimated` },
  'top 10': {
    path: () => '/entries?limit=10',
    plain: (ranks, list) => ranks.page(list, 0, 10, 'ordinal'),
  },
};

/** Exact rank in one of the styles. */
export const rankIn = (style) => ({
  path: (player) => `/players/${playerOf(player)}?around=0&rankStyle=${style}`,
  plain: (ranks, list, player) => ranks.player(list, playerOf(player), 0, 0, style),
});

/**
 * Reads one after the other, each for another player.
 * @param {{ service: { url: string, key: string }, board: string, ranks: object, list: object, entries: number,
 *   reads: number }} where
 * @returns `{ service, plain }`, each `{ p50, p99 }` in ms, or null where it cannot be asked
 */
export async function measure(question, { service, board, ranks, list, entries, reads }) {
  const pathOf = (number) => `/v1/boards/${board}${question.path(number)}`;
  const answer = await fetch(new URL(pathOf(0), service.url), { headers: { authorization: `Bearer ${service.key}` } });
  const body = await answer.text();
  if (answer.status === 422) return { service: null, plain: null };
  if (answer.status !== 200) throw new Error(`GET ${pathOf(0)}: ${answer.status} ${body}`);
  return {
    service: await overHttp(service, pathOf, entries, reads),
    plain: question.plain ? await inProcess((number) => question.plain(ranks, list, number), entries, reads) : null,
  };
}

async function overHttp({ url, key }, pathOf, entries, reads) {
  const run = (count) => {
    const players = randomPlayers(entries, count);
    const next = () => (players.length === 0 ? null : { method: 'GET', path: pathOf(players.pop()) });
    return runLoad({ url, key, connections: 1, next });
  };
  await run(warmUpReads);
  const load = await run(reads);
  return { p50: load.msOf(0.5), p99: load.msOf(0.99) };
}

async function inProcess(read, entries, reads) {
  for (const player of randomPlayers(entries, warmUpReads)) await read(player);
  const latencies = [];
  for (const player of randomPlayers(entries, reads)) {
    const startedAt = performance.now();
    await read(player);
    latencies.push(performance.now() - startedAt);
  }
  return quantilesOf(latencies);
}

/** How long one command takes there and back: what nothing that asks Redis can be faster than. */
export const measurePing = (redis, reads) => inProcess(() => redis.command('PING'), 1, reads);

function quantilesOf(latencies) {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (quantile) => sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))];
  return { p50: at(0.5), p99: at(0.99) };
}

const randomPlayers = (entries, count) => Array.from({ length: count }, () => Math.floor(Math.random() * entries));
