// Real: PostgreSQL, what closes windows and writes their standings, Redis and its scripts. The same entries are in both.
import { encodeSortKey, GLOBAL_SCOPE, withBoardDefaults, type SortKey } from '@laddercast/domain';
import { EditionCatalog, SettlementFailures, StandingsReader, WindowCloser } from '@laddercast/ledger';
import {
  RedisConnection,
  RedisRankProjection,
  StandingsRanks,
  type RankList,
  type RankReadings,
  type Reading,
} from '@laddercast/projections';
import {
  anyPlayerId,
  anyRankScenario,
  anyValues,
  applyAll,
  createTestDatabase,
  emptyTestRedis,
  oracleOf,
  playersOf,
  stylesOf,
  type RankScenario,
  type TestDatabase,
} from '@laddercast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LedgerNode } from '../integration/nodes/ledger-node.js';

describe('standings', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;
  let closer: WindowCloser;
  let redis: RedisConnection;
  let projection: RedisRankProjection;
  let standings: StandingsRanks;
  let boards = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    await node.start();
    const { database, lanes, allLanes } = node;
    closer = new WindowCloser(database, lanes, allLanes, node.notifier, new SettlementFailures(database));
    redis = new RedisConnection({ url: await emptyTestRedis(), commandTimeoutMs: 10_000 });
    await redis.connect();
    projection = new RedisRankProjection(redis);
    standings = new StandingsRanks(new StandingsReader(database));
  });
  afterAll(async () => {
    await redis.close();
    await node.stop();
    await testDatabase.drop();
  });

  /** The scenario's list, in Redis and as the final standings of a window of its own. */
  async function store(scenario: RankScenario): Promise<RankList> {
    const { ordering } = scenario.list;
    const definition = withBoardDefaults({ ...ordering, operator: 'best', graceSeconds: 0 });
    const { board } = await node.registry.put(`b${(boards += 1)}`, definition);
    const [window] = await node.database.query<{ window_uid: number }>(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at)
       VALUES ($1, 'season:s', 'season', ladder_now() - interval '1 hour', ladder_now()) RETURNING window_uid`,
      [board.uid],
    );
    const windowUid = window!.window_uid;
    const list: RankList = { ...scenario.list, windowUid, scope: GLOBAL_SCOPE };
    for (const entry of oracleOf({ ...scenario, list }).entries) {
      const numbers = [entry.score, ...entry.columns].map((value) => (value === 0 ? 0 : value));
      await node.database.query(
        `INSERT INTO entries (window_uid, board_uid, player_id, lane, version, removed, score, columns, achieved_at_ms)
         VALUES ($1, $2, $3, $4, $5, false, $6, $7::float8[], $8)`,
        [
          windowUid,
          board.uid,
          entry.playerId,
          node.lanes.of(entry.playerId),
          entry.version,
          numbers[0],
          `{${numbers.slice(1).join(',')}}`,
          entry.achievedAtMs,
        ],
      );
    }
    await closer.run(new AbortController().signal);
    const final = await new EditionCatalog(node.database).final(windowUid);
    await applyAll(projection, list, scenario.history);
    return { ...list, edition: final!.uid };
  }

  /** A reading without what differs by design: the version of the list, and that of an entry. */
  function comparable<Answer extends Reading>({ listVersion: _listVersion, ...answer }: Answer): object {
    const { entry } = answer as { entry?: { version?: number } | null };
    return entry ? { ...answer, entry: { ...entry, version: 0 } } : answer;
  }

  const anyQuestion = fc
    .record({ scenario: anyRankScenario(50), offset: fc.nat({ max: 12 }), limit: fc.integer({ min: 1, max: 9 }) })
    .chain(({ scenario, ...page }) =>
      fc.record({
        scenario: fc.constant(scenario),
        page: fc.constant(page),
        above: fc.nat({ max: 3 }),
        below: fc.nat({ max: 3 }),
        values: anyValues(scenario.list.ordering),
        playerId: anyPlayerId(),
      }),
    );

  it('answer every question as the projection does', () =>
    fc.assert(
      fc.asyncProperty(anyQuestion, async ({ scenario, page, above, below, values, playerId }) => {
        const list = await store(scenario);
        const key: SortKey = encodeSortKey(list.ordering, values, playerId);
        const ids = ['nobody', ...playersOf(scenario)];
        for (const style of stylesOf(scenario.list)) {
          const asked = [
            (ranks: RankReadings) => ranks.page(list, page.offset, page.limit, style),
            (ranks: RankReadings) => ranks.lookup(list, ids, style),
            (ranks: RankReadings) => ranks.rankOfKey(list, key, style),
            (ranks: RankReadings) => ranks.total(list),
            ...ids.map((id) => (ranks: RankReadings) => ranks.player(list, id, above, below, style)),
          ];
          for (const ask of asked) {
            expect(comparable<Reading>(await ask(standings))).toEqual(comparable<Reading>(await ask(projection)));
          }
        }
        await projection.drop(list);
      }),
      { numRuns: 40 },
    ));
});
