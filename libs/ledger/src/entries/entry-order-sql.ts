import type { BoardOrdering } from '@laddercast/domain';

/** The order of entries in the competition and dense styles: score, then columns. */
export const valueOrderSql = ({ order, columns }: Pick<BoardOrdering, 'order' | 'columns'>, of = ''): string =>
  [`${of}score ${order}`, ...columns.map((column, index) => `${of}columns[${index + 1}] ${column.order}`)].join(', ');

/**
 * The whole order of entries, exactly as the sort keys order them (see sort-key.ts of the domain).
 * @param key the column of their keys, which are players' ids or name runs
 * @param of where the values are from, such as `t.`; '': the only table that has them
 */
export function entryOrderSql(ordering: BoardOrdering, key = 'player_id', of = ''): string {
  const at = `${of}achieved_at_ms`;
  const time = { earliest: `, ${at} ASC`, latest: `, ${at} DESC`, none: '' }[ordering.tiebreak];
  return `${valueOrderSql(ordering, of)}${time}, ${key} COLLATE "C"`;
}

/** The same order from its end. */
export function worstFirstSql(ordering: BoardOrdering): string {
  const turned = { asc: 'desc', desc: 'asc', earliest: 'latest', latest: 'earliest', none: 'none' } as const;
  const columns = ordering.columns.map(({ name, order }) => ({ name, order: turned[order] }));
  const reversed = { ...ordering, order: turned[ordering.order], tiebreak: turned[ordering.tiebreak], columns };
  return `${entryOrderSql(reversed)} DESC`;
}
