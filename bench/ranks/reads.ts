import type { RankList, RankProjection, RedisConnection } from '@laddercast/projections';
import { quantile } from '../figures/figures.js';
import { runLoad, type NextCall } from '../load/load.js';
import { playerOf } from '../boards/entries.js';
import type { Target } from '../load/requests.js';

/** How ties are ranked. */
export type RankStyle = 'ordinal' | 'competition' | 'dense';

/** ms. */
export interface Latency {
  p50: number;
  p99: number;
}

/** What was read; null where it cannot be asked. */
export interface ReadFound {
  service: Latency | null;
  plain: Latency | null;
}

/** What is read of a player, who has a number. */
export interface RankQuestion {
  /** How the service is asked. */
  path(player: number): string;
  /** How a plain client asks the same scripts, without HTTP and PostgreSQL. */
  plain?(ranks: RankProjection, list: RankList, player: number): Promise<unknown>;
}

/** What is read from, and how often. */
export interface ReadPlace {
  service: Target;
  /** Its id. */
  board: string;
  ranks: RankProjection;
  list: RankList;
  entries: number;
  reads: number;
}

const warmUpReads = 200;
const deepRows = 50;
const around = 5;

export const questions: Record<string, RankQuestion> = {
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
export const rankIn = (style: RankStyle): RankQuestion => ({
  path: (player) => `/players/${playerOf(player)}?around=0&rankStyle=${style}`,
  plain: (ranks, list, player) => ranks.player(list, playerOf(player), 0, 0, style),
});

/** Reads one after the other, each for another player. */
export async function measure(question: RankQuestion, where: ReadPlace): Promise<ReadFound> {
  const { service, board, ranks, list, entries, reads } = where;
  const { plain } = question;
  const pathOf = (number: number): string => `/v1/boards/${board}${question.path(number)}`;
  const answer = await fetch(new URL(pathOf(0), service.url), { headers: { authorization: `Bearer ${service.key}` } });
  const body = await answer.text();
  if (answer.status === 422) return { service: null, plain: null };
  if (answer.status !== 200) throw new Error(`GET ${pathOf(0)}: ${answer.status} ${body}`);
  return {
    service: await overHttp(service, pathOf, entries, reads),
    plain: plain ? await inProcess((number) => plain(ranks, list, number), entries, reads) : null,
  };
}

async function overHttp(
  { url, key }: Target,
  pathOf: (player: number) => string,
  entries: number,
  reads: number,
): Promise<Latency> {
  const run = (count: number): ReturnType<typeof runLoad> => {
    const players = randomPlayers(entries, count);
    const next: NextCall = () => {
      const player = players.pop();
      return player === undefined ? null : { method: 'GET', path: pathOf(player) };
    };
    return runLoad({ url, key, connections: 1, next });
  };
  await run(warmUpReads);
  const load = await run(reads);
  return { p50: load.msOf(0.5), p99: load.msOf(0.99) };
}

async function inProcess(read: (player: number) => Promise<unknown>, entries: number, reads: number): Promise<Latency> {
  for (const player of randomPlayers(entries, warmUpReads)) await read(player);
  const latencies: number[] = [];
  for (const player of randomPlayers(entries, reads)) {
    const startedAt = performance.now();
    await read(player);
    latencies.push(performance.now() - startedAt);
  }
  latencies.sort((a, b) => a - b);
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

/** How long one command takes there and back: what nothing that asks Redis can be faster than. */
export const measurePing = (redis: RedisConnection, reads: number): Promise<Latency> =>
  inProcess(() => redis.command('PING'), 1, reads);

const randomPlayers = (entries: number, count: number): number[] =>
  Array.from({ length: count }, () => Math.floor(Math.random() * entries));
