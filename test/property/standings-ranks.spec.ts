// Real: PostgreSQL with the ledger's schema. Standings are checked against a sorted array, as the ranks in Redis are.
import { encodeSortKey, GLOBAL_SCOPE, versionBeyond, type BoardOrdering, type SortKey } from '@laddercast/domain';
import { PostgresDatabase, StandingsReader } from '@laddercast/ledger';
import { StandingsRanks, type RankList, FIRST_GENERATION } from '@laddercast/projections';
import {
  createTestDatabase,
  oracleOf,
  rankReadingsConformance,
  type RankScenario,
  type SortedArrayOracle,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const AS_OF_MS = Date.parse('2026-11-20T18:00:00.123Z');
const VERSION = 4711;
const ORDERING: BoardOrdering = { order: 'desc', operator: 'best', tiebreak: 'earliest', columns: [] };

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let ranks: StandingsRanks;
let asOfMs = AS_OF_MS;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  await database.query(`INSERT INTO boards (board_id, definition, layouts, revision) VALUES ('b', '{}', '{}', 1)`);
  await database.query(
    `INSERT INTO windows (board_uid, window_id, kind, state) SELECT board_uid, 'alltime', 'alltime', 'open' FROM boards`,
  );
  ranks = new StandingsRanks(new StandingsReader(database));
});

afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

async function makeEdition(scope: number, total: number): Promise<number> {
  const [row] = await database.query<{ edition_uid: number }>(
    `INSERT INTO editions (window_uid, kind, as_of, version)
     SELECT window_uid, 'kept', to_timestamp($1::float8 / 1000), $2 FROM windows RETURNING edition_uid`,
    [(asOfMs += 1), VERSION],
  );
  await database.query('INSERT INTO edition_scopes VALUES ($1, $2, $3)', [row!.edition_uid, scope, total]);
  return row!.edition_uid;
}

/** Writes what the oracle holds, at most `top` rows of it, as its own ranks say. */
async function store(list: RankList, oracle: SortedArrayOracle, top = Infinity): Promise<RankList> {
  const edition = await makeEdition(list.scope, oracle.entries.length);
  for (const [index, entry] of oracle.entries.entries()) {
    if (index >= top) break;
    await database.query(
      `INSERT INTO standings (edition_uid, scope_uid, ordinal, competition, dense, player_id, score, columns,
         achieved_at_ms, scopes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8::float8[], $9, '{}')`,
      [
        edition,
        list.scope,
        index + 1,
        oracle.rankAt(index, 'competition'),
        oracle.rankAt(index, 'dense'),
        entry.playerId,
        entry.score === 0 ? 0 : entry.score,
        `{${entry.columns.map((column) => (column === 0 ? 0 : column)).join(',')}}`,
        entry.achievedAtMs,
      ],
    );
  }
  return { ...list, edition };
}

describe('ranks of standings', () => {
  rankReadingsConformance({
    runs: 40,
    // Standings keep no version of each entry: theirs is that of the edition.
    versionOf: () => VERSION,
    withScenario: async (scenario: RankScenario, check) => {
      const oracle = oracleOf(scenario);
      const list = await store(scenario.list, oracle);
      await check({ readings: ranks, list, oracle });
    },
  });
});

