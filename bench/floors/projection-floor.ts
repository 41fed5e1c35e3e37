import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cpuSecondsOf } from '../meters/cpu.js';
import { playerOf } from '../boards/entries.js';

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

/** The Redis of the installation as the service uses it, with what the benchmark asks of it. */
export async function connectTo({ installation, database }) {
  const [domain, projections] = await Promise.all(
    ['domain', 'projections'].map(
      (lib) => import(pathToFileURL(join(installation.root, `dist/libs/${lib}/src/index.js`)).href),
    ),
  );
  const { rows } = await database.pool.query(`SELECT value FROM installation WHERE name = 'id'`);
  const open = async (namespace) => {
    const redis = new projections.RedisConnection({ url: installation.redisUrl, namespace, commandTimeoutMs });
    await redis.connect();
    return redis;
  };
  const own = await open(`${rows[0].value}:`);
  const floor = await open('floor:');
  return {
    domain,
    projections,
    floor,
    command: (...args) => own.command(...args),
    async page(pool, boardId, limit) {
      const board = await boardOf(pool, boardId);
      return new projections.RedisRankProjection(own).page(
        projections.rankListOf(board, board.windowUid, 0),
        0,
        limit,
        'ordinal',
      );
    },
    close: () => Promise.all([own.close(), floor.close()]),
  };
}

async function boardOf(pool, boardId) {
  const { rows } = await pool.query(
    `SELECT board_uid AS uid, definition, layouts, w.window_uid AS "windowUid" FROM boards b JOIN windows w USING (board_uid)
     WHERE b.board_id = $1`,
    [boardId],
  );
  return rows[0];
}

/** The same events without the service, made before and sent so many at a time, by the apply script and by a naive one. */
export async function floors({ domain, projections, floor }, { events, players, round }) {
  const list = {
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
  const ranks = new projections.RedisRankProjection(floor);
  const same = await timed(floor, events, chunks, (part) => ranks.apply(list, 0, part, null));
  const naive = await timed(floor, events, chunks, (part) => {
    const args = part.flatMap(({ playerId, key }) => [playerId, String(key.score), key.member]);
    return floor.command('EVAL', naiveScript, 2, `{naive${round}}z`, `{naive${round}}h`, ...args);
  });
  for await (const keys of floor.keys()) if (keys.length > 0) await floor.command('UNLINK', ...keys);
  return { same, naive };
}

async function timed(redis, events, chunks, apply) {
  const text = String(await redis.command('INFO', 'server'));
  const redisPid = Number(/^process_id:(\d+)/m.exec(text)[1]);
  const cpu = () => [cpuSecondsOf(process.pid), cpuSecondsOf(redisPid)];
  const before = cpu();
  const startedAt = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < chunks.length) await apply(chunks[next++]);
  };
  await Promise.all(Array.from({ length: chunksAtOnce }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  const [clientUs, redisUs] = cpu().map((used, at) => (1e6 * (used - before[at])) / events);
  return { perSecond: events / seconds, clientUs, redisUs };
}
