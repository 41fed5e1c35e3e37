/** Names are kept by each connection for as long as it lives. */
const STATEMENTS_MAX = 200;

const names = new Map<string, string>();

/**
 * Has a statement parsed and planned once a connection instead of each time; for constants that are run all the time, whose
 * plan is the same whatever the parameters are.
 * @throws Error when there are too many: the text is made anew each time, then
 */
export function prepared(sql: string): string {
  if (!names.has(sql)) names.set(sql, `ladder_${names.size + 1}`);
  if (names.size > STATEMENTS_MAX) throw new Error(`More than ${STATEMENTS_MAX} statements to prepare: ${sql}`);
  return sql;
}

/** The name under which a connection knows the statement; undefined: it is sent as it is. */
export const nameOfPrepared = (sql: string): string | undefined => names.get(sql);
