import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../boards/ask.js';
import type { Measuring } from '../installation/context.js';
import type { Pool } from '../installation/postgres-pool.js';
import { loadFully, loadPaced, type Rated } from '../load/generator.js';
import { writeRequests, type Call } from '../load/requests.js';
import { askedBetween, scrape, type Asked } from '../meters/scrape.js';
import { beside, cpuMeter, untilProjected, type Spent } from '../meters/watch.js';
import { GameSource, type Shape } from './shapes.js';

/** More players of games than any machine of ours takes a second: requests are prepared before they are sent. */
const playersPerSecondMax = 120_000;
const lookEveryMs = 100;
const fedWithinMs = 120_000;

/** What one load of games found; `perSecond`: games. */
export interface GamesFound extends Rated, Spent {
  asked: Asked;
  /** Games that were recorded and not rated, at most. */
  pendingMost: number;
  /** From the last answer until every rating and every entry was as the games make it. */
  caughtUpMs: number;
  /** Games a second from the first POST until then. */
  shownPerSecond: number;
}

export interface GameLoadOptions {
  pools: number;
  players: number;
  connections: number;
}

/** Pools of one shape, each of which feeds a board, and games that are posted to them in turn. */
export class GameLoad {
  readonly poolIds: readonly string[];
  readonly #source: GameSource;

  private constructor(
    private readonly context: Measuring,
    private readonly shape: Shape,
    private readonly options: GameLoadOptions,
  ) {
    this.poolIds = Array.from({ length: options.pools }, (_, at) => `pool-${at + 1}`);
    this.#source = new GameSource(shape, options.players);
  }

  static async make(context: Measuring, shape: Shape, options: GameLoadOptions): Promise<GameLoad> {
    const load = new GameLoad(context, shape, options);
    for (const pool of load.poolIds) {
      const put = (path: string, body: object): Promise<unknown> => ask(context.service, { method: 'PUT', path, body });
      await put(`/v1/boards/${pool}`, { order: 'desc', operator: 'latest' });
      await put(`/v1/pools/${pool}`, { ...shape.pool, board: pool });
    }
    return load;
  }

  /** @param rate games a second; without it as many as go */
  async run({ seconds, rate = null }: { seconds: number; rate?: number | null }): Promise<GamesFound> {
    const { service, database, installation } = this.context;
    const { connections } = this.options;
    const { batch, sides, members } = this.shape;
    const file = join(installation.dataDir, 'games');
    const prepared = Math.ceil(((rate ?? playersPerSecondMax / (sides * members)) * seconds) / batch);
    writeRequests(file, this.#requests(prepared), service);
    const before = await scrape(service.metricsUrlsOf('api'));
    const cpuOf = cpuMeter(service);
    const startedAt = performance.now();
    let pendingMost = 0;
    const load = { url: service.url, file, connections, seconds };
    const found = await beside(
      () => (rate === null ? loadFully(load) : loadPaced({ ...load, rate: rate / batch })),
      lookEveryMs,
      async () => {
        pendingMost = Math.max(pendingMost, await pendingOf(database.pool));
      },
    );
    if (found.count > prepared) throw new Error('Some games were sent twice.');
    const endedAt = performance.now();
    await untilFed(database.pool);
    await untilProjected(database);
    const shownAt = performance.now();
    const games = found.count * batch;
    return {
      ...found,
      perSecond: games / found.seconds,
      ...cpuOf(games),
      asked: askedBetween(before, await scrape(service.metricsUrlsOf('api')), games),
      pendingMost,
      caughtUpMs: shownAt - endedAt,
      shownPerSecond: (1000 * games) / (shownAt - startedAt),
    };
  }

  #requests(count: number): Call[] {
    return Array.from({ length: count }, (_, at) => {
      const pool = this.poolIds[at % this.poolIds.length]!;
      return { method: 'POST', path: '/v1/games', body: { games: this.#source.take(pool, this.shape.batch) } };
    });
  }
}

const pendingOf = async (pool: Pool): Promise<number> =>
  (await pool.query<{ pending: number }>('SELECT sum(games_recorded - games_rated)::float8 AS pending FROM pools'))
    .rows[0]!.pending;

/** Pools that are not rated to the end, and entries that are not what the pool says of the player. */
const unfedSql = `
  SELECT (SELECT count(*) FROM pools WHERE rated_position < recorded_position)::float8 AS unrated,
    (SELECT count(*) FROM ratings AS r JOIN pools AS p USING (pool_uid) JOIN boards AS b ON b.board_id = p.pool_id
      JOIN windows AS w ON w.board_uid = b.board_uid
      LEFT JOIN entries AS e ON e.window_uid = w.window_uid AND e.player_id = r.player_id AND NOT e.removed
      WHERE e.score IS DISTINCT FROM r.rating)::float8 AS unfed`;

/** Waits until the entries of all fed boards stand in PostgreSQL as the ratings say. @throws Error after two minutes */
async function untilFed(pool: Pool): Promise<void> {
  for (const endsAt = performance.now() + fedWithinMs; ; await sleep(lookEveryMs)) {
    const { unrated, unfed } = (await pool.query<{ unrated: number; unfed: number }>(unfedSql)).rows[0]!;
    if (unrated === 0 && unfed === 0) return;
    if (performance.now() > endsAt) {
      throw new Error(`${unrated} pools are not rated, and ${unfed} entries are not what the ratings say.`);
    }
  }
}

const kOfPools = 32;

/**
 * Every rating of the pools that rate by elo is what a plain replay of the games in the order of their positions makes, and
 * the service shows it.
 * @returns how many were compared
 */
export async function checkRatings(
  { database: { pool }, service }: Measuring,
  poolIds: readonly string[],
): Promise<number> {
  let compared = 0;
  for (const id of poolIds) {
    const { rows: games } = await pool.query<{ players: { playerId: string; place: number }[] }>(
      'SELECT g.players FROM games AS g JOIN pools USING (pool_uid) WHERE pool_id = $1 ORDER BY position',
      [id],
    );
    const plain = new Map<string, number>();
    for (const { players } of games) {
      const [a, b] = players.map(({ playerId }) => plain.get(playerId) ?? 1500) as [number, number];
      const [first, second] = players as [(typeof players)[number], (typeof players)[number]];
      const score = (Math.sign(second.place - first.place) + 1) / 2;
      const gain = kOfPools * (score - 1 / (1 + 10 ** ((b - a) / 400)));
      plain.set(first.playerId, a + gain);
      plain.set(second.playerId, b - gain);
    }
    const { rows: stored } = await pool.query<{ playerId: string; rating: number }>(
      'SELECT player_id AS "playerId", rating FROM ratings JOIN pools USING (pool_uid) WHERE pool_id = $1',
      [id],
    );
    const wrong = stored.find(({ playerId, rating }) => Math.abs(plain.get(playerId)! - rating) > 1e-6);
    if (wrong || stored.length !== plain.size) {
      throw new Error(`${id}: ${JSON.stringify(wrong)} is not what a replay says, of ${stored.length}, ${plain.size}.`);
    }
    const { body } = await ask<{ entries: { playerId: string; score: number }[] }>(service, {
      method: 'GET',
      path: `/v1/boards/${id}/entries?limit=100`,
    });
    const best = stored.sort((a, b) => b.rating - a.rating).slice(0, 100);
    if (body.entries.some(({ score }, at) => score !== best[at]!.rating))
      throw new Error(`${id}: another top than the ratings'.`);
    compared += stored.length;
  }
  return compared;
}
