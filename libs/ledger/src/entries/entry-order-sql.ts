import type { BoardOrdering } from '@laddercast/domain';

/** The order of entries in the competition and dense styles: score, then columns. */
export const valueOrderSql = ({ order, columns }: Pick<BoardOrdering, 'order' | 'columns'>): string =>
  [`score ${order}`, ...columns.map((column, index) => `columns[${index + 1}] ${column.order}`)].join(', ');

/**
 * The whole order of entries, exactly as the sort keys order them (see sort-key.ts of the domain).
 * @param key the column of their keys, which are players' ids or name runs
 */
export function entryOrderSql(ordering: BoardOrdering, key = 'player_id'): string {
  const time = { earliest: ', achieved_at_ms ASC', latest: ', achieved_at_ms DESC', none: '' }[ordering.tiebreak];
  return `${valueOrderSql(ordering)}${time}, ${key} COLLATE "C"`;
}

/** The same order from its end. */
export function worstFirstSql(ordering: BoardOrdering): string {
  const turned = { asc: 'desc', desc: 'asc', earliest: 'latest', latest: 'earliest', none: 'none' } as const;
  const columns = ordering.columns.map(({ name, order }) => ({ name, order: turned[order] }));
  const reversed = { ...ordering, order: turned[ordering.order], tiebreak: turned[ordering.tiebreak], columns };
  return `${entryOrderSql(reversed)} DESC`;
}
