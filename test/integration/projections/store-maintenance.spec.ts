// Real: PostgreSQL with the leases; what is looked at and swept is not there.
import { LeasedTask, PostgresDatabase, PostgresLeases } from '@laddercast/ledger';
import { StoreMaintenance } from '@laddercast/projections';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('looking after the store', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  it('goes on while keys are swept, once at a time, and ends the sweep when it is stopped', async () => {
    let looks = 0;
    let [sweeps, isSweeping] = [0, false];
    const stamp = {
      isAhead: async () => {
        looks += 1;
        return false;
      },
      advance: async () => undefined,
      empty: async () => 0,
    };
    const sweep = async (signal: AbortSignal): Promise<number> => {
      [sweeps, isSweeping] = [sweeps + 1, true];
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      isSweeping = false;
      throw signal.reason;
    };
    const failures: unknown[] = [];
    const store = new StoreMaintenance(stamp, { sweep }, { onReady: () => () => undefined }, 50);
    const schedule = new LeasedTask(new PostgresLeases(database), {
      name: 'projection:store',
      ttlMs: 6000,
      duties: [
        { everyMs: 20, run: (signal) => store.look(signal) },
        { everyMs: 20, run: (signal) => store.sweep(signal) },
      ],
      onTerm: () => store.begin(),
      onFailure: (error) => failures.push(error),
    });
    schedule.start();
    await expect.poll(() => sweeps).toBe(1);
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThan(before + 5);
    await schedule.stop();
    expect([sweeps, isSweeping, failures]).toEqual([1, false, []]);
  });
});
