import { setTimeout as sleep } from 'node:timers/promises';
import { distinctScore, findBoard, insertEntries, playerOf, sayProjected } from '../boards/entries.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import { numberOf, quantile, tableOf } from '../figures/figures.js';
import type { RedisConnection } from '@laddercast/projections';
import { memoryOf, rewritten } from '../boards/rebuild.js';
import { builtCode, connectRedis, ownNamespace } from '../installation/built-code.js';
import type { BenchContext } from '../installation/context.js';
import { openLoop, Sender } from '../load/post.js';

/** What a publication costs: a patch comes, and every board of its family is ranked anew beside the lists that serve. */
export const description =
  'a patch is published: until all boards serve the new tax, and what reads and submissions lose';

export const options = {
  entries: { type: 'string', help: 'entries of the one large board (1000000)', default: '1000000', parse: count },
  boards: { type: 'string', help: 'how many boards the family has beside it (500)', default: '500', parse: count },
  'board-entries': { type: 'string', help: 'entries of each of those (10000)', default: '10000', parse: count },
  shapes: { type: 'string', help: 'only one of one,many', default: 'one,many' },
} satisfies Options;

type Context = BenchContext<ValuesOf<typeof options>>;

const family = 'bench';
const patches = 5;
const decay = { family, perPatch: 0.1 };
const definition = { order: 'asc', operator: 'best', limits: { scoreMin: 0 }, decay };
const connections = 16;
const quietSeconds = 10;
const readsPerSecond = 200;
const submissionsPerSecond = 100;
const lookEveryMs = 100;
const commandTimeoutMs = 10_000;
const broughtBackWithinMs = 900_000;
const retaxedWithinMs = 900_000;

/** Milliseconds from when each request was due. */
interface Times {
  reads: number[];
  submissions: number[];
}

interface Shape {
  name: string;
  boards: string[];
  entries: number;
}

interface Found {
  shape: Shape;
  seconds: number;
  quiet: Times;
  during: Times;
  memory: { before: number; peak: number };
}

export async function run(context: Context): Promise<string> {
  const { options: given, keep } = context;
  const shapes: Shape[] = [
    { name: 'one', boards: ['large'], entries: given.entries },
    {
      name: 'many',
      boards: Array.from({ length: given.boards }, (_, at) => `board-${at}`),
      entries: given['board-entries'],
    },
  ];
  const wanted = given.shapes.split(',');
  const found: Found[] = [];
  for (const shape of shapes.filter(({ name }) => wanted.includes(name))) {
    found.push(await measure(await context.renew(), shape));
  }
  keep({ retax: found });
  return tablesOf(found);
}

async function measure(context: BenchContext<unknown>, shape: Shape): Promise<Found> {
  const { service, installation, step } = context;
  const sender = new Sender(service, connections);
  const code = await builtCode(installation.root);
  const namespace = await ownNamespace(context.database.pool);
  const redis = await connectRedis(code, { url: installation.redisUrl, namespace, commandTimeoutMs });
  try {
    await fill(context, sender, redis, shape);
    const quiet: Times = { reads: [], submissions: [] };
    step(`${quietSeconds} s of reads and submissions on a quiet service`);
    // Once before, for what is not warm yet.
    await load(sender, shape, quietSeconds / 2, { reads: [], submissions: [] });
    await load(sender, shape, quietSeconds, quiet);
    const before = await memoryOf(redis);
    const memory = { before, peak: before };
    const during: Times = { reads: [], submissions: [] };
    step(`A patch is published: ${shape.boards.length} × ${shape.entries.toLocaleString('en')} entries`);
    const began = performance.now();
    await publish(sender, patches + 1);
    let seconds: number | null = null;
    const watch = async (): Promise<void> => {
      while (seconds === null) {
        memory.peak = Math.max(memory.peak, await memoryOf(redis));
        if (await isServed(sender, patches + 1)) seconds = (performance.now() - began) / 1000;
        else if (performance.now() - began > retaxedWithinMs) throw new Error('The boards do not serve the new tax.');
        else await sleep(lookEveryMs);
      }
    };
    const watching = watch();
    while (seconds === null) await Promise.race([load(sender, shape, 1, during), watching]);
    await watching;
    step(`All serve the new tax after ${numberOf(seconds, 1)} s`);
    await checkTax(sender, shape);
    return { shape, seconds, quiet, during, memory };
  } finally {
    await redis.close();
    sender.close();
  }
}

