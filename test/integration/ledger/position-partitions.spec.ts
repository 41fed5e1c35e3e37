// Real: PostgreSQL, its clock in the test's hands, and several processes' connections to it.
import { PositionPartitions, PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunNode } from '../nodes/run-node.js';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-03-01T12:00:00Z');
/** Rows of 1 KB, so many that a partition is large enough to be ended. */
const MANY = 75_000;
const AT_ONCE = 5000;
/** What the next partition begins ahead at least. */
const AHEAD = 10_000_000;
const signal = new AbortController().signal;

describe('tables in partitions by position', () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let other: PostgresDatabase;
  let clock: DatabaseClock;
  let partitions: PositionPartitions;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    [database, other] = [
      new PostgresDatabase({ url: testDatabase.url }),
      new PostgresDatabase({ url: testDatabase.url }),
    ];
    await database.open({ migrate: true });
    await other.open({ migrate: false });
    clock = await DatabaseClock.of(testDatabase.url);
    partitions = new PositionPartitions(database);
  });
  afterAll(async () => {
    await clock.close();
    await other.close();
    await database.close();
    await testDatabase.drop();
  });

  beforeEach(async () => {
    await clock.stopAt(START_MS);
    await database.query(`
      CREATE TABLE things (owner int, position bigint, text text, PRIMARY KEY (owner, position)) PARTITION BY RANGE (position);
      CREATE INDEX things_by_position ON things (position);
      CREATE TABLE things_20260301 PARTITION OF things FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
      ALTER TABLE things ALTER COLUMN text SET STORAGE PLAIN`);
    await database.query(`SELECT setval('ladder_position', 1)`);
  });
  afterEach(() => database.query('DROP TABLE things'));

  const later = (days: number): Promise<void> => clock.stopAt(START_MS + days * DAY_MS);
  const drawn = async (): Promise<number> =>
    (await database.query<{ position: number }>('SELECT last_value AS position FROM ladder_position'))[0]!.position;
  /** Writes rows at positions that it draws, so many at a time that a slow machine is in time with each. */
  const write = async (count: number, bytes = 1000): Promise<void> => {
    for (let left = count; left > 0; left -= AT_ONCE) {
      await database.query(
        `INSERT INTO things SELECT n % 7, nextval('ladder_position'), repeat('x', $2) FROM generate_series(1, $1::int) AS n`,
        [Math.min(left, AT_ONCE), bytes],
      );
    }
  };
  const writeAt = (...positions: number[]): Promise<unknown> =>
    database.query(`INSERT INTO things SELECT 0, p, 'at' FROM unnest($1::bigint[]) AS p`, [positions]);
  /** As `name: from, to`. */
  const ranges = async (table = 'things'): Promise<string[]> => {
    const rows = await database.query<{ name: string; bound: string }>(
      `SELECT relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound FROM pg_inherits
       JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass ORDER BY relname`,
      [table],
    );
    return rows.map(({ name, bound }) => `${name} ${bound.replaceAll(/FOR VALUES |FROM |[()']/g, '')}`);
  };
  /** It leaves rows that are gone where somebody else looks at the table. */
  const vacuum = (): Promise<unknown> => database.query('VACUUM things');
  const constraints = async (): Promise<number> =>
    (await database.query(`SELECT FROM pg_constraint WHERE conname LIKE 'ends_at%'`)).length;
  const placesOf = async (...positions: number[]): Promise<string[]> => {
    const rows = await database.query<{ place: string }>(
      `SELECT tableoid::regclass::text || ' ' || position AS place FROM things WHERE position = ANY ($1::bigint[]) ORDER BY position`,
      [positions],
    );
    return rows.map(({ place }) => place);
  };
  const count = async (): Promise<number> =>
    (await database.query<{ count: number }>('SELECT count(*)::int AS count FROM things'))[0]!.count;

  it('get the next one ahead of all that is drawn, once the last is a month old and large', async () => {
    await write(MANY);
    await later(29);
    await partitions.tend('things', signal);
    expect(await ranges()).toEqual(['things_20260301 MINVALUE TO MAXVALUE']);
    await later(30);
    const end = (await drawn()) + AHEAD;
    await partitions.tend('things', signal);
    const both = [`things_20260301 MINVALUE TO ${end}`, `things_20260331 ${end} TO MAXVALUE`];
    expect(await ranges()).toEqual(both);
    expect(await constraints()).toBe(0);
    await writeAt(end - 1, end, end + 1);
    expect(await placesOf(end - 1, end, end + 1)).toEqual([
      ...[`things_20260301 ${end - 1}`, `things_20260331 ${end}`, `things_20260331 ${end + 1}`],
    ]);
    expect(await count()).toBe(MANY + 3);
    // The next one is small.
    await later(90);
    await partitions.tend('things', signal);
    expect(await ranges()).toEqual(both);
  });

  it('get it as far ahead as a quarter of what the last one took', async () => {
    await database.query(`SELECT setval('ladder_position', 40000000)`);
    await write(MANY);
    await later(31);
    await partitions.tend('things', signal);
    const end = Math.ceil((40_000_000 + MANY) * 1.25);
    expect(await ranges()).toEqual([`things_20260301 MINVALUE TO ${end}`, `things_20260401 ${end} TO MAXVALUE`]);
    await database.query(`SELECT setval('ladder_position', $1)`, [end + 80_000_000 - MANY]);
    await write(MANY);
    await later(62);
    await partitions.tend('things', signal);
    const next = end + 100_000_000;
    expect((await ranges()).slice(1)).toEqual([
      `things_20260401 ${end} TO ${next}`,
      `things_20260502 ${next} TO MAXVALUE`,
    ]);
  });

  it('take all that comes when nobody begins the next one for a year', async () => {
    await write(MANY);
    await later(365);
    await database.query(`SELECT setval('ladder_position', 900000000000)`);
    await write(10);
    expect(await count()).toBe(MANY + 10);
    await partitions.tend('things', signal);
    const [, next] = await ranges();
    const from = Number(next!.split(' ')[1]);
    expect(from).toBeGreaterThan(await drawn());
    await writeAt(from);
    expect(await placesOf(from)).toEqual([`things_20270301 ${from}`]);
  });

  it('may have a first one without a day in its name, which is old as soon as it is large', async () => {
    await database.query('ALTER TABLE things_20260301 RENAME TO things_first');
    await partitions.tend('things', signal);
    expect(await ranges()).toEqual(['things_first MINVALUE TO MAXVALUE']);
    await write(MANY);
    await partitions.tend('things', signal);
    const end = (await drawn()) + AHEAD;
    expect(await ranges()).toEqual([`things_20260301 ${end} TO MAXVALUE`, `things_first MINVALUE TO ${end}`]);
  });

  it('get one when several processes begin it at once, while rows are written', async () => {
    await write(MANY);
    await later(31);
    let isOver = false;
    let written = MANY;
    const writing = (async () => {
      while (!isOver) {
        await write(10, 10);
        written += 10;
      }
    })();
    const beside = new PositionPartitions(other);
    try {
      await Promise.all([partitions, beside, partitions, beside].map((one) => one.tend('things', signal)));
    } finally {
      isOver = true;
      await writing;
    }
    expect(await ranges()).toHaveLength(2);
    expect(await constraints()).toBe(0);
    expect(await count()).toBe(written);
  });

  it.each(['transaction', 'longTransaction'] as const)(
    'are left alone by a process that was overtaken before its %s',
    async (step) => {
      await write(MANY);
      await later(31);
      const late = Object.create(other) as PostgresDatabase;
      const overtaken = vi.fn(() => partitions.tend('things', signal));
      late[step] = async (...args: never[]): Promise<never> => {
        if (overtaken.mock.calls.length === 0) await overtaken();
        return (other[step] as (...all: never[]) => Promise<never>)(...args);
      };
      await new PositionPartitions(late).tend('things', signal);
      expect(overtaken).toHaveBeenCalledOnce();
      expect(await ranges()).toHaveLength(2);
      expect(await constraints()).toBe(0);
    },
  );

  it('have what a process began ended by the next, at the same position', async () => {
    await write(MANY);
    await later(31);
    const end = (await drawn()) + AHEAD;
    const died = AbortSignal.abort(new Error('died'));
    await expect(partitions.tend('things', died)).rejects.toThrow('died');
    expect(await constraints()).toBe(1);
    // Rows come meanwhile; and by the clock it would not be begun now, but it was.
    await write(100);
    await later(29);
    await new PositionPartitions(other).tend('things', signal);
    expect(await ranges()).toEqual([`things_20260301 MINVALUE TO ${end}`, `things_20260330 ${end} TO MAXVALUE`]);
    expect(await constraints()).toBe(0);
  });

  it('are left as they are, and their writers wait for a moment only, while somebody reads for long', async () => {
    await write(MANY);
    await later(31);
    await other.transaction(async (reader) => {
      await reader.query('SELECT FROM things LIMIT 1');
      const tending = partitions.tend('things', signal);
      const waited = write(1).then(() => 'written');
      await expect(tending).rejects.toThrow(/lock timeout/);
      expect(await waited).toBe('written');
    });
    expect(await ranges()).toHaveLength(1);
    await partitions.tend('things', signal);
    expect(await ranges()).toHaveLength(2);
  });

  it('are dropped when they are empty, and their positions stay writable', async () => {
    const ends = [100, 200, 300, 400];
    await database.query(`
      ALTER TABLE things DETACH PARTITION things_20260301;
      ALTER TABLE things ATTACH PARTITION things_20260301 FOR VALUES FROM (MINVALUE) TO (100);
      ${ends.map((end, at) => `CREATE TABLE things_2026040${at} PARTITION OF things FOR VALUES FROM (${end}) TO (${ends[at + 1] ?? 'MAXVALUE'})`).join(';')}`);
    await writeAt(50, 150, 250, 350);
    await database.query('DELETE FROM things WHERE position IN (50, 150)');
    await partitions.tend('things', signal);
    // The rows that are gone take their place until they are vacuumed.
    expect(await ranges()).toHaveLength(5);
    await expect
      .poll(async () => {
        await vacuum();
        await partitions.tend('things', signal);
        return ranges();
      })
      .toEqual([
        ...['things_20260301 MINVALUE TO 200', 'things_20260401 200 TO 300', 'things_20260402 300 TO 400'],
        'things_20260403 400 TO MAXVALUE',
      ]);
    await writeAt(1, 199);
    expect(await placesOf(1, 199, 250)).toEqual(['things_20260301 1', 'things_20260301 199', 'things_20260401 250']);
    await database.query('DELETE FROM things');
    await expect
      .poll(async () => {
        await vacuum();
        await Promise.all([partitions, new PositionPartitions(other)].map((one) => one.tend('things', signal)));
        return ranges();
      })
      .toEqual(['things_20260301 MINVALUE TO 400', 'things_20260403 400 TO MAXVALUE']);
    await writeAt(1, 199, 399, 400);
    expect(await count()).toBe(4);
  });

  it('are made of the changes of ratings, which stay where they are', async () => {
    const migration = database.dataSource.migrations.find((one) =>
      one.constructor.name.startsWith('ChangePartitions'),
    )!;
    const runner = database.dataSource.createQueryRunner();
    const filesOf = (table: string): Promise<unknown[]> =>
      database.query(
        `SELECT relfilenode FROM pg_class WHERE oid = $1::regclass OR oid IN (SELECT indexrelid FROM pg_index
         WHERE indrelid = $1::regclass) ORDER BY relfilenode`,
        [table],
      );
    const rows = (): Promise<unknown> =>
      database.query(
        `SELECT count(*)::int AS count, md5(string_agg(c::text, '' ORDER BY position)) AS of FROM rating_changes AS c`,
      );
    try {
      await migration.down(runner);
      await database.query(`
        INSERT INTO rating_changes (pool_uid, player_id, position, before_rating, after_rating, engine, game_position, refund)
        SELECT n % 3, 'p' || n % 100, n, n, n + 1, 'elo@1', nullif(n % 2, 0), nullif(n % 5, 1)
        FROM generate_series(1, 20000) AS n`);
      const before = { files: await filesOf('rating_changes'), rows: await rows() };
      expect(before.files).toHaveLength(4);
      await migration.up(runner);
      expect(await ranges('rating_changes')).toEqual(['rating_changes_20260301 MINVALUE TO MAXVALUE']);
      expect({ files: await filesOf('rating_changes_20260301'), rows: await rows() }).toEqual(before);
      await migration.down(runner);
      expect(await rows()).toEqual(before.rows);
      await migration.up(runner);
      await partitions.run(signal);
    } finally {
      await runner.release();
    }
  });
});

describe('the end of a partition behind which the next is not begun yet', () => {
  it('stores nothing, and refuses nothing for good', async () => {
    const testDatabase = await createTestDatabase();
    const node = new RunNode(testDatabase.url);
    try {
      await node.start();
      const board = await node.best({ runs: { keepDays: 30 } });
      const [last] = await node.database.query<{ name: string; end: number }>(
        `SELECT inhrelid::regclass::text AS name, (SELECT last_value + 1 FROM ladder_position) AS "end"
         FROM pg_inherits WHERE inhparent = 'runs'::regclass`,
      );
      await node.database.query(
        `ALTER TABLE ${last!.name} ADD CONSTRAINT ends_at_${last!.end} CHECK (position < ${last!.end}) NOT VALID`,
      );
      const submit = (): Promise<unknown> => node.submit(board, 'ada', 7, { submissionId: 's1' });
      await expect(submit()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
      await new PositionPartitions(node.database).tend('runs', signal);
      expect(await submit()).toMatchObject({ answer: { outcome: 'created' } });
    } finally {
      await node.stop();
      await testDatabase.drop();
    }
  });
});
