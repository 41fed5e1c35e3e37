// Real: PostgreSQL and the ledger; its clock is the test's. Ranks are checked against a sorted array.
import {
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  type Board,
  type BoardDefinition,
  type GuildAggregate,
  type SortOrder,
  type Tiebreak,
} from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, SortedArrayOracle, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TimeNode, type StandingRow } from '../nodes/time-node.js';

const at = (time: string): number => Date.parse(time);
const running = new AbortController().signal;
const NOON_MS = at('2026-11-20T12:00:00Z');
const today = 'daily:2026-11-20';

describe('standings', () => {
  let testDatabase: TestDatabase;
  let node: TimeNode;
  let clock: DatabaseClock;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new TimeNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
  });

  afterAll(async () => {
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  beforeEach(async () => {
    await node.boards.refresh();
    for (const board of node.boards.all()) {
      await node.registry.delete(board.id, null, 'test');
      await node.registry.purgeRows(board.uid);
    }
    await node.database.query('TRUNCATE players, guild_members, guilds');
    await clock.stopAt(NOON_MS);
  });

  const close = async (board: Board): Promise<{ windowUid: number; rows: StandingRow[] }> => {
    await clock.stopAt(at('2026-11-22T00:00:00Z'));
    await node.closer.run(running);
    const windowUid = await node.windowUid(board, today);
    const [edition] = await node.editions(windowUid);
    return { windowUid, rows: await node.standings(edition!.uid) };
  };

  const setRegion = (playerId: string, region: string): Promise<unknown> =>
    node.database.query(
      `INSERT INTO players (player_id, region, changed_at) VALUES ($1, $2, ladder_now())
       ON CONFLICT (player_id) DO UPDATE SET region = $2`,
      [playerId, region],
    );

  const join = async (playerId: string, guildId: string): Promise<void> => {
    await node.database.query(`INSERT INTO guilds VALUES ($1, $1, ladder_now()) ON CONFLICT DO NOTHING`, [guildId]);
    await node.database.query(
      `INSERT INTO guild_members VALUES ($1, $2, ladder_now()) ON CONFLICT (player_id) DO UPDATE SET guild_id = $2`,
      [playerId, guildId],
    );
  };

  /** What a list must be: the 1-based places in all three styles. */
  const ranked = (oracle: SortedArrayOracle, scope: number): object[] => {
    let dense = 0;
    let best = 0;
    return oracle.entries.map((entry, index) => {
      const competition = oracle.rankAt(index, 'competition');
      if (competition !== best) dense += 1;
      best = competition;
      const { playerId, score } = entry;
      return { scope, ordinal: index + 1, competition, dense, playerId, score, members: null };
    });
  };

  const orderings: [SortOrder, Tiebreak, SortOrder[]][] = [
    ['desc', 'earliest', []],
    ['asc', 'latest', ['desc']],
    ['desc', 'none', ['asc', 'desc']],
    ['asc', 'none', []],
    ['desc', 'latest', ['asc', 'asc', 'desc', 'asc']],
  ];
  it.each(orderings)('rank as the projection does: %s, tiebreak %s, columns %j', async (order, tiebreak, columns) => {
    const names = columns.map((direction, n) => ({ name: `c${n}`, order: direction }));
    const definition: Partial<BoardDefinition> = { order, tiebreak, columns: names, scopes: ['global', 'region'] };
    const board = await node.put({ ...definition, operator: 'latest', windows: ['daily'], graceSeconds: 0 });
    const scores = [-0, 0, 1, -1, 0.1 + 0.2, 0.3, 2 ** 53, 2 ** 53 + 2, -1e308, 5e-324];
    const players = [
      'a',
      'A',
      'Z',
      'z',
      'é',
      'ß',
      'p10',
      'p9',
      '😀',
      '￿',
      ...Array.from({ length: 50 }, (_, n) => `q${n}`),
    ];
    const oracles = new Map(
      [GLOBAL_SCOPE, ...(await node.scopes.ensure(['region:EU', 'region:US']))].map((scope) => [
        scope,
        new SortedArrayOracle(board.definition),
      ]),
    );
    const [everybody, eu, us] = [...oracles.keys()];
    for (const [n, playerId] of players.entries()) {
      const score = scores[(n * 7) % scores.length]!;
      const values = {
        score: score === 0 ? 0 : score,
        columns: columns.map((_, c) => [3, -3, 0, 2.5][(n + c) % 4]!),
        achievedAtMs: NOON_MS - (n % 3) * 1000,
      };
      await setRegion(playerId, n % 3 === 0 ? 'EU' : 'US');
      await node.submit(board, playerId, score, { columns: values.columns, achievedAtMs: values.achievedAtMs });
      for (const scope of [everybody!, n % 3 === 0 ? eu! : us!]) oracles.get(scope)!.apply(playerId, n + 1, values);
    }
    const { rows } = await close(board);
    const expected = [...oracles].sort(([a], [b]) => a - b).flatMap(([scope, oracle]) => ranked(oracle, scope));
    expect(rows).toEqual(expected);
    const totals = await node.database.query(
      `SELECT scope_uid AS scope, total FROM edition_scopes JOIN editions USING (edition_uid) JOIN windows USING (window_uid)
       WHERE board_uid = $1 ORDER BY 1`,
      [board.uid],
    );
    expect(totals).toEqual([
      { scope: GLOBAL_SCOPE, total: 60 },
      { scope: eu, total: 20 },
      { scope: us, total: 40 },
    ]);
  });

  it('hold the metadata, time and scopes of the end, and nothing of who was removed', async () => {
    const board = await node.put({ windows: ['daily'], scopes: ['global', 'region'], operator: 'best' });
    await setRegion('ada', 'EU');
    await node.submit(board, 'ada', 5, { metadata: '{"replay":"x"}', achievedAtMs: NOON_MS - 5000 });
    await node.submit(board, 'bob', 5);
    const audit = { actor: 'test', action: 'entry.remove', subject: 'bob', details: {} };
    await node.ledger.write({
      kind: 'override',
      board: node.boards.byId(board.id)!,
      playerId: 'bob',
      entry: null,
      audit,
    });
    const { windowUid } = await close(board);
    const [eu] = await node.scopes.ensure(['region:EU']);
    const rows = await node.database.query(
      `SELECT scope_uid, player_id, metadata, achieved_at_ms, scopes FROM standings JOIN editions USING (edition_uid)
       WHERE window_uid = $1 ORDER BY scope_uid`,
      [windowUid],
    );
    const ada = { player_id: 'ada', metadata: '{"replay":"x"}', achieved_at_ms: NOON_MS - 5000, scopes: [eu] };
    expect(rows).toEqual([
      { scope_uid: GLOBAL_SCOPE, ...ada },
      { scope_uid: eu, ...ada },
    ]);
  });

  const aggregates: [GuildAggregate, SortOrder, [string, number, number][]][] = [
    [
      { kind: 'sum', k: null, onLeave: 'keep' },
      'desc',
      [
        ['red', 111, 3],
        ['blue', 60, 2],
        ['gone', 7, 1],
      ],
    ],
    [
      { kind: 'average', k: null, onLeave: 'keep' },
      'asc',
      [
        ['gone', 7, 1],
        ['blue', 30, 2],
        ['red', 37, 3],
      ],
    ],
    [
      { kind: 'top', k: 2, onLeave: 'keep' },
      'desc',
      [
        ['red', 110, 3],
        ['blue', 60, 2],
        ['gone', 7, 1],
      ],
    ],
    [
      { kind: 'top', k: 2, onLeave: 'keep' },
      'asc',
      [
        ['gone', 7, 1],
        ['red', 11, 3],
        ['blue', 60, 2],
      ],
    ],
  ];
  it.each(aggregates)('rank guilds by %j, order %s, leavers’ parts included', async (guildAggregate, order, guilds) => {
    const scopes: BoardDefinition['scopes'] = ['global', 'guild'];
    const board = await node.put({ windows: ['daily'], scopes, order, guildAggregate });
    const members: [string, string | null, number][] = [
      ['r1', 'red', 100],
      ['r2', 'red', 10],
      ['r3', 'red', 1],
      ['b1', 'blue', 30],
      ['b2', 'blue', 30],
      ['solo', null, 5000],
    ];
    for (const [player, guild, score] of members) {
      if (guild) await join(player, guild);
      await node.submit(board, player, score);
    }
    await node.database.query(`INSERT INTO guild_kept VALUES ($1, 'gone', 'g1', 7, $2, ladder_now())`, [
      await node.windowUid(board, today),
      NOON_MS,
    ]);
    const { rows } = await close(board);
    const ofGuilds = rows.filter(({ scope }) => scope === GUILDS_SCOPE);
    expect(ofGuilds.map((row) => [row.playerId, row.score, row.members])).toEqual(guilds);
    expect(ofGuilds.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3]);
  });
});