/** Boards with entries of every patch, straight into PostgreSQL, and brought back by the service. */
async function fill(
  context: BenchContext<unknown>,
  sender: Sender,
  redis: RedisConnection,
  { boards, entries }: Shape,
): Promise<void> {
  const { installation, database, step } = context;
  for (let n = 1; n <= patches; n += 1) await publish(sender, n);
  for (const board of boards) await sender.send('PUT', `/v1/boards/${board}`, definition);
  const [first] = await generationsOf(sender, boards[0]!);
  await installation.stop();
  const { domain } = await builtCode(installation.root);
  const { pool } = database;
  const { rows } = await pool.query<{ uid: number }>('SELECT patch_uid AS uid FROM patches ORDER BY published_ms');
  step(`Writing ${(boards.length * entries).toLocaleString('en')} entries`);
  await pool.query('ALTER TABLE entries SET UNLOGGED');
  for (const id of boards) {
    const board = await findBoard(pool, id);
    const patchOf = (number: number): number => rows[number % patches]!.uid;
    await insertEntries({ pool, domain, board, entries, scoreOf: distinctScore, patchOf, onRows: () => undefined });
  }
  await pool.query('ALTER TABLE entries SET LOGGED');
  await pool.query('VACUUM (ANALYZE) entries');
  await sayProjected(pool, entries);
  await pool.query('CHECKPOINT');
  await redis.command('FLUSHALL', 'SYNC');
  await installation.start();
  step('Waiting until they are back');
  const until = performance.now() + broughtBackWithinMs;
  for (const board of boards) {
    for (;;) {
      const total = await totalOf(sender, board);
      if (total === entries) break;
      if (performance.now() > until) throw new Error(`${board} has ${total} entries, and not ${entries}.`);
      await sleep(lookEveryMs);
    }
  }
  if (domain.indexBucketsFor(entries) > domain.indexBucketsFor(0)) {
    step('Waiting until their lists have grown');
    for (const board of boards) await untilGrown(sender, board, first!);
  }
  await rewritten(redis);
}

/** Large lists are filled once more, with more index buckets: a quiet service has done that, and removed those before. */
async function untilGrown(sender: Sender, board: string, from: number): Promise<void> {
  for (const until = performance.now() + broughtBackWithinMs; performance.now() < until;) {
    const generations = await generationsOf(sender, board);
    if (generations.length === 1 && generations[0]! > from) return;
    await sleep(lookEveryMs);
  }
  throw new Error(`The lists of ${board} do not grow.`);
}

const generationsOf = async (sender: Sender, board: string): Promise<number[]> => {
  type Answer = { generations: { generation: number }[] };
  const { generations } = await sender.send<Answer>('GET', `/v1/admin/boards/${board}/layout`);
  return generations.map(({ generation }) => generation);
};

const publish = (sender: Sender, n: number): Promise<unknown> =>
  sender.send('PUT', `/v1/patches/1.${n}`, { family, publishedAt: new Date(Date.UTC(2026, 0, n)).toISOString() });

/** Whether every board of the family serves the tax of that patch. */
async function isServed(sender: Sender, n: number): Promise<boolean> {
  const { patches: all } = await sender.send<{ patches: { patch: string; status: string }[] }>(
    'GET',
    `/v1/patches?family=${family}`,
  );
  return all.find(({ patch }) => patch === `1.${n}`)?.status === 'published';
}

