// Real: an api, a projector and a gateway process, PostgreSQL, Redis, and WebSocket clients that know only the contract's
// rule. The model ranks a plain list anew for each question.
import {
  createTestDatabase,
  Dice,
  emptyTestRedis,
  freePort,
  newInstallation,
  startApp,
  type AppPorts,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LiveClient } from '../../libs/realtime/test/follower.js';
import { playerToken, RestClient } from './rest-client.js';

const PLAYERS = Array.from({ length: 18 }, (_, at) => `p${at}`);
const FRIENDS = ['p1', 'p4', 'p9', 'eve'];
const SHOWN_WITHIN = { timeout: 30_000, interval: 100 };
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

let database: TestDatabase;
let installation: Installation;
let api: RunningApp;
let projector: RunningApp;
let gateway: RunningApp;
let ports: AppPorts;
let admin: RestClient;
let ada: string;
let eve: string;
let clients: LiveClient[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  installation = newInstallation(database.url, await emptyTestRedis());
  ports = { port: await freePort(), metricsPort: await freePort() };
  api = await startApp('api', installation);
  projector = await startApp('projector', installation);
  gateway = await startApp('gateway', { ...installation, settings: { SHADOW_SOCKETS_MAX: '2' } }, ports);
  admin = new RestClient(api.url).as(installation.adminKey);
  ada = await playerToken(installation.jwtSecret, 'ada');
  eve = await playerToken(installation.jwtSecret, 'eve');
  for (const friend of FRIENDS) await admin.put(`/v1/players/ada/friends/${friend}`);
}, 120_000);

afterEach(() => {
  for (const client of clients) client.socket.terminate();
  clients = [];
});

afterAll(async () => {
  await Promise.all([gateway, projector, api].map((app) => app?.stop()));
  await database?.drop();
});

/** Every player's best run, and the places they make. */
class Model {
  private readonly best = new Map<string, { score: number; at: number }>();

  submit(player: string, score: number, at: number): void {
    const known = this.best.get(player);
    if (!known || score > known.score) this.best.set(player, { score, at });
  }

  /** The list without some, each row a rank and a player. */
  places(without: readonly string[], style: 'ordinal' | 'competition'): { rank: number; player: string }[] {
    const rows = [...this.best]
      .filter(([player]) => !without.includes(player))
      .sort(([a, x], [b, y]) => y.score - x.score || x.at - y.at || (a < b ? -1 : 1));
    const scores = rows.map(([, { score }]) => score);
    return rows.map(([player, { score }], at) => ({
      rank: (style === 'ordinal' ? at : scores.indexOf(score)) + 1,
      player,
    }));
  }

  /** What the subscriptions of {@link SUBSCRIPTIONS} show. */
  shown(without: readonly string[]): Record<string, { places: string[]; total: number }> {
    const ordinal = this.places(without, 'ordinal');
    const total = ordinal.length;
    const text = (rows: { rank: number; player: string }[]): string[] => rows.map((row) => `${row.rank} ${row.player}`);
    const own = ordinal.findIndex(({ player }) => player === 'ada');
    const friends = ordinal.filter(({ player }) => ['ada', ...FRIENDS].includes(player));
    const competition = this.places(without, 'competition');
    return {
      all: { places: text(ordinal), total },
      top: { places: text(competition.slice(0, 10)).sort(), total },
      range: { places: text(ordinal.slice(5, 12)), total },
      player: { places: own < 0 ? [] : text(ordinal.slice(Math.max(0, own - 2), own + 3)), total },
      friends: {
        places: friends.map(({ rank, player }, at) => `${at + 1} ${rank} ${player}`),
        total: friends.length,
      },
    };
  }
}

const SUBSCRIPTIONS: Record<string, object> = {
  all: { channel: 'top', limit: 100, rankStyle: 'ordinal' },
  top: { channel: 'top', limit: 10, rankStyle: 'competition' },
  range: { channel: 'range', offset: 5, limit: 7, rankStyle: 'ordinal' },
  player: { channel: 'player', playerId: 'ada', around: 2, rankStyle: 'ordinal' },
  friends: { channel: 'friends', playerId: 'ada', rankStyle: 'ordinal' },
};

const connect = async (token: string | null): Promise<LiveClient> => {
  const protocols = token === null ? ['ladder.v1'] : ['ladder.v1', `bearer.${token}`];
  const client = await LiveClient.connect(`${gateway.url.replace('http', 'ws')}/v1/live`, protocols);
  clients.push(client);
  return client;
};

async function follow(client: LiveClient, board: string, ids: string[], resumed?: LiveClient): Promise<void> {
  for (const id of ids) {
    const ask = { type: resumed ? 'resume' : 'subscribe', id, board, ...SUBSCRIPTIONS[id] };
    const seq = resumed && { seq: resumed.list(id).seq };
    // The gateway sees a new board within a second.
    await expect.poll(async () => (await client.ask({ ...ask, ...seq })).type, SHOWN_WITHIN).toBe('snapshot');
  }
}

const shownBy = (client: LiveClient, ids: string[]): object =>
  Object.fromEntries(
    ids.map((id) => {
      const list = client.list(id);
      return [id, { places: id === 'top' ? list.places().sort() : list.places(), total: list.total }];
    }),
  );

