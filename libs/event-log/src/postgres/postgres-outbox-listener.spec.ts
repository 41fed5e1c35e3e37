import { EventEmitter } from 'node:events';
import type { PostgresDatabase } from '@laddercast/ledger';
import { afterEach, expect, it, vi } from 'vitest';
import { PostgresOutboxListener } from './postgres-outbox-listener.js';

/** A connection that answers every statement at once. */
class Connection extends EventEmitter {
  readonly statements: string[] = [];

  async query(sql: string): Promise<unknown> {
    this.statements.push(sql);
    return {};
  }

  async end(): Promise<void> {}
}

afterEach(() => void vi.useRealTimers());

it('leaves no listener behind, however often it asks whether the connection is alive', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const connection = new Connection();
  const database = { listener: async () => connection } as unknown as PostgresDatabase;
  const listener = new PostgresOutboxListener(database, () => undefined);
  listener.start();
  await vi.advanceTimersByTimeAsync(15 * 60_000);
  expect(connection.statements.filter((sql) => sql === 'SELECT 1').length).toBeGreaterThan(50);
  await listener.stop();
  vi.useRealTimers();
  // Node gives its warning in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 0));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
