import type { BoardDefinition } from '@laddercast/domain';

/** Sums are made of scores scaled by a power of two, which is exact: so none of them leaves the doubles on its way. */
const SCALE = 2 ** 64;

/**
 * The SQL of a guild's score, over grouped rows with `score` and `player_id`. The order of the sum is fixed: whoever
 * adds the same doubles gets the same total. A total beyond the doubles is the greatest (or least) of them.
 */
export function guildScoreSql({ guildAggregate, order }: Pick<BoardDefinition, 'guildAggregate' | 'order'>): string {
  const scaled = `(score / ${SCALE}::float8)`;
  const sum = `sum(${scaled} ORDER BY player_id COLLATE "C")`;
  if (guildAggregate.kind === 'sum') return unscaled(sum);
  if (guildAggregate.kind === 'average') return unscaled(`(${sum} / count(*))`);
  const best = `array_agg(${scaled} ORDER BY score ${order}, player_id COLLATE "C")`;
  const sumOfBest = `SELECT sum(part ORDER BY n) FROM unnest((${best})[1:${Number(guildAggregate.k)}]) WITH ORDINALITY AS t (part, n)`;
  return unscaled(`(${sumOfBest})`);
}

function unscaled(sql: string): string {
  const limit = `${Number.MAX_VALUE / SCALE}::float8`;
  return `(greatest(least(${sql}, ${limit}), -(${limit})) * ${SCALE}::float8)`;
}
