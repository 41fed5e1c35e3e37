import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../tools/problem.mjs';
import { startApp } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import type { BenchContext, CleanState } from '../installation/context.js';
import type { Pool } from '../installation/postgres-pool.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { builtCode } from '../installation/built-code.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { spread, table, whole } from '../figures/live-figures.js';
import { Sender, type Submission } from '../load/post.js';
import { connectTo, floors, type FloorFound, type ProjectionRedis } from '../floors/projection-floor.js';
import { playerOf } from '../boards/entries.js';

/**
 * How fast what the log holds comes into Redis: submissions are taken by the api (batches over REST: the ledger's own path)
 * while no projector runs; then one is started. Beside it the floor: the same script fed by a bare client, and a naive one.
 */
export const description = 'events from the log into Redis, with the projector started late';

export const options = {
  events: { type: 'string', help: 'how many events wait in the log (200000)', default: '200000', parse: count },
} satisfies Options;

const boardId = 'projection';
const batch = 1000;
const players = 100_000;
const senders = 4;
const group = 'score';
const lookEveryMs = 5;
const caughtUpWithinMs = 240_000;
const settledWithinMs = 60_000;
const compared = 100;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { options: given, rounds, step, installation } = context;
  const { events } = given;
  if (installation.log === 'kafka')
    throw new Problem('projection reads the offsets of the log in PostgreSQL: leave --kafka out.');
  await installation.stop();
  await makeBoard(context);
  const found: Round[] = [];
  const redis = await connectTo(context);
  try {
    for (let number = 1; number <= rounds; number += 1) {
      const filled = await fill(context, { events, round: number });
      const drained = await drain(context, redis);
      await assertRight(context, redis);
      const floor = await floors(redis, { events, players, round: number });
      const one = { filled, ...drained, floor };
      found.push(one);
      step(`round ${number}: ${describe(one)}`);
    }
  } finally {
    await redis.close();
  }
  return tables(found, events);
}

/** How the projector brought the log into Redis. */
interface Drained {
  /** How many events were left after the first batch. */
  left: number;
  seconds: number;
  perSecond: number;
  projectorUs: number;
  redisUs: number;
}

interface Round extends Drained {
  /** Scores a second that the api took. */
  filled: number;
  floor: { same: FloorFound; naive: FloorFound };
}

/**
 * The board, with the index that it has once all players are there: else it would outgrow a smaller one while it is measured,
 * and be written twice for a while.
 */
async function makeBoard(context: CleanState): Promise<void> {
  const { domain } = await builtCode(context.installation.root);
  const api = await startApp(context, 'api');
  const sender = new Sender({ url: api.url, key: context.service.key }, senders);
  try {
    // Of `latest` each submission counts.
    await sender.send('PUT', `/v1/boards/${boardId}`, { order: 'desc', operator: 'latest' });
  } finally {
    sender.close();
    await api.stop();
  }
  await context.database.pool.query(
    `UPDATE boards SET layouts = jsonb_set(layouts, '{serving,indexBuckets}', to_jsonb($2::int)) WHERE board_id = $1`,
    [boardId, domain.indexBucketsFor(players)],
  );
}

/** Has the api take so many submissions that all change their entry; each is one event with one entry. */
async function fill(context: CleanState, { events, round }: { events: number; round: number }): Promise<number> {
  const api = await startApp(context, 'api');
  const sender = new Sender({ url: api.url, key: context.service.key }, senders);
  try {
    const startedAt = performance.now();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < events) {
        const from = next;
        next += batch;
        const submissions = Array.from({ length: Math.min(batch, events - from) }, (_, index) =>
          submissionOf(from + index, round),
        );
        await sender.submitAll(submissions);
      }
    };
    await Promise.all(Array.from({ length: senders }, worker));
    return (1000 * events) / (performance.now() - startedAt);
  } finally {
    sender.close();
    await api.stop();
  }
}

const submissionOf = (number: number, round: number): Submission => ({
  board: boardId,
  playerId: playerOf((number * 7919) % players),
  score: (number * 618_033_989 + round * 1013) % 1e9,
});

