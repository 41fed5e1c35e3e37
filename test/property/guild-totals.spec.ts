// Real: PostgreSQL, the ledgers of two processes, the log, the saga that adds up guilds. Runs, joins, moves, leaves and
// removals at once, from all sides; at rest every total is what plain code makes of entries, members and what was kept.
// Prints its seed; SEED=… repeats the choices, not their interleaving.
import { withBoardDefaults, type Board, type BoardDefinition, type EntryChanged } from '@laddercast/domain';
import {
  Dice,
  seedOfRun,
  createTestDatabase,
  DatabaseClock,
  guildScoreOf,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submissionOf } from '../integration/nodes/ledger-node.js';
import { PeopleNode } from '../integration/nodes/people-node.js';

const ROUNDS = 12;
const AT_ONCE = 80;
const PLAYERS = Array.from({ length: 12 }, (_, i) => `p${i}`);
const GUILDS = ['red', 'blue', 'green'];
const HOUR_MS = 3_600_000;
/** Sums of these leave the doubles, or lose what is small, when they are rounded on their way. */
const EXTREMES = [5e-324, 1e-310, -1e-310, 1e-300, 1e16, -1e16, 1e300];
const START = Date.parse('2026-11-20T20:00:00Z');

const seed = seedOfRun();
const { next: random, below, oneOf } = new Dice(seed);

