import { createHash } from 'node:crypto';
import { built, type BuiltCode } from '../installation/built-code.js';
import type { Measuring } from '../installation/context.js';
import { GameSource, poolGameOf, ratingPoolOfShape, type PostedGame, type Shape } from './shapes.js';

type FoldedGames = ReturnType<BuiltCode['domain']['foldGames']>;
type PlayersBefore = Parameters<BuiltCode['domain']['foldGames']>[1];

const batchGames = 500;
const lane = 0;
const tables = ['pools', 'games', 'game_players', 'ratings', 'rating_changes', 'outbox'];

/** The arithmetic alone: so many games a second are folded, nothing is read or written. */
export function foldFloor({ domain }: BuiltCode, shape: Shape, { players, seconds }: FloorOptions): number {
  const fold = folding(domain, shape);
  const source = new GameSource(shape, players);
  const batches = Array.from({ length: 4 }, () => source.take('floor', Math.ceil(batchGames / shape.sides)));
  fold(batches[0]!);
  const startedAt = performance.now();
  let games = 0;
  for (let at = 0; performance.now() < startedAt + 1000 * seconds; at += 1) {
    games += fold(batches[at % batches.length]!).games.length;
  }
  return (1000 * games) / (performance.now() - startedAt);
}

interface FloorOptions {
  players: number;
  seconds: number;
}

/** Folds batches one after the other, each from where the players stood after the last. */
function folding(domain: BuiltCode['domain'], shape: Shape): (games: readonly PostedGame[]) => FoldedGames {
  const pool = ratingPoolOfShape(domain, shape);
  const standing = new Map<string, PlayersBefore extends ReadonlyMap<string, infer Player> ? Player : never>();
  let position = 0;
  return (games) => {
    const folded = domain.foldGames(
      pool,
      standing,
      games.map((game) => poolGameOf(game, (position += 1))),
    );
    for (const [playerId, player] of folded.players) standing.set(playerId, player);
    return folded;
  };
}

/**
 * The rows alone: one connection records games and stores what they changed, in one commit, by the very statements of the
 * service, in tables of the same shape beside its own. No board is written, and what is stored was folded before.
 * @returns games a second
 */
export async function rowsFloor(
  { installation: { root, databaseUrl }, database: { pool: own } }: Measuring,
  { domain }: BuiltCode,
  shape: Shape,
  { players, seconds }: FloorOptions,
): Promise<number> {
  const { PostgresDatabase, RatingAlgorithms } = await built<typeof import('@laddercast/ledger')>(root, 'ledger');
  const { recordGames } = await built<RecordedGames>(root, 'ledger', 'pools/recorded-games');
  const { writeRatings } = await built<RatingRows>(root, 'ledger', 'pools/rating-rows');
  await own.query('CREATE SCHEMA floor');
  for (const table of tables) await own.query(`CREATE TABLE floor.${table} (LIKE public.${table} INCLUDING ALL)`);
  await own.query(
    `INSERT INTO floor.pools OVERRIDING SYSTEM VALUE SELECT * FROM public.pools WHERE pool_id IS NOT NULL LIMIT 1`,
  );
  const { rows } = await own.query<{ uid: number; id: string }>(
    'SELECT pool_uid AS uid, pool_id AS id FROM floor.pools',
  );
  const { uid: poolUid, id: poolId } = rows[0]!;
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c search_path=floor,public');
  const database = new PostgresDatabase({ url: url.href, poolMax: 1 });
  const algorithms = new RatingAlgorithms({ ratingAlgorithms: [] } as unknown as ConstructorParameters<
    typeof RatingAlgorithms
  >[0]);
  const fold = folding(domain, shape);
  const source = new GameSource(shape, players);
  try {
    await database.open({ migrate: false });
    const endsAt = performance.now() + 1000 * seconds;
    let games = 0;
    let spentMs = 0;
    while (performance.now() < endsAt) {
      const posted = source.take(poolId, shape.batch);
      const folded = fold(posted);
      const writes = posted.map((game) => writeOf(game));
      const startedAt = performance.now();
      await database.transaction(async (transaction) => {
        const results = await recordGames(transaction, lane, writes, algorithms);
        const last = results.at(-1)!;
        if (!('receipt' in last)) throw last.error;
        const events = await transaction.query<{ position: number }>(
          `SELECT nextval('ladder_position') AS position FROM generate_series(1, $1::int)`,
          [folded.players.size],
        );
        const at = { poolUid, lane, ratedPosition: last.receipt.position };
        await writeRatings(
          transaction,
          at,
          folded,
          events.map(({ position }) => position),
        );
      });
      spentMs += performance.now() - startedAt;
      games += shape.batch;
    }
    return (1000 * games) / spentMs;
  } finally {
    await database.close();
    await own.query('DROP SCHEMA floor CASCADE');
  }
}

type RecordedGames = {
  recordGames: (
    transaction: unknown,
    lane: number,
    writes: readonly object[],
    algorithms: object,
  ) => Promise<({ receipt: { position: number } } | { error: Error })[]>;
};
type RatingRows = {
  writeRatings: (transaction: unknown, at: object, folded: FoldedGames, positions: readonly number[]) => Promise<void>;
};

const writeOf = ({ gameId, pool, players }: PostedGame): object => ({
  ...{ poolId: pool, gameId, playedAtMs: null, weight: 1, metadata: null },
  players: players.map(({ playerId, place, team = null }) => ({
    ...{ playerId, place, team, status: 'played', isHome: false, score: null },
  })),
  bodySha256: createHash('sha256').update(gameId).digest(),
});
