// Real: the service in two processes that could both close windows, PostgreSQL, Redis; the ledger's clock is the test's.
// Checked against everything that happened, computed anew as plainly as possible. Prints its seed; SEED=… repeats it.
import { PostgresDatabase } from '@laddercast/ledger';
import {
  Dice,
  seedOfRun,
  createTestDatabase,
  DatabaseClock,
  emptyTestRedis,
  newInstallation,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from '../e2e/rest-client.js';
import { BoardHistory, type HistoryRow, type HistoryRules } from './board-history.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Redis has its own clock: what it is to show of days long past must be kept for long. */
const KEPT_SECONDS = 3650 * 86_400;
const SETTLED_WITHIN_MS = 20_000;
const PLAYERS = ['ada', 'Bob', 'cy', 'dé', 'eve/1', 'fay', 'gil'];
const GUILDS = ['red', 'blue'];
const REGIONS = ['EU', 'US'];
const COUNTRIES = ['DE', 'BR', 'NP'];
const SCOPES = ['global', ...REGIONS.map((one) => `region:${one}`), ...COUNTRIES.map((one) => `country:${one}`)];
const STEPS = 40;

const seed = seedOfRun();

const { next: random, below, oneOf } = new Dice(seed);

class Board {
  readonly settledVersions = new Map<string, number>();

  constructor(
    readonly id: string,
    readonly history: BoardHistory,
  ) {}
}

const definitionOf = ({ operator, zone, graceMs, season, rollingHours, aggregate }: HistoryRules): object => ({
  operator,
  submissionOperators: operator === 'sum' ? ['sum', 'set'] : null,
  timeZone: zone,
  windows: [
    'alltime',
    'daily',
    'weekly',
    'monthly',
    { cron: '30 2 * * *' },
    { rolling: `${rollingHours}h` },
    {
      season: season.id.slice('season:'.length),
      startsAt: new Date(season.startsAtMs).toISOString(),
      endsAt: new Date(season.endsAtMs).toISOString(),
    },
  ],
  scopes: ['global', 'region', 'guild', { attribute: 'country' }],
  guildAggregate: aggregate,
  graceSeconds: graceMs / 1000,
  keepEndedSeconds: KEPT_SECONDS,
});

describe(`time and circles (SEED=${seed})`, { timeout: 600_000 }, () => {
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  let clock: DatabaseClock;
  let installation: Installation;
  let service: RunningApp | null = null;
  let second: RunningApp | null = null;
  let nowMs = 0;

  const client = (): RestClient => new RestClient(service!.url, installation.adminKey);

  const start = async (): Promise<void> => {
    service = await startApp('standalone', installation);
    second = await startApp('projector', installation);
  };

  const kill = async (): Promise<void> => {
    for (const app of [service, second]) app?.process.kill('SIGKILL');
    await Promise.all([service?.stop(), second?.stop()]);
    service = second = null;
  };

  const turnTo = async (ms: number): Promise<void> => {
    nowMs = ms;
    await clock.stopAt(ms);
  };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    clock = await DatabaseClock.of(testDatabase.url);
    // Before anything else: leases that were given later than now would never lapse.
    await turnTo(Date.parse('2018-10-01T00:00:00Z'));
    installation = newInstallation(testDatabase.url, await emptyTestRedis());
  });

  afterAll(async () => {
    await kill();
    await clock?.close();
    await database?.close();
    await testDatabase?.drop();
  });

  async function makeBoard(zone: string, aroundMs: number): Promise<Board> {
    const rules: HistoryRules = {
      operator: oneOf(['best', 'latest', 'sum']),
      zone,
      graceMs: 600_000,
      season: { id: 'season:s1', startsAtMs: aroundMs - 12 * HOUR_MS, endsAtMs: aroundMs + 30 * HOUR_MS },
      rollingHours: 1 + below(12),
      aggregate: {
        ...oneOf([
          { kind: 'sum' as const, k: null },
          { kind: 'average' as const, k: null },
          { kind: 'top' as const, k: 2 },
        ]),
        onLeave: oneOf(['keep', 'takeAway']),
      },
    };
    const id = zone.toLowerCase().replace(/\W/g, '-') + below(1e6);
    await client().makeBoard(id, definitionOf(rules));
    return new Board(id, new BoardHistory(rules));
  }

  async function submit(board: Board): Promise<void> {
    const playerId = oneOf(PLAYERS);
    const score = below(20);
    const atMs = random() < 0.7 ? nowMs - below(900) * 1000 : nowMs - below(30 * 3600) * 1000;
    const achievedAt = new Date(atMs).toISOString();
    const isSet = board.history.rules.operator === 'sum' && random() < 0.2;
    const run = { playerId, score, achievedAt, ...(isSet && { operator: 'set' }) };
    const response = await client().post(`/v1/boards/${board.id}/scores`, run);
    const windows = board.history.submit(playerId, score, atMs, nowMs, isSet);
    expect(response.status, response.text).toBe(200);
    expect([...(response.body as { windows: string[] }).windows].sort()).toEqual(windows.sort());
  }

  async function changeProfile(boards: Board[]): Promise<void> {
    const playerId = oneOf(PLAYERS);
    const path = encodeURIComponent(playerId);
    const before = boards[0]!.history.profileOf(playerId);
    const after = { ...before };
    if (random() < 0.5) {
      after.region = oneOf([...REGIONS, null]);
      after.country = oneOf([...COUNTRIES, null]);
      const body = { region: after.region, attributes: after.country === null ? {} : { country: after.country } };
      const response = await client().put(`/v1/players/${path}`, body);
      expect(response.status, response.text).toBe(200);
    } else {
      after.guild = oneOf([...GUILDS, null]);
      const response =
        after.guild === null
          ? await client().delete(`/v1/guilds/${before.guild ?? 'red'}/members/${path}`)
          : await client().put(`/v1/guilds/${after.guild}/members/${path}`);
      if (after.guild !== null || before.guild !== null) expect(response.status, response.text).toBeLessThan(300);
    }
    for (const { history } of boards) history.change(playerId, after, nowMs);
  }

  /** Until everything that is due by the clock was done, by whichever process. */
  async function settled(): Promise<void> {
    const due = `
      SELECT (SELECT count(*) FROM windows w JOIN boards b USING (board_uid)
              WHERE w.state <> 'settled' AND w.ends_at IS NOT NULL AND b.board_id IS NOT NULL
                AND w.ends_at + (b.definition->>'graceSeconds')::int * interval '1 second' <= ladder_now())
           + (SELECT count(*) FROM rolling_hours h JOIN windows w USING (window_uid)
              WHERE h.hour <= floor(extract(epoch FROM ladder_now()) / 3600)::int
                - substring(w.window_id FROM '[0-9]+')::int) AS due`;
    const until = Date.now() + SETTLED_WITHIN_MS;
    for (;;) {
      const [row] = await database.query<{ due: number }>(due);
      if (row!.due === 0) return;
      if (Date.now() > until) throw new Error(`${row!.due} things that are due were not done.`);
      await sleep(50);
    }
  }

  async function shown(path: string): Promise<HistoryRow[]> {
    const response = await client().get(path);
    expect(response.status, response.text).toBe(200);
    const { entries } = response.body as { entries: { playerId: string; score: number; rank: number }[] };
    expect(entries.map(({ rank }) => rank)).toEqual(entries.map((_, index) => index + 1));
    return entries.map(({ playerId, score }) => [playerId, score]);
  }

  /** Looks until it is as it should be, or for so long that it never will. */
  async function eventually(look: () => Promise<unknown>, wanted: unknown, what: string): Promise<void> {
    const until = Date.now() + SETTLED_WITHIN_MS;
    for (;;) {
      const seen = await look();
      if (JSON.stringify(seen) === JSON.stringify(wanted)) return;
      if (Date.now() > until) return expect(seen, what).toEqual(wanted);
      await sleep(25);
    }
  }

  async function compare(board: Board): Promise<void> {
    const { history, id } = board;
    for (const windowId of history.windows.keys()) {
      const list = (scope: string): string =>
        `/v1/boards/${id}/entries?window=${windowId}&scope=${encodeURIComponent(scope)}&limit=500`;
      for (const scope of [...SCOPES, ...GUILDS.map((guild) => `guild:${guild}`)]) {
        const wanted = history.rows(windowId, scope, nowMs);
        await eventually(() => shown(list(scope)), wanted, `${windowId} ${scope}`);
      }
      const guilds = history.guilds(windowId, nowMs);
      await eventually(() => shown(`/v1/boards/${id}/guilds?window=${windowId}`), guilds, `${windowId} guilds`);
    }
  }

  /** The standings of every window that is over equal its last state, and were written once. */
  async function compareStandings(board: Board): Promise<void> {
    const rows = await database.query<{ window_id: string; edition_uid: number; version: number; editions: number }>(
      `SELECT window_id, max(edition_uid) AS edition_uid, max(version) AS version, count(*)::int AS editions
       FROM editions JOIN windows USING (window_uid) JOIN boards USING (board_uid)
       WHERE board_id = $1 AND editions.kind = 'final' GROUP BY window_id`,
      [board.id],
    );
    const over = [...board.history.windows.values()].filter(
      ({ endsAtMs }) => endsAtMs + board.history.rules.graceMs <= nowMs,
    );
    for (const { id } of over) {
      const edition = rows.find(({ window_id }) => window_id === id);
      expect(edition?.editions, `${id} is closed once`).toBe(1);
      expect(board.settledVersions.get(id) ?? edition!.version, `${id} is not closed again`).toBe(edition!.version);
      board.settledVersions.set(id, edition!.version);
      const standings = await database.query<{ scope: string; player_id: string; score: number }>(
        `SELECT coalesce(name, CASE scope_uid WHEN 0 THEN 'global' ELSE 'guilds' END) AS scope, player_id, score
         FROM standings LEFT JOIN scopes USING (scope_uid) WHERE edition_uid = $1 ORDER BY scope_uid, ordinal`,
        [edition!.edition_uid],
      );
      const ofScope = (wanted: string): HistoryRow[] =>
        standings.filter(({ scope }) => scope === wanted).map(({ player_id, score }) => [player_id, score]);
      for (const scope of SCOPES)
        expect(ofScope(scope), `${id} ${scope}`).toEqual(board.history.rows(id, scope, nowMs));
      expect(ofScope('guilds'), `${id} guilds`).toEqual(board.history.guilds(id, nowMs));
    }
  }

  async function play(boards: Board[]): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      const dice = random();
      if (dice < 0.6) for (const board of boards) await submit(board);
      else if (dice < 0.8) await changeProfile(boards);
      else if (dice < 0.97) {
        await turnTo(nowMs + below(9 * HOUR_MS));
        await settled();
      } else {
        await kill();
        await turnTo(nowMs + DAY_MS + below(3 * DAY_MS));
        await start();
        await settled();
      }
      if (step % 10 === 9) for (const board of boards) await compare(board);
    }
    await kill();
    await turnTo(nowMs + 45 * DAY_MS);
    await start();
    await settled();
    for (const board of boards) {
      await compare(board);
      await compareStandings(board);
    }
  }

  it.each([
    [['America/Sao_Paulo'], '2018-11-03T20:00:00Z'],
    [['Europe/Berlin', 'Asia/Kathmandu'], '2027-03-27T18:00:00Z'],
    [['Pacific/Chatham'], '2027-09-25T06:00:00Z'],
  ])('are as everything that happened in %j from %s on says', async (zones, from) => {
    await turnTo(Date.parse(from));
    if (service === null) await start();
    for (const guild of GUILDS) await client().put(`/v1/guilds/${guild}`, { displayName: guild });
    const boards: Board[] = [];
    for (const zone of zones) boards.push(await makeBoard(zone, nowMs + 8 * HOUR_MS));
    for (const { history } of boards) {
      // Profiles outlive boards; each history begins with what is.
      for (const playerId of PLAYERS) history.change(playerId, await profileOf(playerId), nowMs);
    }
    await play(boards);
  });

  async function profileOf(
    playerId: string,
  ): Promise<{ region: string | null; country: string | null; guild: string | null }> {
    const response = await client().get(`/v1/players/${encodeURIComponent(playerId)}`);
    if (response.status === 404) return { region: null, country: null, guild: null };
    const { region, attributes, guildId } = response.body as {
      region: string | null;
      attributes: Record<string, string>;
      guildId: string | null;
    };
    return { region, country: attributes['country'] ?? null, guild: guildId };
  }
});
