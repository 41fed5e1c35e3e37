// Real: PostgreSQL, the ledger, guilds' totals, closings; its clock is in the test's hands. Bans, shadows, hides, lifts, runs,
// removals, changes of scopes and closings in random order. Each player has a twin that gets every run that was taken and is
// never sanctioned: at each rest who is ranked is what plain code says, and once all is lifted a player has what its twin has.
// Prints its seed; SEED=… repeats the choices.
import {
  holdsOn,
  isBanned,
  isUnranked,
  withBoardDefaults,
  type Board,
  type BoardDefinition,
  type EntryChanged,
} from '@laddercast/domain';
import type { LogBatch, LogSubscription } from '@laddercast/event-log';
import { Sanctions, SettlementFailures, WindowCloser, type NewSanction } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { submissionOf } from '../integration/nodes/ledger-node.js';
import { PeopleNode } from '../integration/nodes/people-node.js';

const ROUNDS = 6;
const ACTS_A_ROUND = 25;
const PLAYERS = Array.from({ length: 5 }, (_, at) => `p${at}`);
const GUILDS = ['red', 'blue'];
const START = Date.parse('2026-11-20T12:00:00Z');
const DAY_MS = 86_400_000;
const BOARDS: [string, Partial<BoardDefinition>][] = [
  ['b0', { operator: 'sum', guildAggregate: { kind: 'sum', k: null, onLeave: 'keep' } }],
  ['b1', { operator: 'best', order: 'asc' }],
  ['b2', { operator: 'latest', guildAggregate: { kind: 'sum', k: null, onLeave: 'takeAway' } }],
];

/** The consumer group of this test. */
const GROUP = 'projected';

const seed = seedOfRun();
const { below, oneOf } = new Dice(seed);
const twinOf = (player: string): string => `twin-${player}`;

interface Row {
  board: string;
  window: string;
  player: string;
  score: number;
  at: number;
  metadata: string | null;
}

