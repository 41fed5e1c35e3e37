/** Values of metrics by their names. */
export type Metrics = ReadonlyMap<string, number>;

/** What was asked for each request. */
export interface Asked {
  redis: number;
  postgres: number;
}

/** The mean of a histogram between two readings of `scrape`; null when nothing was observed. */
export function meanBetween(before: Metrics, after: Metrics, name: string): number | null {
  const count = (after.get(`${name}_count`) ?? 0) - (before.get(`${name}_count`) ?? 0);
  return count === 0 ? null : ((after.get(`${name}_sum`) ?? 0) - (before.get(`${name}_sum`) ?? 0)) / count;
}

/** By how much a counter grew between two readings. */
export const grownBetween = (before: Metrics, after: Metrics, name: string): number =>
  (after.get(name) ?? 0) - (before.get(name) ?? 0);

/** How often a process asked Redis and the pool of PostgreSQL for each of so many requests between two readings. */
export function askedBetween(before: Metrics, after: Metrics, count: number): Asked {
  const grown = (name: string): number => grownBetween(before, after, name) / count;
  return {
    redis: grown('laddercast_redis_seconds_count'),
    postgres: grown('laddercast_postgres_pool_wait_seconds_count'),
  };
}

/** Between two readings a process closes a connection that it kept; the next one would fail on it. */
const ownConnection = { headers: { connection: 'close' } };

/** The metrics of some processes, summed over them and over their labels. */
export async function scrape(urls: readonly string[]): Promise<Metrics> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(url, ownConnection)).text()));
  return sumsOf(texts.join('\n'));
}

/** Values of the text format of Prometheus by name; those of one name are added. */
export function sumsOf(text: string): Metrics {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) values.set(name, (values.get(name) ?? 0) + Number(value));
  }
  return values;
}
