import type { BoardDefinition } from '@laddercast/domain';

/**
 * The exact value of a score. Most are whole numbers, for which PostgreSQL's own cast keeps every digit and costs less.
 */
const exact = (score: string): string =>
  `CASE WHEN ${score} = trunc(${score}) AND abs(${score}) < 1e18 THEN ${score}::bigint ELSE ladder_exact(${score}) END`;

/**
 * The SQL of a guild's score, over grouped rows with `score`; null where there is none. It is the true sum, average or
 * sum of the best k, rounded once, so the same scores give the same result in any order. A result beyond the doubles
 * becomes the greatest (or least) of them.
 */
export function guildScoreSql({ guildAggregate, order }: Pick<BoardDefinition, 'guildAggregate' | 'order'>): string {
  const sum = `sum(${exact('score')})`;
  if (guildAggregate.kind === 'sum') return `ladder_nearest(${sum}, 1)`;
  if (guildAggregate.kind === 'average') return `ladder_nearest(${sum}, count(*))`;
  const best = `unnest((array_agg(score ORDER BY score ${order}))[1:${Number(guildAggregate.k)}])`;
  return `ladder_nearest((SELECT sum(${exact('part')}) FROM ${best} AS part), 1)`;
}