describe(`sanctions in random order (SEED=${seed})`, () => {
  let testDatabase: TestDatabase;
  let clock: DatabaseClock;
  let node: PeopleNode;
  let sanctions: Sanctions;
  let closer: WindowCloser;
  let nowMs = START;
  let subscription: LogSubscription;
  const inForce = new Map<string, NewSanction>();
  const states = new Map<string, { version: number; score: number | null }>();

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PeopleNode(testDatabase.url);
    await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
    sanctions = new Sanctions(node.database, node.lanes, node.work);
    closer = new WindowCloser(
      node.database,
      node.lanes,
      node.allLanes,
      node.notifier,
      new SettlementFailures(node.database),
    );
    for (const [id, given] of BOARDS) {
      const scopes: BoardDefinition['scopes'] = ['global', 'guild', 'region'];
      const windows: BoardDefinition['windows'] = ['alltime', 'daily'];
      const full = { order: 'desc', scopes, windows, graceSeconds: 0, ...given } as BoardDefinition;
      await node.registry.put(id, withBoardDefaults(full));
    }
    await node.boards.refresh();
    for (const guild of GUILDS) await node.guilds.put(guild, null);
    await node.follow();
    subscription = await node.log.consume(GROUP, ['entry-changed'], project);
  });
  afterAll(async () => {
    await subscription.stop();
    await clock.close();
    await node.stop();
    await testDatabase.drop();
  });

  const boardOf = (id: string): Board => node.boards.byId(id)!;

  async function submit(boardId: string, player: string): Promise<void> {
    const score = oneOf([0.1, 0.2, 1e16, 1, -3, below(100)]);
    const more = { achievedAtMs: nowMs - below(1000), metadata: JSON.stringify({ n: below(1000) }) };
    const write = submissionOf(boardOf(boardId), player, score, more);
    const refused = await node.ledger.write(write).then(
      () => null,
      (error: { code: string }) => error.code,
    );
    expect(refused).toBe(isBanned(inForce.get(player), boardId) ? 'PLAYER_BANNED' : null);
    if (refused === null) await node.ledger.write(submissionOf(boardOf(boardId), twinOf(player), score, more));
  }

  async function remove(boardId: string, player: string): Promise<void> {
    for (const playerId of [player, twinOf(player)]) {
      const audit = { actor: 'key', action: 'entry.remove', subject: `${boardId}/${playerId}`, details: {} };
      await node.ledger.write({ kind: 'override', board: boardOf(boardId), playerId, entry: null, audit });
    }
  }

  async function move(player: string): Promise<void> {
    const region = oneOf(['EU', 'US', null]);
    const guild = oneOf([...GUILDS, null]);
    for (const playerId of [player, twinOf(player)]) {
      const profile = { displayName: null, avatarUrl: null, attributes: {}, listed: true, region };
      await node.players.put(playerId, profile);
      if (guild !== null) await node.guilds.join(guild, playerId);
    }
  }

  async function sanction(player: string): Promise<void> {
    const boards = oneOf([null, null, ['b0'], ['b1', 'b2']]);
    const kind = oneOf(['ban', 'shadow', 'hide'] as const);
    const put: NewSanction = { kind, boards, reason: 'r', publicReason: null, untilMs: null };
    await sanctions.put(player, put, 'mod');
    inForce.set(player, put);
  }

  async function lift(player: string): Promise<void> {
    await sanctions.lift(player, { actor: 'mod', reason: 'r' });
    inForce.delete(player);
  }

  async function nextDay(): Promise<void> {
    nowMs += DAY_MS;
    await clock.stopAt(nowMs);
    await closer.run(new AbortController().signal);
    await node.boards.refresh();
  }

  const ranked = (from: string): Promise<Row[]> =>
    node.database.query<Row>(
      `SELECT b.board_id AS board, w.window_id AS window, player_id AS player, score, achieved_at_ms AS at, metadata
       FROM ${from} JOIN windows w USING (window_uid) JOIN boards b ON b.board_uid = w.board_uid
       WHERE NOT removed ORDER BY 1, 2, 3`,
    );
  const textOf = ({ board, window, player, score, at, metadata }: Row): string =>
    [board, window, player.replace('twin-', ''), score, at, metadata].join(' ');

  /** A consumer of the log, as the projection is: newer versions win. */
  function project({ records }: LogBatch): Promise<void> {
    for (const { event } of records) {
      const { isGuild, playerId, version, changes } = event as EntryChanged;
      if (isGuild) continue;
      for (const { windowUid, entry } of changes) {
        const key = `${windowUid} ${playerId}`;
        if ((states.get(key)?.version ?? -1) < version) states.set(key, { version, score: entry?.score ?? null });
      }
    }
    return Promise.resolve();
  }

  /** What it holds once it has read everything. */
  async function projected(): Promise<string[]> {
    await vi.waitUntil(async () => (await node.log.lag(GROUP)).every(({ events }) => events === 0), {
      timeout: 60_000,
    });
    const windows = await node.database.query<{ uid: number; name: string }>(
      `SELECT window_uid AS uid, board_id || ' ' || window_id AS name FROM windows JOIN boards USING (board_uid)`,
    );
    const nameOf = new Map(windows.map(({ uid, name }) => [String(uid), name]));
    const rows = [...states].map(([key, { score }]) => {
      const [uid, player] = key.split(' ');
      return { name: `${nameOf.get(uid!)} ${player} ${score}`, score };
    });
    return rows.flatMap(({ name, score }) => (score === null ? [] : [name])).sort();
  }

  async function check(): Promise<void> {
    const rows = await ranked('ranked_entries');
    const twins = (await ranked('entries')).filter(({ player }) => player.startsWith('twin-'));
    const expected = twins.filter(({ board, player }) => !isUnranked(inForce.get(player.replace('twin-', '')), board));
    const others = rows.filter(({ player }) => !player.startsWith('twin-'));
    expect(others.map(textOf).sort()).toEqual(expected.map(textOf).sort());
    const live = rows.map(({ board, window, player, score }) => `${board} ${window} ${player} ${score}`).sort();
    // A window that is over may go from the projection; what is still told of it has to be right.
    const told = await projected();
    const isKept = (line: string): boolean =>
      Number(new Date(line.split('daily:')[1]?.slice(0, 10) ?? nowMs)) > nowMs - 2 * DAY_MS;
    expect(told.filter(isKept)).toEqual(live.filter(isKept));
    await checkGuilds(rows);
  }

  /** Without what guilds keep of leavers: the parts of players and of twins are the same, so a total is twice a twin's. */
  async function checkGuilds(rows: readonly Row[]): Promise<void> {
    await node.settled();
    const totals = await node.database.query<{ board: string; window: string; guild: string; members: number }>(
      `SELECT b.board_id AS board, w.window_id AS window, guild_id AS guild, members FROM guild_totals t
       JOIN windows w USING (window_uid) JOIN boards b ON b.board_uid = w.board_uid
       WHERE NOT t.removed AND b.board_id = 'b2' AND w.window_id = 'alltime'`,
    );
    const guildOf = await node.database.query<{ player: string; guild: string }>(
      'SELECT player_id AS player, guild_id AS guild FROM guild_members',
    );
    for (const guild of GUILDS) {
      const members = guildOf.filter((one) => one.guild === guild).map(({ player }) => player);
      const counted = rows.filter(
        ({ board, window, player }) => board === 'b2' && window === 'alltime' && members.includes(player),
      );
      expect(totals.find((one) => one.guild === guild)?.members ?? 0).toBe(counted.length);
    }
  }

  /** The final standings that the closing of the day before wrote are of those who are ranked, and of nobody else. */
  async function checkStandings(): Promise<number> {
    const windowId = `daily:${new Date(nowMs - DAY_MS).toISOString().slice(0, 10)}`;
    const written = await node.database.query<{ player: string; score: number }>(
      `SELECT player_id AS player, standings.score FROM standings
       JOIN editions e USING (edition_uid) JOIN windows w USING (window_uid)
       WHERE e.kind = 'final' AND scope_uid = 0 AND w.board_uid = $1 AND w.window_id = $2`,
      [boardOf('b1').uid, windowId],
    );
    const entries = (await ranked('entries')).filter(({ board, window }) => board === 'b1' && window === windowId);
    // As in `check`: what a player's entry is, its twin's says.
    const expected = entries
      .filter(({ player }) => player.startsWith('twin-'))
      .flatMap(({ player, score }) => {
        const own = player.replace('twin-', '');
        const isRanked = !isUnranked(inForce.get(own), 'b1');
        return [...(isRanked ? [`${own} ${score}`] : []), `${player} ${score}`];
      });
    expect(written.map(({ player, score }) => `${player} ${score}`).sort()).toEqual(expected.sort());
    return written.length;
  }

  it('rank who is to be ranked at each rest, and end where they would be without them', async () => {
    let standings = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let act = 0; act < ACTS_A_ROUND; act += 1) {
        const [player, [board]] = [oneOf(PLAYERS), oneOf(BOARDS)];
        const acts = [submit, submit, submit, submit, sanction, lift, move, remove] as const;
        const chosen = oneOf(acts);
        if (chosen === submit || chosen === remove) await chosen(board, player);
        else await (chosen as (player: string) => Promise<void>)(player);
      }
      await check();
      await nextDay();
      standings += await checkStandings();
    }
    expect(standings).toBeGreaterThan(0);
    // So that there is something to lift, whatever the dice said.
    while (![...inForce.values()].some((one) => holdsOn(one, 'b0'))) await sanction(oneOf(PLAYERS));
    for (const player of PLAYERS) await lift(player);
    await check();
    const all = await ranked('entries');
    const ofTwins = all.filter(({ player }) => player.startsWith('twin-')).map(textOf);
    expect(
      all
        .filter(({ player }) => !player.startsWith('twin-'))
        .map(textOf)
        .sort(),
    ).toEqual(ofTwins.sort());
    expect(await node.database.query('SELECT 1 FROM entries WHERE unranked')).toEqual([]);
  }, 300_000);
});
