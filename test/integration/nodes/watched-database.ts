import type { PostgresDatabase, SqlRunner } from '@laddercast/ledger';

/** A database that calls back before each statement, with its text, and after each transaction. */
export function watched(database: PostgresDatabase, step: (text: string) => Promise<void>): PostgresDatabase {
  const runner = (sql: SqlRunner): SqlRunner => ({
    query: async <Row>(text: string, parameters: unknown[] = []) => {
      await step(text);
      return sql.query<Row>(text, parameters);
    },
  });
  const within =
    <T>(work: (sql: SqlRunner) => Promise<T>) =>
    (sql: SqlRunner): Promise<T> =>
      work(runner(sql));
  const stepped = async <T>(result: Promise<T>): Promise<T> => {
    const value = await result;
    await step('COMMIT');
    return value;
  };
  return {
    query: <Row>(text: string, parameters?: unknown[]) => runner(database).query<Row>(text, parameters),
    transaction: <T>(work: (sql: SqlRunner) => Promise<T>) => stepped(database.transaction(within(work))),
    longTransaction: <T>(ms: number, work: (sql: SqlRunner) => Promise<T>, signal?: AbortSignal) =>
      stepped(database.longTransaction(ms, within(work), signal)),
  } as PostgresDatabase;
}

/** A database that is not reached any more after so many steps. */
export function dyingAfter(database: PostgresDatabase, steps: number): PostgresDatabase {
  let left = steps;
  return watched(database, () => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error('killed')) : Promise.resolve();
  });
}
