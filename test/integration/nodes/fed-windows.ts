// Real: PostgreSQL, and the ledger of a process with its pools; its clock, and when the log is delivered, are the test's.
import type { Board, BoardDefinition, RatingChanged } from '@laddercast/domain';
import { WindowCloseLag, type Pool } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, type TestDatabase } from '@laddercast/testing';
import { gameOf } from './pool-node.js';
import { RestateNode } from './restate-node.js';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const GRACE_SECONDS = 300;
/** When a day's window is due to close, from its midnight on. */
export const DUE_MS = DAY_MS + 1000 * GRACE_SECONDS;

const never = new AbortController().signal;

/** A board with windows that a pool feeds, a new one for each test, two months after the one before. */
export class FedWindows {
  id = '';
  /** When the day begins on which the games of a test are played. */
  midnightMs = Date.parse('2026-11-20T00:00:00Z');
  pool!: Pool;
  /** How many events of the pool were delivered. */
  told = 0;

  private constructor(
    private readonly database: TestDatabase,
    readonly node: RestateNode,
    private readonly clock: DatabaseClock,
  ) {}

  static async start(): Promise<FedWindows> {
    const database = await createTestDatabase();
    const node = new RestateNode(database.url);
    await node.start();
    return new FedWindows(database, node, await DatabaseClock.of(database.url));
  }

  async stop(): Promise<void> {
    await this.clock.close();
    await this.node.stop();
    await this.database.drop();
  }

  get url(): string {
    return this.database.url;
  }

  /** Noon of another day, without the pools that there were. */
  async begin(): Promise<void> {
    const left = await this.node.database.query<{ id: string }>(
      'SELECT pool_id AS id FROM pools WHERE pool_id IS NOT NULL',
    );
    for (const one of left) await this.node.pools.delete(one.id, null, 'test');
    await this.node.boards.refresh();
    this.midnightMs += 60 * DAY_MS;
    this.id = `b${this.midnightMs}`;
    await this.at(12 * HOUR_MS);
  }

  /** So long after midnight. */
  at(ms: number): Promise<void> {
    return this.clock.stopAt(this.midnightMs + ms);
  }

  async feeding(definition: object = {}, options: Partial<BoardDefinition> = {}): Promise<void> {
    const { node, id } = this;
    await node.makeBoard(id, { windows: ['daily'], graceSeconds: GRACE_SECONDS, ...options });
    this.pool = await node.makePool(`p-${id}`, { board: id, ...definition });
    await node.boards.refresh();
    await node.fill();
    this.told = 0;
  }

  board(): Board {
    return this.node.boards.byId(this.id)!;
  }

  async play(gameId: string, places: Record<string, number>, playedMs?: number): Promise<void> {
    const playedAtMs = playedMs === undefined ? null : this.midnightMs + playedMs;
    await this.node.games.record(gameOf(this.pool.id, gameId, places, { playedAtMs }));
  }

  events(): Promise<RatingChanged[]> {
    return this.node.ratingEvents(this.pool.uid);
  }

  async rate(): Promise<void> {
    await this.node.rater.rate(this.pool.uid);
  }

  /** Delivers what the log has of the pool and was not delivered yet. */
  async deliver(to: RestateNode = this.node): Promise<void> {
    const all = await this.events();
    await to.deliver(all.slice(this.told));
    this.told = all.length;
  }

  async askAndClose(): Promise<void> {
    await this.node.lastFeeds.run(never);
    await this.node.closeFed();
  }

  /** What metrics say of windows that are due to close. */
  closeLag(): Promise<number> {
    return new WindowCloseLag(this.node.database).seconds();
  }

  /** Each window of the board that ended, with its state and its players, as `id state player …`. */
  async windows(): Promise<string[]> {
    const rows = await this.node.database.query<{ line: string }>(
      `SELECT concat_ws(' ', w.window_id, w.state, (SELECT string_agg(player_id, ' ' ORDER BY player_id) FROM entries e
         WHERE e.window_uid = w.window_uid AND NOT removed)) AS line
       FROM windows w WHERE board_uid = $1 AND ends_at <= ladder_now() ORDER BY ends_at`,
      [this.board().uid],
    );
    return rows.map(({ line }) => line);
  }

  /** The id of the day's window. */
  day(): string {
    return `daily:${new Date(this.midnightMs).toISOString().slice(0, 10)}`;
  }
}