const sanction = async (player: string, kind: string): Promise<void> => {
  const response = await admin.put(`/v1/admin/players/${player}/sanction`, { kind, reason: 'a test' });
  expect(response.status, response.text).toBe(200);
};
const lift = async (player: string): Promise<void> => {
  const response = await admin.delete(`/v1/admin/players/${player}/sanction?reason=over`);
  expect(response.status, response.text).toBe(200);
};

describe('a socket with the token of a shadowed player', () => {
  it('shows a board where it is ranked, to nobody else, through sanctions and a killed gateway', async () => {
    const board = await admin.makeBoard('storm', { push: { intervalMs: 100, top: 100 } });
    const model = new Model();
    const dice = new Dice(20261126);
    const own = Object.keys(SUBSCRIPTIONS);
    const others = ['all', 'top', 'range', 'player'];
    let runs = 0;
    const submit = async (playerId: string): Promise<void> => {
      const [score, at] = [dice.below(12), (runs += 1)];
      const achievedAt = new Date(START_MS + at * 1000).toISOString();
      const response = await admin.post(`/v1/boards/${board}/scores`, { playerId, score, achievedAt });
      expect(response.status, response.text).toBe(200);
      model.submit(playerId, score, at);
    };
    const play = async (count: number, players: readonly string[]): Promise<void> => {
      for (let at = 0; at < count; at += 1) await submit(players[dice.below(players.length)]!);
    };
    const everybody = [...PLAYERS, 'ada', 'ada', 'ada', 'eve'];
    for (const player of [...PLAYERS, 'ada', 'eve']) await submit(player);
    let [mine, anyone, hers] = [await connect(ada), await connect(null), await connect(eve)];
    await follow(mine, board, own);
    await follow(anyone, board, others);
    await follow(hers, board, ['all']);
    const atRest = async (unranked: string[]): Promise<void> => {
      const without = (player: string): string[] => unranked.filter((one) => one !== player);
      await expect.poll(() => shownBy(mine, own), SHOWN_WITHIN).toEqual(model.shown(without('ada')));
      await expect
        .poll(() => shownBy(anyone, others), SHOWN_WITHIN)
        .toEqual(Object.fromEntries(Object.entries(model.shown(unranked)).filter(([id]) => others.includes(id))));
      await expect.poll(() => shownBy(hers, ['all']), SHOWN_WITHIN).toEqual({ all: model.shown(without('eve')).all });
    };
    await play(10, everybody);
    await atRest([]);
    // From here on it must be in each state that it was shown.
    const statesBefore = new Set(mine.list('all').states.keys());
    await sanction('ada', 'shadow');
    await play(10, everybody);
    await atRest(['ada']);
    await sanction('eve', 'shadow');
    await play(20, everybody);
    await atRest(['ada', 'eve']);
    const resumed = mine;
    gateway.process.kill('SIGKILL');
    await once(gateway.process, 'exit');
    await play(5, everybody);
    gateway = await startApp('gateway', { ...installation, settings: { SHADOW_SOCKETS_MAX: '2' } }, ports);
    [mine, anyone, hers] = [await connect(ada), await connect(null), await connect(eve)];
    await follow(mine, board, own, resumed);
    await follow(anyone, board, others);
    await follow(hers, board, ['all']);
    expect(mine.list('all').seq).toBeGreaterThanOrEqual(resumed.list('all').seq);
    await atRest(['ada', 'eve']);
    await lift('ada');
    await play(10, everybody);
    await atRest(['eve']);
    for (const client of [resumed, mine]) {
      for (const [seq, state] of client.list('all').states) {
        if (!statesBefore.has(seq)) expect(state, `seq ${seq}`).toContain('"playerId":"ada"');
      }
      expect(client.list('all').gaps).toBe(0);
      expect(client.frames.filter(({ type }) => type === 'error')).toEqual([]);
    }
    // Runs of who is banned are refused, so only others play.
    await sanction('ada', 'ban');
    await play(5, PLAYERS);
    await expect.poll(() => shownBy(mine, ['all']), SHOWN_WITHIN).toEqual({ all: model.shown(['ada', 'eve']).all });
    await sanction('ada', 'shadow');
    await play(10, everybody);
    await atRest(['ada', 'eve']);
    await lift('eve');
    await lift('ada');
    await play(5, everybody);
    await atRest([]);
    expect(anyone.frames.filter(({ type }) => type !== 'snapshot' && type !== 'delta')).toEqual([]);
  }, 180_000);

  it('is one of so many that a gateway serves', async () => {
    const board = await admin.makeBoard('few', { push: { intervalMs: 100, top: 100 } });
    await sanction('ada', 'shadow');
    const ask = { type: 'subscribe', id: 'all', board, ...SUBSCRIPTIONS.all };
    for (const type of ['snapshot', 'snapshot', 'error']) {
      const client = await connect(ada);
      await expect
        .poll(async () => (await client.ask({ ...ask, id: String(Math.random()) })).type, SHOWN_WITHIN)
        .toBe(type);
    }
    await lift('ada');
  });
});
