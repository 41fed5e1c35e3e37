// Real: PostgreSQL; a broken network is a proxy that is cut.
import { setTimeout as delay } from 'node:timers/promises';
import { HeldLease, LeasedTask, PostgresDatabase, PostgresLeases, type LeaseTerm } from '@laddercast/ledger';
import { createTestDatabase, openTcpProxy, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let leases: PostgresLeases;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  leases = new PostgresLeases(database);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

describe('PostgresLeases', () => {
  it('has one holder at a time, and a higher epoch with each change of hands', async () => {
    const ours = await leases.acquire('one', 'a', 60_000);
    expect(ours!.epoch).toBe(1);
    expect(await leases.acquire('one', 'b', 60_000)).toBeNull();
    expect((await leases.acquire('one', 'a', 60_000))!.epoch).toBe(1);
    await leases.release(ours!);
    expect((await leases.acquire('one', 'b', 60_000))!.epoch).toBe(2);
    expect(await leases.renew(ours!, 60_000)).toBe(false);
    expect(await leases.holders(['one', 'none'])).toEqual([{ name: 'one', holder: 'b' }]);
  });

  it('has a higher epoch after a lapse, also for the same holder', async () => {
    const first = await leases.acquire('lapsing', 'a', 30);
    await delay(60);
    expect(await leases.renew(first!, 60_000)).toBe(false);
    expect((await leases.acquire('lapsing', 'a', 60_000))!.epoch).toBe(first!.epoch + 1);
  });

  it('renews in one statement what is asked for at the same time, and says of each whether it is still held', async () => {
    const statements: string[] = [];
    const counted = new PostgresLeases({
      query: (sql, parameters) => {
        statements.push(sql);
        return database.query(sql, parameters);
      },
    });
    const names = Array.from({ length: 20 }, (_, n) => `together-${n}`);
    const mine = await Promise.all(names.map((name) => leases.acquire(name, 'a', 60_000)));
    // Of these, one lapses, one goes to another, and one is asked for by two.
    await database.query(`UPDATE leases SET expires_at = ladder_now() WHERE name = 'together-3'`);
    await leases.release(mine[7]!);
    const taken = await leases.acquire('together-7', 'b', 60_000);
    const asked = [...mine, taken].map((lease) => counted.renew(lease!, 120_000));
    const renewed = await Promise.all(asked);
    expect(statements).toHaveLength(1);
    expect(renewed).toEqual([...names.map((_, n) => n !== 3 && n !== 7), true]);
    const [left] = await database.query<{ seconds: number }>(
      `SELECT min(extract(epoch FROM expires_at - ladder_now()))::float8 AS seconds FROM leases
       WHERE name LIKE 'together-%' AND name <> 'together-3'`,
    );
    expect(left!.seconds).toBeGreaterThan(60);
  });

  it('gives a lease that many ask for at once to exactly one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const asked = Array.from({ length: 8 }, (_, n) => leases.acquire(`raced-${round}`, `holder-${n}`, 60_000));
      expect((await Promise.all(asked)).filter((lease) => lease !== null)).toHaveLength(1);
    }
  });
});

