import type { PageReading, RankList, RedisConnection } from '@laddercast/projections';
import { findBoard, playerOf } from '../boards/entries.js';
import { builtCode, connectRedis, ownNamespace, type BuiltCode } from '../installation/built-code.js';
import type { CleanState } from '../installation/context.js';
import type { Pool } from '../installation/postgres-pool.js';
import { cpuSecondsOf } from '../meters/cpu.js';

/** The Redis of the installation as the service uses it, with what the benchmark asks of it. */
export interface ProjectionRedis {
  code: BuiltCode;
  /** With keys of its own, beside those of the service. */
  floor: RedisConnection;
  /** The id of its process. */
  pid: number;
  /** The first of a board's list. */
  page(pool: Pool, boardId: string, limit: number): Promise<PageReading>;
  close(): Promise<void>;
}

/** Changes without the service: how many a second, and what each took of CPU. */
export interface FloorFound {
  perSecond: number;
  clientUs: number;
  redisUs: number;
}

const chunk = 500;
const chunksAtOnce = 4;
const commandTimeoutMs = 60_000;

/** What a leaderboard needs at the least: the old member goes, the new one comes, and the index says where it is. */
const naiveScript = `
for at = 1, #ARGV, 3 do
  local player, score, member = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local known = redis.call('HGET', KEYS[2], player)
  if known then redis.call('ZREM', KEYS[1], known) end
  redis.call('ZADD', KEYS[1], score, member)
  redis.call('HSET', KEYS[2], player, member)
end`;

export async function connectTo({
  installation,
  database,
}: Pick<CleanState, 'installation' | 'database'>): Promise<ProjectionRedis> {
  const code = await builtCode(installation.root);
  const open = (namespace: string): Promise<RedisConnection> =>
    connectRedis(code, { url: installation.redisUrl, namespace, commandTimeoutMs });
  const own = await open(await ownNamespace(database.pool));
  const floor = await open('floor:');
  return {
    code,
    floor,
    pid: await pidOf(own),
    async page(pool, boardId, limit) {
      const { projections } = code;
      const board = await findBoard(pool, boardId);
      const list = projections.rankListOf(board, board.windowUid, 0);
      return new projections.RedisRankProjection(own).page(list, 0, limit, 'ordinal');
    },
    close: async () => {
      await Promise.all([own.close(), floor.close()]);
    },
  };
}

async function pidOf(redis: RedisConnection): Promise<number> {
  const text = String(await redis.command('INFO', 'server'));
  const [, pid] = /^process_id:(\d+)/m.exec(text) ?? [];
  if (pid === undefined) throw new Error('Redis does not say the id of its process.');
  return Number(pid);
}

/** The same events without the service, made before and sent so many at a time, by the apply script and by a naive one. */
export async function floors(
  redis: ProjectionRedis,
  { events, players, round }: { events: number; players: number; round: number },
): Promise<{ same: FloorFound; naive: FloorFound }> {
  const { domain, projections } = redis.code;
  const list: RankList = {
    boardUid: round,
    windowUid: 1,
    scope: 0,
    ordering: { order: 'desc', operator: 'latest', tiebreak: 'earliest', columns: [] },
    ...projections.FIRST_GENERATION,
    indexBuckets: domain.indexBucketsFor(players),
    shards: 1,
  };
  const changes = Array.from({ length: events }, (_, number) => {
    const playerId = playerOf((number * 7919) % players);
    const score = (number * 618_033_989 + round * 1013) % 1e9;
    const values = { score, columns: [], achievedAtMs: 1.76e12 + number };
    return { playerId, version: number + 1, key: domain.encodeSortKey(list.ordering, values, playerId) };
  });
  const chunks = Array.from({ length: Math.ceil(events / chunk) }, (_, at) =>
    changes.slice(at * chunk, (at + 1) * chunk),
  );
  const { floor } = redis;
  const ranks = new projections.RedisRankProjection(floor);
  const same = await timed(redis, events, chunks, (part) => ranks.apply(list, 0, part, null));
  const naive = await timed(redis, events, chunks, (part) => {
    const args = part.flatMap(({ playerId, key }) => [playerId, String(key.score), key.member]);
    return floor.command('EVAL', naiveScript, 2, `{naive${round}}z`, `{naive${round}}h`, ...args);
  });
  for await (const keys of floor.keys()) if (keys.length > 0) await floor.command('UNLINK', ...keys);
  return { same, naive };
}

async function timed<Part>(
  redis: ProjectionRedis,
  events: number,
  chunks: readonly Part[],
  apply: (part: Part) => Promise<unknown>,
): Promise<FloorFound> {
  const cpu = (): { client: number; redis: number } => ({
    client: cpuSecondsOf(process.pid),
    redis: cpuSecondsOf(redis.pid),
  });
  const before = cpu();
  const startedAt = performance.now();
  const left = chunks.values();
  const worker = async (): Promise<void> => {
    for (const part of left) await apply(part);
  };
  await Promise.all(Array.from({ length: chunksAtOnce }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  const after = cpu();
  return {
    perSecond: events / seconds,
    clientUs: (1e6 * (after.client - before.client)) / events,
    redisUs: (1e6 * (after.redis - before.redis)) / events,
  };
}
