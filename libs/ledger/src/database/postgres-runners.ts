import type { Writable } from 'node:stream';
import type { PoolClient } from 'pg';
import type { QueryRunner } from 'typeorm';
import type { SqlRunner } from './postgres-database.js';
import { isDatabaseUnavailable } from './postgres-errors.js';
import { runStatement } from './postgres-statements.js';

/** A server that says nothing for so long hangs. */
export const ANSWER_TIMEOUT_MS = 6000;
/** The same for a statement with others before it, for which it waits, too. */
const BEHIND_OTHERS_TIMEOUT_MS = 2 * ANSWER_TIMEOUT_MS;

/** Ends a connection in an unknown state: back in the pool, its open transaction would become the next user's. */
export async function discardConnection(runner: QueryRunner, cause: unknown): Promise<void> {
  const reason = cause instanceof Error ? cause : new Error(String(cause));
  // The only way to tell the pool, through TypeORM, not to use a connection again.
  await (runner as unknown as { releasePostgresConnection(reason: Error): Promise<void> }).releasePostgresConnection(
    reason,
  );
}

/** Rolls back after `cause`; where that is not certain to have worked, the connection is discarded. */
export async function rollBack(runner: QueryRunner, cause: unknown): Promise<void> {
  if (isDatabaseUnavailable(cause)) return discardConnection(runner, cause);
  await runner.query('ROLLBACK').catch((error: unknown) => discardConnection(runner, error));
}

/**
 * Sends statements on one connection in one trip, without waiting for the answers in between; PostgreSQL runs them in
 * this order.
 */
export async function pipelineOf(runner: QueryRunner): Promise<SqlRunner> {
  const client = (await runner.connect()) as PoolClient;
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection;
  return {
    query: <Row>(sql: string, parameters: unknown[] = []) => {
      // All queries of this turn are one write to the socket.
      const isFirst = stream.writableCorked === 0;
      if (isFirst) {
        stream.cork();
        process.nextTick(() => stream.uncork());
      }
      return runStatement<Row>(client, sql, parameters, isFirst ? ANSWER_TIMEOUT_MS : BEHIND_OTHERS_TIMEOUT_MS);
    },
  };
}

/** Past TypeORM, which prepares no statements and makes an event of each query. */
export function sqlRunnerOf(runner: QueryRunner): SqlRunner {
  return {
    query: async <Row>(sql: string, parameters: unknown[] = []) =>
      runStatement<Row>((await runner.connect()) as PoolClient, sql, parameters),
  };
}