/** Starts a projector and waits until the log's last event is in Redis. Timed from the first batch that it has done. */
async function drain(context: CleanState, redis: ProjectionRedis): Promise<Drained> {
  const { pool } = context.database;
  const { rows: ends } = await pool.query<LanePosition>(
    `SELECT lane, max(position)::float8 AS position FROM outbox WHERE topic = 'entry-changed' GROUP BY lane`,
  );
  const done = async (): Promise<Positions> => {
    const { rows } = await pool.query<LanePosition>(
      'SELECT lane, position::float8 AS position FROM log_offsets WHERE consumer_group = $1 ORDER BY lane',
      [group],
    );
    return new Map(rows.map(({ lane, position }) => [lane, position]));
  };
  const before = await done();
  const projector = await startApp(context, 'projector');
  const cpuOf = (): { projector: number; redis: number } => ({
    projector: cpuSecondsOf(projector.pid),
    redis: cpuSecondsOf(redis.pid),
  });
  try {
    const first = await untilMoved(done, before);
    const cpuBefore = cpuOf();
    const startedAt = performance.now();
    const left = await countAfter(pool, first);
    for (const until = startedAt + caughtUpWithinMs; ; await sleep(lookEveryMs)) {
      const now = await done();
      if (ends.every(({ lane, position }) => (now.get(lane) ?? 0) >= position)) break;
      if (performance.now() > until) throw new Error('The projection did not catch up.');
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = cpuOf();
    return {
      left,
      seconds,
      perSecond: left / seconds,
      projectorUs: (1e6 * (cpu.projector - cpuBefore.projector)) / left,
      redisUs: (1e6 * (cpu.redis - cpuBefore.redis)) / left,
    };
  } finally {
    await projector.stop();
  }
}

interface LanePosition {
  lane: number;
  position: number;
}

/** Positions by lane. */
type Positions = ReadonlyMap<number, number>;

async function untilMoved(done: () => Promise<Positions>, before: Positions): Promise<Positions> {
  for (const until = performance.now() + settledWithinMs; performance.now() < until; await sleep(lookEveryMs)) {
    const now = await done();
    if ([...now].some(([lane, position]) => position > (before.get(lane) ?? 0))) return now;
  }
  throw new Error('The projector does nothing.');
}

async function countAfter(pool: Pool, positions: Positions): Promise<number> {
  let sum = 0;
  for (const { lane } of (await pool.query<{ lane: number }>('SELECT DISTINCT lane FROM outbox')).rows) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM outbox WHERE lane = $1 AND position > $2 AND topic = 'entry-changed'`,
      [lane, positions.get(lane) ?? 0],
    );
    sum += rows[0]!.count;
  }
  return sum;
}

/** What Redis shows is what PostgreSQL has. */
async function assertRight(context: CleanState, redis: ProjectionRedis): Promise<void> {
  const { rows } = await context.database.pool.query<{ player_id: string; score: number; total: number }>(
    `SELECT player_id, score, count(*) OVER ()::int AS total FROM entries e JOIN boards b USING (board_uid)
     WHERE b.board_id = $1 AND NOT removed ORDER BY score DESC, achieved_at_ms, player_id COLLATE "C" LIMIT $2`,
    [boardId, compared],
  );
  const { entries, total } = await redis.page(context.database.pool, boardId, compared);
  const same = rows.every(
    ({ player_id, score }, at) => entries[at]?.playerId === player_id && entries[at].score === score,
  );
  if (!same || total !== rows[0]?.total) throw new Error('Redis does not show what PostgreSQL has.');
}

const describe = ({ filled, left, perSecond, projectorUs, redisUs, floor }: Round): string =>
  `taken ${whole(filled)}/s, projected ${whole(perSecond)}/s (${whole(left)} events), projector ${projectorUs.toFixed(1)} µs and ` +
  `Redis ${redisUs.toFixed(1)} µs each; same script alone ${whole(floor.same.perSecond)}/s, naive ${whole(floor.naive.perSecond)}/s`;

function tables(found: readonly Round[], events: number): string {
  const of = (read: (round: Round) => number, show: (value: number) => string): string => spread(found.map(read), show);
  const one = (value: number): string => value.toFixed(1);
  const ratio = (floor: keyof Round['floor']): string =>
    spread(
      found.map((round) => round.perSecond / round.floor[floor].perSecond),
      (value) => value.toFixed(2),
    );
  return [
    `${whole(events)} events of ${whole(players)} players wait, one entry each, taken in batches of ${batch} over REST.`,
    '',
    table(
      [
        'minimum / median / maximum',
        'entries/s',
        'service to floor',
        'Node, µs of CPU an entry',
        'Redis, µs of CPU an entry',
      ],
      [
        [
          'log → Redis by the projector',
          of((r) => r.perSecond, whole),
          '1',
          of((r) => r.projectorUs, one),
          of((r) => r.redisUs, one),
        ],
        ...(['same', 'naive'] as const).map((floor) => [
          { same: 'floor: the same script, bare client', naive: 'floor: naive script, bare client' }[floor],
          of((r) => r.floor[floor].perSecond, whole),
          ratio(floor),
          of((r) => r.floor[floor].clientUs, one),
          of((r) => r.floor[floor].redisUs, one),
        ]),
      ],
    ),
    '',
    `Taken meanwhile by the api: ${of((r) => r.filled, whole)} scores/s, in batches, with nobody reading the log.`,
  ].join('\n');
}