describe('standings', () => {
  const listOf = (edition: number, shards = 1): RankList => ({
    boardUid: 1,
    windowUid: 1,
    scope: GLOBAL_SCOPE,
    ordering: ORDERING,
    shards,
    ...FIRST_GENERATION,
    edition,
  });
  const keyOf = (score: number): SortKey => encodeSortKey(ORDERING, { score, columns: [], achievedAtMs: 0 }, 'x');

  it('have a version beyond what any counter can have reached by then', async () => {
    const edition = await makeEdition(GLOBAL_SCOPE, 0);
    expect((await ranks.total(listOf(edition, 3))).listVersion).toBe(versionBeyond(listOf(edition, 3), asOfMs));
    expect(versionBeyond(listOf(1), asOfMs)).toBeGreaterThan(versionBeyond(listOf(1), asOfMs - 1));
  });

  it('of the top alone still say how many there were, and end where the rows end', async () => {
    const edition = await makeEdition(GLOBAL_SCOPE, 1000);
    await database.query(
      `INSERT INTO standings (edition_uid, scope_uid, ordinal, competition, dense, player_id, score, columns,
         achieved_at_ms, scopes)
       SELECT $1, 0, n, n, n, 'p' || n, 1000 - n, '{}', 0, '{}' FROM generate_series(1, 10) AS n`,
      [edition],
    );
    const list = listOf(edition);
    expect(await ranks.page(list, 10, 10, 'ordinal')).toMatchObject({ total: 1000, entries: [] });
    expect((await ranks.page(list, 8, 10, 'ordinal')).entries.map(({ rank }) => rank)).toEqual([9, 10]);
    expect(await ranks.player(list, 'p11', 1, 1, 'ordinal')).toMatchObject({ total: 1000, entry: null });
    expect(await ranks.rankOfKey(list, keyOf(990.5), 'ordinal')).toMatchObject({ rank: 10, total: 1000 });
    await expect(ranks.rankOfKey(list, keyOf(1), 'ordinal')).rejects.toMatchObject({ code: 'SNAPSHOT_GONE' });
  });

  it('that are gone are said to be gone', async () => {
    const edition = await makeEdition(GLOBAL_SCOPE, 0);
    await database.query('DELETE FROM editions WHERE edition_uid = $1', [edition]);
    const list = listOf(edition);
    const readings = [
      () => ranks.page(list, 0, 1, 'ordinal'),
      () => ranks.player(list, 'a', 1, 1, 'ordinal'),
      () => ranks.lookup(list, ['a'], 'ordinal'),
      () => ranks.rankOfKey(list, keyOf(1), 'ordinal'),
      () => ranks.total(list),
    ];
    for (const reading of readings) await expect(reading()).rejects.toMatchObject({ code: 'SNAPSHOT_GONE' });
  });

  it('are probed and never scanned, however many there are, also before they were analysed', async () => {
    const edition = await makeEdition(GLOBAL_SCOPE, 200_000);
    await database.query(
      `INSERT INTO standings (edition_uid, scope_uid, ordinal, competition, dense, player_id, score, columns,
         achieved_at_ms, scopes)
       SELECT $1, 0, n, n, n, 'p' || n, 200000 - n, '{}', 0, '{}' FROM generate_series(1, 200000) AS n`,
      [edition],
    );
    const list = listOf(edition);
    const counted = new CountingRunner(database);
    const reading = new StandingsRanks(new StandingsReader(counted));
    expect((await reading.page(list, 150_000, 100, 'ordinal')).entries[0]!.rank).toBe(150_001);
    expect((await reading.player(list, 'p77777', 5, 5, 'competition')).neighbours).toHaveLength(11);
    const asked = Array.from({ length: 500 }, (_, i) => `p${i * 399 + 1}`);
    expect((await reading.lookup(list, asked, 'ordinal')).entries.every(Boolean)).toBe(true);
    const before = counted.statements.length;
    expect(await reading.rankOfKey(list, keyOf(200_000 - 123_456.5), 'ordinal')).toMatchObject({ rank: 123_457 });
    expect(counted.statements.length - before).toBeLessThanOrEqual(4);
    for (const { sql, parameters } of counted.statements) {
      const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, FORMAT TEXT) ${sql}`, parameters);
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(text).not.toMatch(/Seq Scan on standings/);
      for (const [, rows] of text.matchAll(/on standings.*actual time=\S+ rows=(\d+)/g)) {
        expect(Number(rows)).toBeLessThanOrEqual(500);
      }
      // The editions are a table of some hundreds, which the histories before this test may have made.
      const ofStandings = text.split(/(?=^.*-> )/m).filter((node) => !/Scan on edition/.test(node));
      expect(ofStandings.join('')).not.toMatch(/Rows Removed by Filter: \d{3,}/);
    }
  });
});

/** Remembers what was asked of the database. */
class CountingRunner {
  readonly statements: { sql: string; parameters: unknown[] }[] = [];

  constructor(private readonly runner: PostgresDatabase) {}

  query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    this.statements.push({ sql, parameters });
    return this.runner.query<Row>(sql, parameters);
  }
}
