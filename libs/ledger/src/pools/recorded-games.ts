import {
  LadderError,
  periodAt,
  ratedSides,
  refuseGameThatDoesNotFit,
  type GamePlayer,
  type Period,
  type RatingPool,
  type UnratedReason,
} from '@laddercast/domain';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { byteaArray, float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { drawPositions } from '../lanes/lane-events.js';
import { FUTURE_TOLERANCE_MS } from '../submissions/window-placement.js';
import { poolNotFound, type PoolDefinition } from './pool.js';
import type { RatingAlgorithms } from './rating-algorithms.js';

/** A game may have been recorded on a server whose clock was ahead of the present one's, ms. */
export const CLOCKS_APART_MS = 600_000;

/** What a void does: ratings as if the game had never been, or only a mark. */
export type VoidMode = 'recompute' | 'refund' | 'keep';

/** A player of a game with what is kept of it and rates nothing. */
export interface RecordedPlayer extends GamePlayer {
  readonly score: number | null;
}

/** A game to be recorded; whether its pool takes it is looked at under the lane's lock. */
export interface GameWrite {
  poolId: string;
  gameId: string;
  players: readonly RecordedPlayer[];
  /** Unix ms; null: now, by the database's clock. */
  playedAtMs: number | null;
  weight: number;
  /** JSON text. */
  metadata: string | null;
  /** SHA-256 of everything the client sent: tells a retry from another game under the same id. */
  bodySha256: Buffer;
}

/** Where a game stands in its pool's order. */
export interface GameReceipt {
  poolUid: number;
  position: number;
  /** Whether this id and body were recorded before. */
  replayed: boolean;
  /** Why it moves nobody, where that is clear at once. */
  unrated: UnratedReason | null;
}

/** What became of one game of a batch. */
export type GameResult = { receipt: GameReceipt } | { error: LadderError };

interface PoolOfGames {
  uid: number;
  id: string;
  definition: PoolDefinition;
  /** The last that takes no more games; null also where each game moves ratings. */
  closedPeriod: number | null;
  /** Made of the definition with the first game. */
  rating?: RatingPool;
}

interface KnownGame {
  poolUid: number;
  gameId: string;
  position: number;
  bodySha256: Buffer;
  unrated: UnratedReason | null;
}

interface NewGame extends Omit<KnownGame, 'bodySha256'> {
  write: GameWrite;
  playedAtMs: number;
  definition: PoolDefinition;
  /** When it will be rated; null: with its turn. */
  period: Period | null;
}

const POOLS_OF_GAMES = prepared(`
  SELECT p.pool_uid AS uid, p.pool_id AS id, p.definition, p.closed_period AS "closedPeriod"
  FROM unnest($1::text[]) AS k (pool_id)
  CROSS JOIN LATERAL (SELECT * FROM pools WHERE pool_id = k.pool_id LIMIT 1) AS p`);

const KNOWN_GAMES = prepared(`
  SELECT g.pool_uid AS "poolUid", g.game_id AS "gameId", g.position, g.body_sha256 AS "bodySha256", g.unrated
  FROM unnest($1::int[], $2::text[]) AS k (pool_uid, game_id)
  CROSS JOIN LATERAL (SELECT * FROM games WHERE pool_uid = k.pool_uid AND game_id = k.game_id LIMIT 1) AS g`);

/** Everything that a batch of games changes, in one statement: games, whose they are, how far their pools are, the outbox. */
const WRITE_GAMES = prepared(`
  WITH recorded AS (
    INSERT INTO games (pool_uid, game_id, position, body_sha256, played_at_ms, recorded_at, weight, results, players,
      metadata, unrated, period)
    SELECT g.pool_uid, g.game_id, g.position, g.body_sha256, g.played_at_ms, to_timestamp($2::float8 / 1000), g.weight,
      g.results::jsonb, g.players::jsonb, g.metadata, g.unrated, g.period::int
    FROM unnest($3::int[], $4::text[], $5::bigint[], $6::bytea[], $7::bigint[], $8::float8[], $9::text[], $10::text[],
      $11::text[], $12::text[], $13::text[])
      AS g (pool_uid, game_id, position, body_sha256, played_at_ms, weight, results, players, metadata, unrated, period)
  ), named AS (
    INSERT INTO game_players (pool_uid, player_id, position)
    SELECT * FROM unnest($14::int[], $15::text[], $16::bigint[])
  ), counted AS (
    UPDATE pools AS p SET recorded_position = c.position, games_recorded = p.games_recorded + c.games,
      closes_at_ms = least(p.closes_at_ms, c.closes_at_ms::bigint)
    FROM unnest($17::int[], $18::bigint[], $19::int[], $20::text[]) AS c (pool_uid, position, games, closes_at_ms)
    WHERE p.pool_uid = c.pool_uid
  )
  INSERT INTO outbox (lane, position, topic, key, payload)
  SELECT $1::smallint, o.position, 'game-recorded', o.key, o.payload
  FROM unnest($21::bigint[], $22::text[], $23::text[]) AS o (position, key, payload)`);

/**
 * Records games in the order given, in a transaction that holds their lane; one that is refused leaves no trace, and
 * holds up no other.
 * @param writes of pools of this lane
 */
export async function recordGames(
  transaction: SqlRunner,
  lane: number,
  writes: readonly GameWrite[],
  algorithms: RatingAlgorithms,
): Promise<GameResult[]> {
  const nowMs = await ledgerNowMs(transaction);
  const pools = await poolsOf(transaction, writes);
  const known = await knownGames(transaction, pools, writes);
  const added: NewGame[] = [];
  const results = writes.map((write): GameResult => {
    try {
      return { receipt: recordOne(write, { nowMs, pools, known, added, algorithms }) };
    } catch (error) {
      if (error instanceof LadderError) return { error };
      throw error;
    }
  });
  if (added.length === 0) return results;
  const uids = [...new Set(added.map(({ poolUid }) => poolUid))];
  const positions = await drawPositions(transaction, added.length + uids.length);
  // A replay within the batch shares the object of the game that it repeats.
  added.forEach((game, index) => (game.position = positions[index]!));
  await store(transaction, { lane, nowMs, added, uids, eventPositions: positions.slice(added.length) });
  return results.map((result, index) => {
    if ('error' in result) return result;
    const { poolUid } = result.receipt;
    const { position } = known.get(keyOf(poolUid, writes[index]!.gameId))!;
    return { receipt: { ...result.receipt, position } };
  });
}

type PoolsById = ReadonlyMap<string, PoolOfGames>;
type GamesByKey = Map<string, KnownGame>;

/** What a batch of games is recorded with. */
interface Batch {
  nowMs: number;
  pools: PoolsById;
  known: GamesByKey;
  added: NewGame[];
  algorithms: RatingAlgorithms;
}

async function poolsOf(transaction: SqlRunner, writes: readonly GameWrite[]): Promise<PoolsById> {
  const ids = [...new Set(writes.map(({ poolId }) => poolId))];
  const rows = await transaction.query<Omit<PoolOfGames, 'rating'>>(POOLS_OF_GAMES, [textArray(ids)]);
  return new Map(rows.map((pool) => [pool.id, pool]));
}

async function knownGames(transaction: SqlRunner, pools: PoolsById, writes: readonly GameWrite[]): Promise<GamesByKey> {
  const asked = writes.flatMap(({ poolId, gameId }) => {
    const pool = pools.get(poolId);
    return pool ? [{ poolUid: pool.uid, gameId }] : [];
  });
  const rows = await transaction.query<KnownGame>(KNOWN_GAMES, [
    int4Array(asked.map(({ poolUid }) => poolUid)),
    textArray(asked.map(({ gameId }) => gameId)),
  ]);
  return new Map(rows.map((game) => [keyOf(game.poolUid, game.gameId), game]));
}

/** @throws POOL_NOT_FOUND, ALGORITHM_MISSING, GAME_ID_REUSED, ACHIEVED_AT_IN_FUTURE, PERIOD_CLOSED, and what the pool refuses the game for */
function recordOne(write: GameWrite, { nowMs, pools, known, added, algorithms }: Batch): GameReceipt {
  const pool = pools.get(write.poolId);
  if (!pool) throw poolNotFound(write.poolId);
  const key = keyOf(pool.uid, write.gameId);
  const before = known.get(key);
  if (before) {
    if (before.bodySha256.equals(write.bodySha256)) return { ...receiptOf(before), replayed: true };
    throw new LadderError(
      'GAME_ID_REUSED',
      `Pool "${write.poolId}" has another game "${write.gameId}"; give this one an id of its own.`,
    );
  }
  const { players } = write;
  const { results } = pool.definition;
  pool.rating ??= algorithms.poolOf(pool.definition);
  refuseGameThatDoesNotFit(pool.rating, players, write.weight);
  const playedAtMs = timeOf(write, nowMs);
  const period = openPeriod(pool, playedAtMs, nowMs);
  const unrated = ratedSides({ players, results }) === null ? ('TOO_FEW_SIDES' as const) : null;
  const { uid: poolUid, definition } = pool;
  const game = {
    ...{ poolUid, gameId: write.gameId, position: 0, unrated },
    ...{ write, playedAtMs, definition, period, bodySha256: write.bodySha256 },
  };
  added.push(game);
  known.set(key, game);
  return receiptOf(game);
}

/** @throws ACHIEVED_AT_IN_FUTURE */
function timeOf({ playedAtMs }: GameWrite, nowMs: number): number {
  const given = playedAtMs ?? nowMs;
  if (given <= nowMs + FUTURE_TOLERANCE_MS) return Math.min(given, nowMs);
  throw new LadderError(
    'ACHIEVED_AT_IN_FUTURE',
    `playedAt lies ${Math.ceil((given - nowMs) / 1000)} s ahead of the server; at most ${FUTURE_TOLERANCE_MS / 1000} s are tolerated.`,
  );
}

/** @throws PERIOD_CLOSED */
function openPeriod(
  { id, definition: { periods }, closedPeriod }: PoolOfGames,
  atMs: number,
  nowMs: number,
): Period | null {
  if (!periods) return null;
  const period = periodAt(periods, atMs);
  // What was closed stays so, also should the clock of another server be behind.
  if (period.closesAtMs > nowMs && period.number > (closedPeriod ?? -Infinity)) return period;
  const closedAt = new Date(period.closesAtMs).toISOString();
  throw new LadderError(
    'PERIOD_CLOSED',
    `Pool "${id}" takes no more games of ${period.id}: it closed at ${closedAt}.`,
    {
      period: period.id,
      closedAt,
    },
  );
}

const receiptOf = ({ poolUid, position, unrated }: Omit<KnownGame, 'bodySha256' | 'gameId'>): GameReceipt => ({
  poolUid,
  position,
  replayed: false,
  unrated,
});

const keyOf = (poolUid: number, gameId: string): string => `${poolUid}/${gameId}`;

async function store(
  transaction: SqlRunner,
  {
    lane,
    nowMs,
    added,
    uids,
    eventPositions,
  }: { lane: number; nowMs: number; added: readonly NewGame[]; uids: readonly number[]; eventPositions: number[] },
): Promise<void> {
  const named = added.flatMap(({ poolUid, position, write }) =>
    write.players.map(({ playerId }) => ({ poolUid, playerId, position })),
  );
  const ofPools = uids.map((uid) => {
    const games = added.filter(({ poolUid }) => poolUid === uid);
    const closesAtMs = games.flatMap(({ period }) => period?.closesAtMs ?? []);
    return { uid, games: games.length, position: games.at(-1)!.position, closesAtMs };
  });
  const events = ofPools.map(({ uid, position }) => ({ type: 'game-recorded', poolUid: uid, position }));
  await transaction.query(WRITE_GAMES, [
    lane,
    nowMs,
    int4Array(added.map(({ poolUid }) => poolUid)),
    textArray(added.map(({ gameId }) => gameId)),
    int8Array(added.map(({ position }) => position)),
    byteaArray(added.map(({ write }) => write.bodySha256)),
    int8Array(added.map(({ playedAtMs }) => playedAtMs)),
    float8Array(added.map(({ write }) => write.weight)),
    textArray(added.map(({ definition }) => JSON.stringify(definition.results))),
    textArray(added.map(({ write }) => JSON.stringify(write.players))),
    textArray(added.map(({ write }) => write.metadata)),
    textArray(added.map(({ unrated }) => unrated)),
    textArray(added.map(({ period }) => (period === null ? null : String(period.number)))),
    int4Array(named.map(({ poolUid }) => poolUid)),
    textArray(named.map(({ playerId }) => playerId)),
    int8Array(named.map(({ position }) => position)),
    int4Array(ofPools.map(({ uid }) => uid)),
    int8Array(ofPools.map(({ position }) => position)),
    int4Array(ofPools.map(({ games }) => games)),
    textArray(ofPools.map(({ closesAtMs }) => (closesAtMs.length === 0 ? null : String(Math.min(...closesAtMs))))),
    int8Array(eventPositions),
    textArray(uids.map(String)),
    textArray(events.map((event) => JSON.stringify(event))),
  ]);
}
