import {
  foldGames,
  foldPeriod,
  LadderError,
  withPoints,
  type PlayerRating,
  type PoolGame,
  type RatingPool,
  type RatingState,
} from '@laddercast/domain';
import { textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { changesOf } from '../periods/period-changes.js';
import type { Pool, PoolProgress } from '../pools/pool.js';
import { RATING_JSON, type ChangeOfGame } from '../pools/rating-rows.js';
import { closedPeriods } from './period-rows.js';
import { stateJson } from './state-json.js';

/** How much is read at once. */
const GAMES_AT_ONCE = 1000;
const PLAYERS_AT_ONCE = 5000;
/** The most differences that are named. */
const NAMED_MAX = 20;
/** What another engine may make of the same numbers, relative. */
const ENGINES_APART = 1e-9;

/** Something that is stored otherwise than the replay has it; null: it is not there. */
export interface PoolDifference {
  readonly playerId: string;
  /** Of the change; null: of the rating that the player has now. */
  readonly position: number | null;
  readonly stored: unknown;
  readonly replayed: unknown;
}

/** What a replay of a pool found. */
export interface PoolReplay {
  games: number;
  changes: number;
  players: number;
  /** Changes that were made by another engine than the present one: those are compared to 1e-9. */
  ofOtherEngines: number;
  differences: number;
  /** The first of them. */
  readonly named: PoolDifference[];
}

interface StoredChange {
  playerId: string;
  position: number;
  engine: string;
  before: RatingState;
  after: RatingState;
  /** The points of a refund; null: a game made the change. */
  refund: number | null;
}

const GAMES = prepared(`
  SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results FROM games
  WHERE pool_uid = $1 AND position > $2 AND position <= $3 AND unrated IS DISTINCT FROM 'VOID'
  ORDER BY position LIMIT ${GAMES_AT_ONCE}`);

const GAMES_OF_PERIOD = prepared(`
  SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results FROM games
  WHERE pool_uid = $1 AND period = $2 AND unrated IS DISTINCT FROM 'VOID' ORDER BY position`);

const CHANGE_COLUMNS = `c.player_id AS "playerId", c.position, c.engine, c.refund, ${stateJson('before')} AS before,
    ${stateJson('after')} AS after`;

const CHANGES_OF_PLAYERS = prepared(`
  SELECT ${CHANGE_COLUMNS} FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (
    SELECT * FROM rating_changes WHERE pool_uid = $1 AND player_id = k.player_id AND position >= $3 AND position <= $4
      AND refund IS NULL) AS c`);

const REFUNDS = prepared(`
  SELECT ${CHANGE_COLUMNS} FROM rating_changes AS c
  WHERE c.pool_uid = $1 AND c.refund IS NOT NULL AND c.position > $2 ORDER BY c.position`);

const COUNT_CHANGES = prepared(
  'SELECT count(*)::float8 AS changes FROM rating_changes WHERE pool_uid = $1 AND position > $2',
);

const KEPT_FROM = prepared(`
  SELECT history_position AS position, pruned_position < history_position AS "isUnderWay"
  FROM pools WHERE pool_uid = $1`);

const BASES = prepared(`
  SELECT r.player_id AS "playerId", ${RATING_JSON} AS rating FROM rating_bases AS r
  WHERE r.pool_uid = $1 AND r.player_id > $2 ORDER BY r.player_id LIMIT ${PLAYERS_AT_ONCE}`);

const RATINGS = prepared(`
  SELECT r.player_id AS "playerId", ${RATING_JSON} AS rating FROM ratings AS r
  WHERE r.pool_uid = $1 AND r.player_id > $2 ORDER BY r.player_id LIMIT ${PLAYERS_AT_ONCE}`);

/**
 * Rates a pool anew in memory, from its first game on whose changes are kept, and compares what is stored of every change and rating: to the last
 * bit where the same engine made it. It keeps the state of each player, and writes nothing.
 * @param sql a transaction that sees one moment
 * @param onGames told how many games were replayed so far
 */
export async function replayPool(
  sql: SqlRunner,
  pool: Pool & PoolProgress,
  rating: RatingPool,
  onGames: (games: number) => void = () => undefined,
): Promise<PoolReplay> {
  const replay = new Replay(sql, pool, rating, onGames);
  await replay.bases();
  if (rating.periods) await replay.periods();
  else await replay.games();
  await replay.ratings();
  return replay.found;
}

class Replay {
  readonly found: PoolReplay = { games: 0, changes: 0, players: 0, ofOtherEngines: 0, differences: 0, named: [] };
  private readonly players = new Map<string, PlayerRating>();
  private refunds: StoredChange[] = [];
  /** Changes up to there are not kept. */
  private keptFrom = 0;

  constructor(
    private readonly sql: SqlRunner,
    private readonly pool: Pool & PoolProgress,
    private readonly rating: RatingPool,
    private readonly onGames: (games: number) => void,
  ) {}

  /** What players came to by the changes that are not kept: where the replay begins. */
  async bases(): Promise<void> {
    const [kept] = await this.sql.query<{ position: number; isUnderWay: boolean }>(KEPT_FROM, [this.pool.uid]);
    if (kept!.isUnderWay) {
      throw new LadderError('OVERLOADED', 'Old changes of the pool are being deleted; try again when that is done.', {
        retryAfterSeconds: 60,
      });
    }
    this.keptFrom = kept!.position;
    for (let after = ''; this.keptFrom > 0;) {
      const rows = await this.sql.query<{ playerId: string; rating: PlayerRating }>(BASES, [this.pool.uid, after]);
      for (const { playerId, rating } of rows) this.players.set(playerId, rating);
      if (rows.length < PLAYERS_AT_ONCE) break;
      after = rows.at(-1)!.playerId;
    }
  }

  async games(): Promise<void> {
    const { uid, ratedPosition } = this.pool;
    this.refunds = await this.sql.query<StoredChange>(REFUNDS, [uid, this.keptFrom]);
    for (let after = this.keptFrom; ;) {
      const games = await this.sql.query<PoolGame>(GAMES, [uid, after, ratedPosition]);
      if (games.length === 0) break;
      const [first, last] = [games[0]!.position, games.at(-1)!.position];
      const changes = games.flatMap((game) => {
        this.giveBack(game.position);
        const folded = foldGames(this.rating, this.players, [game]);
        for (const [playerId, player] of folded.players) this.players.set(playerId, player);
        return folded.games.flatMap(({ engine, changes: ofGame }) =>
          ofGame.map((change) => ({ ...change, engine, position: game.position })),
        );
      });
      await this.compare(changes, games, first, last);
      after = last;
    }
    this.giveBack(Infinity);
    await this.compareCount();
  }

  async periods(): Promise<void> {
    const { uid, ratedPosition } = this.pool;
    this.refunds = await this.sql.query<StoredChange>(REFUNDS, [uid, this.keptFrom]);
    for (const { period, firstPosition, position } of await closedPeriods(this.sql, uid, ratedPosition)) {
      if (position <= this.keptFrom) continue;
      this.giveBack(firstPosition);
      const games = await this.sql.query<PoolGame>(GAMES_OF_PERIOD, [uid, period]);
      const folded = foldPeriod(this.rating, this.players, games, { period, position });
      for (const [playerId, player] of folded.players) this.players.set(playerId, player);
      const changes = folded.changes.flatMap((change) =>
        change.unrated === null ? changesOf(change, firstPosition) : [],
      );
      await this.compare(changes, games, firstPosition, position);
    }
    this.giveBack(Infinity);
    await this.compareCount();
  }

  async ratings(): Promise<void> {
    const seen = new Set<string>();
    for (let after = ''; ;) {
      const rows = await this.sql.query<{ playerId: string; rating: PlayerRating }>(RATINGS, [this.pool.uid, after]);
      for (const { playerId, rating } of rows) {
        seen.add(playerId);
        this.compareRating(playerId, rating, this.players.get(playerId));
      }
      if (rows.length < PLAYERS_AT_ONCE) break;
      after = rows.at(-1)!.playerId;
    }
    for (const [playerId, player] of this.players) if (!seen.has(playerId)) this.compareRating(playerId, null, player);
    this.found.players = seen.size;
  }

  /** What was given back before this position. */
  private giveBack(position: number): void {
    while (this.refunds.length > 0 && this.refunds[0]!.position < position) {
      const stored = this.refunds.shift()!;
      const { playerId, refund } = stored;
      const player = this.players.get(playerId);
      this.found.changes += 1;
      if (!player) {
        this.differs({ playerId, position: stored.position, stored, replayed: null });
        continue;
      }
      const before = player.state;
      const after = withPoints(before, refund!);
      this.players.set(playerId, { ...player, state: after });
      const engine = this.rating.algorithm.engine;
      this.compareStates(stored, { playerId, position: stored.position, engine, before, after });
    }
  }

  /** Compares what was made of these games with what is stored of their players between two positions. */
  private async compare(
    changes: readonly Pick<ChangeOfGame, 'playerId' | 'position' | 'engine' | 'before' | 'after'>[],
    games: readonly PoolGame[],
    from: number,
    to: number,
  ): Promise<void> {
    const named = [...new Set(games.flatMap(({ players }) => players.map(({ playerId }) => playerId)))];
    const rows = await this.sql.query<StoredChange>(CHANGES_OF_PLAYERS, [this.pool.uid, textArray(named), from, to]);
    const stored = new Map(rows.map((row) => [`${row.position} ${row.playerId}`, row]));
    for (const change of changes) {
      const key = `${change.position} ${change.playerId}`;
      this.compareStates(stored.get(key) ?? null, change);
      stored.delete(key);
    }
    for (const row of stored.values()) {
      this.differs({ playerId: row.playerId, position: row.position, stored: row, replayed: null });
    }
    this.found.changes += changes.length;
    this.found.games += games.length;
    this.onGames(this.found.games);
  }

  /** Rows that no game names are found by their number. */
  private async compareCount(): Promise<void> {
    const [row] = await this.sql.query<{ changes: number }>(COUNT_CHANGES, [this.pool.uid, this.keptFrom]);
    const { changes } = this.found;
    if (this.found.differences > 0 || row!.changes === changes) return;
    this.differs({ playerId: '', position: null, stored: { changes: row!.changes }, replayed: { changes } });
  }

  private compareStates(
    stored: StoredChange | null,
    {
      playerId,
      position,
      engine,
      before,
      after,
    }: Pick<ChangeOfGame, 'playerId' | 'position' | 'engine' | 'before' | 'after'>,
  ): void {
    const isOwn = stored === null || stored.refund !== null || stored.engine === engine;
    if (!isOwn) this.found.ofOtherEngines += 1;
    const replayed = { before, after };
    if (stored && isAlike({ before: stored.before, after: stored.after }, replayed, isOwn && !this.isMixed)) return;
    this.differs({ playerId, position, stored, replayed });
  }

  private compareRating(playerId: string, stored: PlayerRating | null, replayed: PlayerRating | undefined): void {
    const counted = ({ state, games, wins, draws, losses, peak, lastPlayedAtMs }: PlayerRating): object => ({
      ...{ state, games, wins, draws, losses, lastPlayedAtMs },
      peak: peak && { rating: peak.rating, gameId: peak.gameId },
    });
    if (stored && replayed && isAlike(counted(stored), counted(replayed), !this.isMixed)) return;
    this.differs({
      playerId,
      position: null,
      stored: stored && counted(stored),
      replayed: replayed ? counted(replayed) : null,
    });
  }

  /** After a change of another engine its last bits are in all that follows. */
  private get isMixed(): boolean {
    return this.found.ofOtherEngines > 0;
  }

  private differs(difference: PoolDifference): void {
    this.found.differences += 1;
    if (this.found.named.length < NAMED_MAX) this.found.named.push(difference);
  }
}

/** Whether two values are the same all through, numbers to the last bit or nearly. */
function isAlike(a: unknown, b: unknown, isExact: boolean): boolean {
  if (typeof a === 'number' && typeof b === 'number') {
    return isExact ? a === b : Math.abs(a - b) <= ENGINES_APART * Math.max(1, Math.abs(a), Math.abs(b));
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) =>
    isAlike((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], isExact),
  );
}