/** null while the ranks are being brought back. */
const totalOf = (sender: Sender, board: string): Promise<number | null> =>
  sender.send<{ total: number }>('GET', `/v1/boards/${board}/entries?limit=1`).then(
    ({ total }) => total,
    () => null,
  );

/** Reads of players and tops, and submissions of which half improve, due at equal times. */
async function load(sender: Sender, { boards, entries }: Shape, seconds: number, times: Times): Promise<void> {
  let asked = 0;
  const timed = async (into: number[], dueAt: number, request: Promise<unknown>): Promise<void> => {
    await request;
    into.push(performance.now() - dueAt);
  };
  const board = (): string => boards[asked % boards.length]!;
  const player = (): string => playerOf((asked * 7919) % entries);
  const read = (dueAt: number): Promise<void> => {
    asked += 1;
    const path = asked % 2 === 0 ? `entries?limit=10` : `players/${player()}?around=5`;
    return timed(times.reads, dueAt, sender.send('GET', `/v1/boards/${board()}/${path}`));
  };
  const submit = (dueAt: number): Promise<void> => {
    asked += 1;
    const score = distinctScore(asked) * (asked % 2 === 0 ? 0.9 : 1.1);
    const body = { playerId: player(), score, patch: `1.${patches}` };
    return timed(times.submissions, dueAt, sender.send('POST', `/v1/boards/${board()}/scores`, body));
  };
  await Promise.all([
    openLoop({ perSecond: readsPerSecond, seconds, next: read }),
    openLoop({ perSecond: submissionsPerSecond, seconds, next: submit }),
  ]);
}

/** Every row of some pages is under the new tax, by the contract's own two operations. */
async function checkTax(sender: Sender, { boards, entries }: Shape): Promise<void> {
  for (const board of boards.slice(0, 20)) {
    for (const offset of [0, Math.floor(entries / 2)]) {
      type Row = { score: number; rawScore: number; patch: string; patchesBehind: number };
      const path = `/v1/boards/${board}/entries?limit=100&offset=${offset}`;
      const page = await sender.send<{ entries: Row[]; decay: { latest: string } }>('GET', path);
      const isRight = ({ score, rawScore, patch, patchesBehind }: Row): boolean =>
        patchesBehind === patches + 1 - Number(patch.slice(2)) &&
        score === (patchesBehind === 0 ? rawScore : (rawScore * (10 + patchesBehind)) / 10);
      if (page.decay.latest !== `1.${patches + 1}` || !page.entries.every(isRight))
        throw new Error(`${path} is not under the new tax: ${JSON.stringify(page).slice(0, 500)}`);
    }
  }
}

const megabytes = (bytes: number): string => numberOf(bytes / 2 ** 20);

function tablesOf(found: readonly Found[]): string {
  const ms = (times: readonly number[], part: number): string =>
    times.length === 0
      ? '–'
      : numberOf(
          quantile(
            [...times].sort((a, b) => a - b),
            part,
          ),
          1,
        );
  const both = (quiet: readonly number[], during: readonly number[], part: number): string =>
    `${ms(quiet, part)} → ${ms(during, part)}`;
  return tableOf(
    [
      'boards',
      'until all serve the new tax, s',
      'reads p50, ms',
      'reads p99, ms',
      'submissions p50, ms',
      'submissions p99, ms',
      'Redis, MB',
    ],
    found.map(({ shape, seconds, quiet, during, memory }) => [
      `${shape.boards.length.toLocaleString('en')} × ${shape.entries.toLocaleString('en')}`,
      numberOf(seconds, 1),
      both(quiet.reads, during.reads, 0.5),
      both(quiet.reads, during.reads, 0.99),
      both(quiet.submissions, during.submissions, 0.5),
      both(quiet.submissions, during.submissions, 0.99),
      `${megabytes(memory.before)} → ${megabytes(memory.peak)}`,
    ]),
  );
}
