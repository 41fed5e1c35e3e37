// Real: PostgreSQL. What is brought back is Redis's part, tested in redis-recovery.spec.ts.
import { adoptLog } from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('a log that is used in place of another', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  const kafka = { kind: 'kafka', clusterId: 'c1', prefix: 'ladder' } as const;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  async function groupsAfter(log: Parameters<typeof adoptLog>[1]): Promise<{ broughtBack: number; groups: string[] }> {
    await database.query('DELETE FROM log_offsets');
    for (const group of ['score', 'board', 'player', 'kafka-relay']) {
      await database.query('INSERT INTO log_offsets VALUES ($1, 0, 5, 1)', [group]);
    }
    let broughtBack = 0;
    await adoptLog(database, log, async () => void (broughtBack += 1));
    const rows = await database.query<{ consumer_group: string }>('SELECT consumer_group FROM log_offsets ORDER BY 1');
    return { broughtBack, groups: rows.map((row) => row.consumer_group) };
  }

  it('is noticed once: the ranks are brought back, and offsets that nobody needs hold the outbox no longer', async () => {
    const all = ['board', 'kafka-relay', 'player', 'score'];
    // The first start of all knows no log before.
    expect(await groupsAfter({ kind: 'postgres' })).toEqual({ broughtBack: 0, groups: all });
    expect(await groupsAfter({ kind: 'postgres' })).toEqual({ broughtBack: 0, groups: all });
    expect(await groupsAfter(kafka)).toEqual({ broughtBack: 1, groups: ['kafka-relay'] });
    expect(await groupsAfter(kafka)).toEqual({ broughtBack: 0, groups: all });
    expect(await groupsAfter({ ...kafka, prefix: 'other' })).toEqual({ broughtBack: 1, groups: ['kafka-relay'] });
    expect(await groupsAfter({ ...kafka, prefix: 'other', clusterId: 'c2' })).toMatchObject({ broughtBack: 1 });
    expect(await groupsAfter({ kind: 'postgres' })).toEqual({ broughtBack: 1, groups: ['board', 'player', 'score'] });
  });

  it('lets nothing wait for what the other lost, once that is brought back', async () => {
    const lost = (): Promise<unknown[]> => database.query(`SELECT FROM installation WHERE name = 'log-lost'`);
    await groupsAfter(kafka);
    await database.query(`INSERT INTO installation (name, value) VALUES ('log-lost', 'of this test')`);
    // Whoever follows the log of Kafka brings it back.
    await groupsAfter({ ...kafka, prefix: 'other' });
    expect(await lost()).toHaveLength(1);
    await expect(adoptLog(database, { kind: 'postgres' }, () => Promise.reject(new Error('away')))).rejects.toThrow();
    expect(await lost()).toHaveLength(1);
    expect(await groupsAfter({ kind: 'postgres' })).toMatchObject({ broughtBack: 1 });
    expect(await lost()).toEqual([]);
  });

  it('is noticed again when the ranks could not be brought back', async () => {
    const fails = adoptLog(database, kafka, () => Promise.reject(new Error('Redis is away')));
    await expect(fails).rejects.toThrow('Redis is away');
    expect(await groupsAfter(kafka)).toMatchObject({ broughtBack: 1 });
  });
});
