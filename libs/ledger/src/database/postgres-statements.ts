import { monotonicMs } from '@laddercast/platform';
import pg from 'pg';

/** Names are kept by each connection for as long as it lives. */
const STATEMENTS_MAX = 200;
/** How often a plan is made anew: one that was made while a table was small is slow once it is large. */
const PLANS_KEPT_MS = 5000;

const names = new Map<string, string>();
const plannedAtMs = new WeakMap<pg.ClientBase, number>();

/**
 * Has a statement parsed and planned once in a while and connection instead of each time; for constants that are run
 * all the time, whose plan is the same whatever the parameters are.
 * @throws Error when there are too many: then some text is made anew for each call
 */
export function prepared(sql: string): string {
  if (!names.has(sql)) names.set(sql, `ladder_${names.size + 1}`);
  if (names.size > STATEMENTS_MAX) throw new Error(`More than ${STATEMENTS_MAX} statements to prepare: ${sql}`);
  return sql;
}

/**
 * Runs a statement, {@link prepared} or not.
 * @param answerTimeoutMs after which the connection counts as dead; by default that of the connection
 */
export async function runStatement<Row>(
  client: pg.ClientBase,
  sql: string,
  values: unknown[],
  answerTimeoutMs?: number,
): Promise<Row[]> {
  const name = names.get(sql);
  if (name !== undefined) forgetOldPlans(client);
  try {
    return await new Promise<Row[]>((resolve, reject) => {
      // An object with the name in it would be copied, property by property: a fiftieth of the api's work.
      const query: pg.Query & NamedQuery = new pg.Query(sql, values, (error, result) => {
        if (error) reject(error);
        // Nobody reads the answers to several statements in one text.
        else resolve(((result as unknown as pg.QueryResult).rows ?? []) as Row[]);
      });
      query.name = name;
      query.query_timeout = answerTimeoutMs;
      client.query(query);
    });
  } catch (error) {
    // The stack of the call says more than that of the answer.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  }
}

/** pg looks for the same in a query. */
interface NamedQuery {
  name?: string | undefined;
  query_timeout?: number | undefined;
}

function forgetOldPlans(client: pg.ClientBase): void {
  const now = monotonicMs();
  if (now - (plannedAtMs.get(client) ?? now) >= PLANS_KEPT_MS) {
    // If it fails, the statement that is sent behind it fails for the same reason.
    client.query('DISCARD PLANS').catch(() => undefined);
    plannedAtMs.set(client, now);
  } else if (!plannedAtMs.has(client)) plannedAtMs.set(client, now);
}