const DEFINITIONS: Partial<BoardDefinition>[] = [
  { operator: 'sum', guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' }, windows: ['alltime', 'daily'] },
  { operator: 'best', guildAggregate: { kind: 'average', k: null, onLeave: 'takeAway' }, windows: ['alltime'] },
  { operator: 'latest', order: 'asc', guildAggregate: { kind: 'top', k: 2, onLeave: 'keep' }, windows: ['daily'] },
];

interface Part {
  id: string;
  score: number;
  at: number;
}

/** `window/guild` → what stands there. */
type Totals = Record<string, { score: number; members: number; at: number }>;

describe(`guilds' totals (SEED=${seed})`, () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let nodes: [PeopleNode, PeopleNode];
  const boards: Board[] = [];
  let nowMs = START;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new PeopleNode(testDatabase.url), new PeopleNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
    for (const [index, given] of DEFINITIONS.entries()) {
      const scopes: BoardDefinition['scopes'] = ['global', 'guild', 'region'];
      const definition = withBoardDefaults({
        order: 'desc',
        operator: 'sum',
        scopes,
        graceSeconds: 3 * 3600,
        ...given,
      } as BoardDefinition);
      boards.push((await nodes[0].registry.put(`b${index}`, definition)).board);
    }
    for (const node of nodes) await node.boards.refresh();
    for (const guild of GUILDS) await nodes[0].guilds.put(guild, null);
    for (const node of nodes) await node.follow();
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.stop();
    await clock?.close();
    await testDatabase?.drop();
  });

  /** One act, of a process of its own choice. */
  function act(): Promise<unknown> {
    const node = oneOf(nodes);
    const playerId = oneOf(PLAYERS);
    const dice = random();
    if (dice < 0.2) return node.guilds.join(oneOf(GUILDS), playerId);
    if (dice < 0.3) return node.guilds.leave(oneOf(GUILDS), playerId);
    if (dice < 0.35) {
      const profile = { displayName: null, region: oneOf(['EU', 'US']), avatarUrl: null, attributes: {}, listed: true };
      return node.players.put(playerId, profile);
    }
    const board = node.boards.byId(oneOf(boards).id)!;
    if (dice < 0.4) {
      const audit = { actor: 'test', action: 'entry.remove', subject: playerId, details: {} };
      return node.ledger.write({ kind: 'override', board, playerId, entry: null, audit });
    }
    const achievedAtMs = random() < 0.7 ? null : nowMs - below(4) * HOUR_MS;
    const score = random() < 0.2 ? oneOf(EXTREMES) : below(1000) / 8 + random();
    return node.ledger
      .write(submissionOf(board, playerId, score, { achievedAtMs }))
      .catch((error: { code?: string }) => {
        if (error.code !== 'WINDOW_CLOSED') throw error;
      });
  }

  const query = <Row>(sql: string): Promise<Row[]> => nodes[0].database.query<Row>(sql);

  async function naive(): Promise<Totals> {
    const windows = await query<{ window_uid: number; board_uid: number; ends: number | null }>(
      'SELECT window_uid, board_uid, (extract(epoch FROM ends_at) * 1000)::bigint AS ends FROM windows',
    );
    const entries = await query<{ window_uid: number; id: string; score: number; at: number; scopes: string[] }>(
      `SELECT window_uid, player_id AS id, score, achieved_at_ms AS at,
         ARRAY(SELECT name FROM scopes WHERE scope_uid = ANY (e.scopes)) AS scopes
       FROM entries e WHERE NOT removed`,
    );
    const kept = await query<Part & { window_uid: number; guild_id: string }>(
      'SELECT window_uid, guild_id, player_id AS id, score, achieved_at_ms AS at FROM guild_kept',
    );
    const members = await query<{ id: string; guild_id: string }>(
      'SELECT player_id AS id, guild_id FROM guild_members',
    );
    const guildOf = new Map(members.map(({ id, guild_id }) => [id, guild_id]));
    const totals: Totals = {};
    for (const { window_uid, board_uid, ends } of windows) {
      const runs = ends === null || nowMs < ends;
      for (const guild of GUILDS) {
        const isMember = (entry: (typeof entries)[number]): boolean =>
          runs ? guildOf.get(entry.id) === guild : entry.scopes.includes(`guild:${guild}`);
        const parts: Part[] = [
          ...entries.filter((entry) => entry.window_uid === window_uid && isMember(entry)),
          ...kept.filter((part) => part.window_uid === window_uid && part.guild_id === guild),
        ];
        if (parts.length > 0) totals[`${window_uid}/${guild}`] = aggregate(board_uid, parts);
      }
    }
    return totals;
  }

  function aggregate(boardUid: number, parts: Part[]): Totals[string] {
    const { guildAggregate, order } = boards.find(({ uid }) => uid === boardUid)!.definition;
    const scores = parts.map(({ score }) => score);
    return {
      score: guildScoreOf(guildAggregate, order, scores),
      members: parts.length,
      at: Math.max(...parts.map(({ at }) => at)),
    };
  }

  async function stored(): Promise<Totals> {
    const rows = await query<Totals[string] & { key: string }>(
      `SELECT window_uid || '/' || guild_id AS key, score, members, achieved_at_ms AS at FROM guild_totals WHERE NOT removed`,
    );
    return Object.fromEntries(rows.map(({ key, ...total }) => [key, total]));
  }

  /** What a reader of the log holds, whatever the order in which it gets the events. */
  async function announced(): Promise<Record<string, { score: number; at: number }>> {
    const rows = await query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'entry-changed' AND payload::jsonb ? 'isGuild' ORDER BY random()`,
    );
    const newest = new Map<string, { version: number; entry: { score: number; at: number } | null }>();
    for (const { payload } of rows) {
      const { version, playerId, changes } = JSON.parse(payload) as EntryChanged;
      for (const { windowUid, entry } of changes) {
        const key = `${windowUid}/${playerId}`;
        if ((newest.get(key)?.version ?? 0) > version) continue;
        newest.set(key, { version, entry: entry && { score: entry.score, at: entry.achievedAtMs } });
      }
    }
    return Object.fromEntries([...newest].flatMap(([key, { entry }]) => (entry ? [[key, entry] as const] : [])));
  }

  it('are, at rest, what their members’ entries and what leavers left say', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(Array.from({ length: AT_ONCE }, act));
      await nodes[0].settled();
      const expected = await naive();
      const found = await stored();
      expect(found, `round ${round}`).toEqual(expected);
      expect(await announced(), `round ${round}`).toEqual(
        Object.fromEntries(Object.entries(found).map(([key, { score, at }]) => [key, { score, at }])),
      );
      for (const node of nodes) expect(node.failures).toEqual([]);
      // Some rounds fall into the grace of a day that has ended.
      if (round % 2 === 1) await clock.stopAt((nowMs += HOUR_MS));
    }
  });
});