describe('HeldLease', () => {
  /** Long enough for renewals on a loaded machine. */
  const HELD_FOR_MS = 2000;

  const held = (name: string, holder: string, of = leases): HeldLease =>
    new HeldLease(of, { name, holder, ttlMs: HELD_FOR_MS, askEveryMs: 50 });

  it('is renewed while it is held, and goes to the next when it is stopped', async () => {
    const [first, second] = [held('passed-on', 'a'), held('passed-on', 'b')];
    first.start();
    await expect.poll(() => first.term?.epoch).toBe(1);
    second.start();
    await delay(1.5 * HELD_FOR_MS);
    expect(first.term?.epoch).toBe(1);
    expect(second.term).toBeNull();
    await first.stop();
    await expect.poll(() => second.term?.epoch).toBe(2);
    await second.stop();
  });

  it('is renewed with all others of its length, whenever each began', async () => {
    let statements = 0;
    const counted = new PostgresLeases({
      query: (sql, parameters) => {
        if (sql.includes('UPDATE leases AS held')) statements += 1;
        return database.query(sql, parameters);
      },
    });
    const all = Array.from({ length: 12 }, (_, n) => held(`in-step-${n}`, 'a', counted));
    for (const lease of all) {
      lease.start();
      await delay(25);
    }
    await expect.poll(() => all.every((lease) => lease.term !== null)).toBe(true);
    const before = statements;
    await delay(2 * HELD_FOR_MS);
    expect(all.map((lease) => lease.term?.epoch)).toEqual(all.map(() => 1));
    // Six beats in this time; each alone would be 72.
    expect(statements - before).toBeLessThan(30);
    await Promise.all(all.map((lease) => lease.stop()));
  });

  it('waits for the work to end before it gives the lease back', async () => {
    const lease = held('working', 'a');
    const ends: string[] = [];
    lease.start(async ({ ending }) => {
      await delay(60_000, undefined, { signal: ending }).catch(() => undefined);
      await delay(1.5 * HELD_FOR_MS);
      ends.push('work');
    });
    await expect.poll(() => lease.term?.epoch).toBe(1);
    const stopping = lease.stop().then(() => ends.push('stop'));
    await delay(1.2 * HELD_FOR_MS);
    expect(await leases.acquire('working', 'b', 60_000)).toBeNull();
    await stopping;
    expect(ends).toEqual(['work', 'stop']);
    expect(await leases.acquire('working', 'b', 60_000)).not.toBeNull();
  });

  it('says that it is lost when PostgreSQL is away for longer than it lasts, and takes it up again afterwards', async () => {
    const url = new URL(testDatabase.url);
    const proxy = await openTcpProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    const far = new PostgresDatabase({ url: url.href });
    await far.open({ migrate: false });
    const lease = held('cut-off', 'a', new PostgresLeases(far));
    const terms: LeaseTerm[] = [];
    lease.start(async (term) => {
      terms.push(term);
      await new Promise((resolve) => term.ending.addEventListener('abort', resolve, { once: true }));
    });
    await expect.poll(() => terms.length).toBe(1);
    proxy.cut();
    await expect.poll(() => terms[0]!.lost.aborted).toBe(true);
    expect(lease.term).toBeNull();
    proxy.mend();
    await expect.poll(() => lease.term?.epoch).toBe(2);
    await lease.stop();
    await far.close();
    await proxy.close();
  });
});

describe('LeasedTask', () => {
  /** Who ran when, as two processes that share a task. */
  function holders(name: string, ttlMs: number) {
    const ran: string[] = [];
    const failures: unknown[] = [];
    const [ofA, ofB] = [new PostgresLeases(database), new PostgresLeases(database)];
    const tasks = [ofA, ofB].map((own) => {
      const run = async (): Promise<void> => void ran.push(own === ofA ? 'a' : 'b');
      const onFailure = (error: unknown): void => void failures.push(error);
      return new LeasedTask(own, { name, ttlMs, askEveryMs: 20, duties: [{ everyMs: 5, run }], onFailure });
    });
    return { ran, failures, tasks, b: ofB.holder };
  }

  it('runs in one process, and in the other once that has stopped', async () => {
    const { ran, failures, tasks } = holders('shared task', 10_000);
    tasks[0]!.start();
    await expect.poll(() => ran.length).toBeGreaterThan(2);
    tasks[1]!.start();
    await delay(100);
    expect(new Set(ran)).toEqual(new Set(['a']));
    await tasks[0]!.stop();
    const ended = ran.length;
    await expect.poll(() => ran.length).toBeGreaterThan(ended);
    expect(new Set(ran.slice(ended))).toEqual(new Set(['b']));
    await tasks[1]!.stop();
    expect(failures).toEqual([]);
  });

  it('goes on in the other process when the lease of the one is taken away', async () => {
    const { ran, failures, tasks, b } = holders('lost task', 2000);
    tasks[0]!.start();
    await expect.poll(() => ran.length).toBeGreaterThan(2);
    tasks[1]!.start();
    // As after a lapse that the holder did not see: the next to ask has it.
    await database.query("UPDATE leases SET holder = $1, epoch = epoch + 1 WHERE name = 'lost task'", [b]);
    await expect.poll(() => ran.at(-1)).toBe('b');
    // The first learns it from its next renewal, and stops.
    await expect.poll(() => new Set(ran.slice(-3))).toEqual(new Set(['b']));
    await delay(2100);
    const since = ran.length;
    await delay(100);
    expect(new Set(ran.slice(since))).toEqual(new Set(['b']));
    await Promise.all(tasks.map((task) => task.stop()));
    expect(failures).toEqual([]);
  });
});
